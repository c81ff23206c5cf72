package org.sparkkinesis.sink.limit

import scala.util.control.NonFatal

import org.sparkkinesis.config.value.RateLimitingOption

/** Creates rate limiting strategies. */
object RateLimiting {

  /** Returns the constructor of a strategy. `Left` contains the reason why a class of the user cannot be used. */
  def of(option: RateLimitingOption): Either[String, RateLimitingContext => RateLimitingStrategy] = option match {
    case RateLimitingOption.Aimd => Right(new AimdRateLimiting(_))
    case RateLimitingOption.BatchAndDelay => Right(new BatchAndDelayRateLimiting(_))
    case RateLimitingOption.Unlimited => Right(new NoRateLimiting(_))
    case RateLimitingOption.OfClass(name) => ofClass(name)
  }

  private def ofClass(name: String): Either[String, RateLimitingContext => RateLimitingStrategy] = {
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
    try {
      val made = Class.forName(name, true, loader).asSubclass(classOf[RateLimitingStrategy])
      val constructor = made.getConstructor(classOf[RateLimitingContext])
      Right(context => constructor.newInstance(context))
    } catch {
      case _: ClassNotFoundException =>
        Left(
          s"It is none of ${RateLimitingOption.builtIn.mkString(", ")}, and the class path has no class of this name."
        )
      case _: ClassCastException =>
        Left(s"The class does not extend ${classOf[RateLimitingStrategy].getName}.")
      case _: NoSuchMethodException =>
        Left(s"The class has no public constructor that takes a ${classOf[RateLimitingContext].getName}.")
      case NonFatal(error) => Left(s"The class cannot be loaded: $error.")
    }
  }
}
