package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.config.value.OptionType
import org.sparkkinesis.service.{Operation, TunableOperation}

/** The four retry options of an operation and of the operations that share its `retryKey`. */
final case class RetryEntries(
    operation: TunableOperation,
    maxRetries: ConfigEntry[Long],
    base: ConfigEntry[FiniteDuration],
    max: ConfigEntry[FiniteDuration],
    exponent: ConfigEntry[Double]
) {
  def all: Seq[ConfigEntry[_]] = Seq(maxRetries, base, max, exponent)
}

/** The retry options of each operation: number of retries and backoff. A `maxRetries` of -1 means no limit. */
object RetryOptions {
  import OptionType._

  private def entries(of: TunableOperation, maxRetries: Long, base: String, max: String): RetryEntries = {
    val operation = of.retryKey
    def entry[T](name: String, kind: OptionType[T], doc: String, default: String): ConfigEntry[T] =
      ConfigEntry(s"retry.$operation.$name", kind, Scope.Read, doc, Some(default))
    RetryEntries(
      of,
      entry(
        "maxRetries",
        Whole(-1, Int.MaxValue.toLong),
        s"Maximum number of retries of $operation; -1 means no limit.",
        maxRetries.toString
      ),
      entry(
        "backoff.base",
        Duration(1.milli, 1.hour),
        s"Upper bound of the random pause before the first retry of $operation.",
        base
      ),
      entry(
        "backoff.max",
        Duration(1.milli, 1.hour),
        s"Upper bound of every pause between retries of $operation.",
        max
      ),
      entry(
        "backoff.exponent",
        Real(1, 10),
        s"Factor by which the upper bound of the pause grows with each retry of $operation.",
        "1.5"
      )
    )
  }

  val registerStreamConsumer: RetryEntries = entries(Operation.RegisterStreamConsumer, 10, "200ms", "1s")
  val deregisterStreamConsumer: RetryEntries = entries(Operation.DeregisterStreamConsumer, 10, "200ms", "1s")
  val listStreamConsumers: RetryEntries = entries(Operation.ListStreamConsumers, 10, "200ms", "1s")
  val subscribeToShard: RetryEntries = entries(Operation.SubscribeToShard, -1, "1s", "2s")
  val getRecords: RetryEntries = entries(Operation.GetRecords, -1, "200ms", "3s")
  val getShardIterator: RetryEntries = entries(Operation.GetShardIterator, -1, "200ms", "3s")
  val listShards: RetryEntries = entries(Operation.ListShards, -1, "200ms", "3s")

  val putRecordsMaxRetries: ConfigEntry[Long] = ConfigEntry(
    "retry.putRecords.maxRetries",
    Whole(-1, Int.MaxValue.toLong),
    Scope.Write,
    "Maximum number of times that a refused record is sent again, not counting throttling; -1 means no limit other " +
      "than `deliveryTimeout`.",
    Some("-1")
  )

  val recoverableErrors: ConfigEntry[Set[String]] = ConfigEntry(
    "retry.recoverableErrors",
    OptionType.Parsed[Set[String]](
      "error codes such as KMSDisabledException, or names of exception classes, separated by commas",
      _.toSeq.sorted.mkString(","),
      "str | Sequence[str]"
    ) { text =>
      val names = text.split(",", -1).map(_.trim).toSeq
      names.find(name => !name.matches("[A-Za-z_$][\\w.$]*")) match {
        case Some(wrong) => Left(s"'$wrong' is neither an error code nor a class name.")
        case None => Right(names.toSet)
      }
    },
    Scope.Read,
    "Failures to treat as temporary, in addition to throttling, failures within the service and lost " +
      "connections: error codes of the service, or names of exception classes.",
    defaultDoc = "none"
  )

  /** The options for reads in the order of the reference. */
  val reading: Seq[RetryEntries] = Seq(
    registerStreamConsumer,
    deregisterStreamConsumer,
    listStreamConsumers,
    subscribeToShard,
    getRecords,
    getShardIterator,
    listShards
  )

  val all: Seq[ConfigEntry[_]] = reading.flatMap(_.all) :+ recoverableErrors :+ putRecordsMaxRetries
}
