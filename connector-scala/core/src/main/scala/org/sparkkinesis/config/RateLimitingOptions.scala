package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.config.value.{OptionType, RateLimitingOption}

/** The parameters of the rate limiting strategies. */
object RateLimitingOptions {
  import OptionType._

  private val write = new Declaration(Scope.Write)

  private def of(strategy: String): Effect = Effect.OfWrites.withAny(Need("rateLimiting", Seq(strategy)))

  private val ofClass: Effect = Effect.OfWrites.withAny(
    Need("rateLimiting", not = RateLimitingOption.builtIn.map(_.word), title = "rateLimiting=<name of a class>")
  )

  val aimdIncrease: ConfigEntry[Long] = write(
    "rateLimiting.aimd.increase",
    Whole(1, 1000000),
    "Number of records in flight by which `aimd` increases its limit after a successful request.",
    default = "10",
    effect = of("aimd")
  )

  val aimdDecrease: ConfigEntry[Double] = write(
    "rateLimiting.aimd.decrease",
    Real(0.01, 0.9999),
    "Factor by which `aimd` reduces its limit after a request with throttled or failed records.",
    default = "0.99",
    effect = of("aimd")
  )

  val aimdMin: ConfigEntry[Long] = write(
    "rateLimiting.aimd.min",
    Whole(1, 100000000),
    "Minimum of the limit of `aimd`: records in flight per executor and stream.",
    default = "1",
    effect = of("aimd")
  )

  val aimdMax: ConfigEntry[Long] = write(
    "rateLimiting.aimd.max",
    Whole(1, 100000000),
    "Maximum of the limit of `aimd`.",
    defaultDoc = "`maxBatchSize` × `maxInFlightRequests`",
    effect = of("aimd")
  )

  val minDelay: ConfigEntry[FiniteDuration] = write(
    "rateLimiting.batchAndDelay.minDelay",
    Duration(1.milli, 1.minute),
    "First pause of `batchAndDelay` between two requests of a task, after throttling. A request then contains what " +
      "the shards accept in this time, divided by the number of tasks.",
    default = "100ms",
    effect = of("batchAndDelay")
  )

  val maxDelay: ConfigEntry[FiniteDuration] = write(
    "rateLimiting.batchAndDelay.maxDelay",
    Duration(1.milli, 1.hour),
    "Maximum pause of `batchAndDelay`.",
    default = "10s",
    effect = of("batchAndDelay")
  )

  val growth: ConfigEntry[Double] = write(
    "rateLimiting.batchAndDelay.growth",
    Real(1.01, 100),
    "Factor by which the pause of `batchAndDelay` grows while records are throttled.",
    default = "1.25",
    effect = of("batchAndDelay")
  )

  val recovery: ConfigEntry[Double] = write(
    "rateLimiting.batchAndDelay.recovery",
    Real(0.001, 10),
    "Increase of the rate of `batchAndDelay` per second without throttling, as a part of the rate with " +
      "`rateLimiting.batchAndDelay.minDelay`.",
    default = "0.1",
    effect = of("batchAndDelay")
  )

  val quietTime: ConfigEntry[FiniteDuration] = write(
    "rateLimiting.batchAndDelay.quietTime",
    Duration(1.second, 1.day),
    "Time without throttling after which `batchAndDelay` no longer pauses.",
    default = "30s",
    effect = of("batchAndDelay")
  )

  val param: ConfigEntry[String] = ConfigEntry(
    "rateLimiting.param.*",
    Text,
    Scope.Write,
    "Parameter for the class that `rateLimiting` names, which reads it with `RateLimitingContext.parameter`. Do not " +
      "use it for secrets.",
    placeholder = "name",
    declaredEffect = Some(ofClass)
  )

  val all: Seq[ConfigEntry[_]] =
    Seq(aimdIncrease, aimdDecrease, aimdMin, aimdMax, minDelay, maxDelay, growth, recovery, quietTime, param)
}
