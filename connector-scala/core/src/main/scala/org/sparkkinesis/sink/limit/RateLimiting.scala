package org.sparkkinesis.sink.limit

import org.sparkkinesis.config.value.{RateLimitingOption, UserClass}

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
    val builtIn = RateLimitingOption.builtIn.mkString(", ")
    UserClass.constructor(
      name,
      classOf[RateLimitingStrategy],
      Some(classOf[RateLimitingContext]),
      missing = s"It is none of $builtIn, and the class path has no class of this name."
    ).map(constructor => context => constructor.newInstance(context))
  }
}
