package org.sparkkinesis.sink.limit

import scala.util.control.NonFatal

/** Makes strategies by the name that the option gives. */
object RateLimiting {
  val Names: Seq[String] = Seq("aimd", "batchAndDelay", "none")

  /** A built-in one, without regard to case, or the class of this name; `Left` says what is wrong with the class. */
  def byName(name: String): Either[String, RateLimitingContext => RateLimitingStrategy] =
    Names.find(_.equalsIgnoreCase(name)) match {
      case Some("aimd") => Right(new AimdRateLimiting(_))
      case Some("batchAndDelay") => Right(new BatchAndDelayRateLimiting(_))
      case Some(_) => Right(new NoRateLimiting(_))
      case None => ofClass(name)
    }

  private def ofClass(name: String): Either[String, RateLimitingContext => RateLimitingStrategy] = {
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
    try {
      val made = Class.forName(name, true, loader).asSubclass(classOf[RateLimitingStrategy])
      val constructor = made.getConstructor(classOf[RateLimitingContext])
      Right(context => constructor.newInstance(context))
    } catch {
      case _: ClassNotFoundException =>
        Left(s"It is none of ${Names.mkString(", ")}, and there is no class of this name on the class path.")
      case _: ClassCastException =>
        Left(s"The class does not extend ${classOf[RateLimitingStrategy].getName}.")
      case _: NoSuchMethodException =>
        Left(s"The class has no public constructor that takes a ${classOf[RateLimitingContext].getName}.")
      case NonFatal(error) => Left(s"The class cannot be loaded: $error.")
    }
  }
}
