package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.config.value.OptionType
import org.sparkkinesis.service.{Operation, TunableOperation}

/**
 * The four retry options of an operation and of the operations that share its `retryKey`.
 *
 * @param maxRetries
 *   has no fixed default if reads and writes have different ones
 */
final case class RetryEntries(
    operation: TunableOperation,
    scope: Scope,
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

  /** The value of `maxRetries` for no limit. */
  val NoLimit: Long = -1

  /**
   * Number of retries of the calls before a read starts. It is small, because a wrong endpoint or stream name looks
   * like an outage.
   */
  val RetriesBeforeRead: Long = 5

  private def entries(
      of: TunableOperation,
      scope: Scope,
      maxRetries: Option[Long],
      base: String,
      max: String,
      exponent: String = "1.5",
      maxRetriesDoc: String = "",
      effect: Option[Effect] = None
  ): RetryEntries = {
    val operation = of.retryKey
    def entry[T](name: String, kind: OptionType[T], doc: String, default: String): ConfigEntry[T] =
      ConfigEntry(s"retry.$operation.$name", kind, scope, doc, Some(default), declaredEffect = effect)
    RetryEntries(
      of,
      scope,
      ConfigEntry(
        s"retry.$operation.maxRetries",
        Whole(NoLimit, Int.MaxValue.toLong),
        scope,
        if (maxRetriesDoc.nonEmpty) maxRetriesDoc
        else s"Maximum number of retries of $operation; -1 means no limit.",
        maxRetries.map(_.toString),
        if (maxRetries.isEmpty) s"$RetriesBeforeRead for reads, no limit for writes" else "",
        declaredEffect = effect
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
        exponent
      )
    )
  }

  private def ofReads(
      operation: TunableOperation,
      maxRetries: Long,
      base: String,
      max: String,
      effect: Effect = Effect.OfReads
  ): RetryEntries = entries(operation, Scope.Read, Some(maxRetries), base, max, effect = Some(effect))

  /** A query that polls deregisters the consumers that an earlier run of it registered. */
  private val deregistration: Effect =
    Effect.OfReads.streaming.withAny(Need("requireConsumerDeregistration", Seq("true")))

  val registerStreamConsumer: RetryEntries =
    ofReads(Operation.RegisterStreamConsumer, 10, "200ms", "1s", Effect.OfReads.fanOut)
  val deregisterStreamConsumer: RetryEntries =
    ofReads(Operation.DeregisterStreamConsumer, 10, "200ms", "1s", deregistration)
  val listStreamConsumers: RetryEntries =
    ofReads(Operation.ListStreamConsumers, 10, "200ms", "1s", Effect.OfReads.streaming)
  val subscribeToShard: RetryEntries =
    ofReads(Operation.SubscribeToShard, NoLimit, "1s", "2s", Effect.OfReads.fanOut)
  val getRecords: RetryEntries = ofReads(Operation.GetRecords, NoLimit, "200ms", "3s")
  val getShardIterator: RetryEntries = ofReads(Operation.GetShardIterator, NoLimit, "200ms", "3s")
  val listStreams: RetryEntries =
    ofReads(Operation.ListStreams, RetriesBeforeRead, "200ms", "2s", Effect.OfReads.streams(StreamSelection.Pattern))

  val listShards: RetryEntries = entries(Operation.ListShards, Scope.Connection, Some(NoLimit), "200ms", "3s")
  val describeStreamSummary: RetryEntries =
    entries(Operation.DescribeStreamSummary, Scope.Connection, None, "200ms", "2s")

  /** The entries of an operation that writes records, with the same defaults for each service. */
  private def ofWrites(operation: TunableOperation): RetryEntries = entries(
    operation,
    Scope.Write,
    Some(NoLimit),
    "50ms",
    "5s",
    "2",
    "Maximum number of times that a refused record is sent again, not counting throttling; -1 means no limit other " +
      "than `deliveryTimeout`."
  )

  val putRecords: RetryEntries = ofWrites(Operation.PutRecords)
  val putRecordBatch: RetryEntries = ofWrites(Operation.PutRecordBatch)

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
    Scope.Connection,
    "Failures to treat as temporary, in addition to throttling, failures within the service and lost " +
      "connections: error codes of the service, or names of exception classes.",
    defaultDoc = "none"
  )

  /** The options of each operation of Kinesis Data Streams in the order of the reference. */
  val tunable: Seq[RetryEntries] = Seq(
    describeStreamSummary,
    listShards,
    listStreams,
    registerStreamConsumer,
    deregisterStreamConsumer,
    listStreamConsumers,
    subscribeToShard,
    getRecords,
    getShardIterator,
    putRecords
  )

  val all: Seq[ConfigEntry[_]] = tunable.flatMap(_.all) :+ recoverableErrors
}
