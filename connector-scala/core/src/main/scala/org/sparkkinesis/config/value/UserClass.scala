package org.sparkkinesis.config.value

import java.lang.reflect.Constructor

import scala.util.control.NonFatal

/** Loads classes that options name. */
object UserClass {

  /**
   * Loads a class with the thread's class loader, which knows the jars that were added to the application.
   *
   * @throws ClassNotFoundException
   *   if there is no such class
   */
  def load(name: String): Class[_] = {
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
    Class.forName(name, true, loader)
  }

  /**
   * Returns the public constructor of a class. `Left` contains the reason why the class cannot be used.
   *
   * @param kind
   *   the class or interface that it must extend
   * @param parameter
   *   type of the constructor's parameter, if it has one
   * @param missing
   *   the reason if there is no such class
   */
  def constructor[A](
      name: String,
      kind: Class[A],
      parameter: Option[Class[_]],
      missing: String
  ): Either[String, Constructor[_ <: A]] =
    try Right(load(name).asSubclass(kind).getConstructor(parameter.toSeq: _*))
    catch {
      case _: ClassNotFoundException => Left(missing)
      case _: ClassCastException =>
        Left(s"The class does not ${if (kind.isInterface) "implement" else "extend"} ${kind.getName}.")
      case _: NoSuchMethodException =>
        val what = parameter.fold("without parameters")(one => s"that takes a ${one.getName}")
        Left(s"The class has no public constructor $what.")
      case NonFatal(error) => Left(s"The class cannot be loaded: $error.")
    }
}
