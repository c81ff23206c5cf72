package org.sparkkinesis.service

import org.sparkkinesis.service.ServiceErrorKind._

/**
 * An operation of the service that the connector calls.
 *
 * @param name
 *   name in the API reference and in IAM actions
 * @param recoverable
 *   failures after which the same call may succeed. All other failures are final for the call; callers may react to
 *   them, for example with a new iterator or a new listing.
 */
sealed abstract class Operation(val name: String, val recoverable: Set[ServiceErrorKind]) extends Serializable {

  /** Name of the service in IAM actions and signatures. */
  def service: String = "kinesis"

  /** The IAM action that the caller needs. */
  final def permission: String = s"$service:$name"
  override def toString: String = name
}

/**
 * An operation with retry options.
 *
 * @param retryKey
 *   name of the option group: `retry.<retryKey>.maxRetries` and so on
 */
sealed abstract class TunableOperation(name: String, val retryKey: String, recoverable: Set[ServiceErrorKind])
    extends Operation(name, recoverable)

object Operation {

  /**
   * The request may be correct: the service was busy, failed or could not be reached, or the caller's credentials, the
   * clock or the state of the stream's key can change without a change of the query.
   */
  private val transient: Set[ServiceErrorKind] = ServiceErrorKind.healing ++ Set(Throttled, Internal, Network)

  /** Control-plane operations return LimitExceeded where the data plane returns Throttled. */
  private val control: Set[ServiceErrorKind] = transient + LimitExceeded

  case object GetRecords extends TunableOperation("GetRecords", "getRecords", transient)
  case object GetShardIterator extends TunableOperation("GetShardIterator", "getShardIterator", transient)

  /** ResourceInUse: the stream is being created or changed. */
  case object ListShards extends TunableOperation("ListShards", "listShards", control + ResourceInUse)

  /** ResourceInUse: another subscription is younger than five seconds, or the consumer is not active yet. */
  case object SubscribeToShard extends TunableOperation("SubscribeToShard", "subscribeToShard", control + ResourceInUse)
  case object RegisterStreamConsumer
      extends TunableOperation("RegisterStreamConsumer", "registerStreamConsumer", control)
  case object DeregisterStreamConsumer
      extends TunableOperation("DeregisterStreamConsumer", "deregisterStreamConsumer", control)
  case object ListStreamConsumers extends TunableOperation("ListStreamConsumers", "listStreamConsumers", control)

  /** Shares the options of ListStreamConsumers, which also looks up consumers. */
  case object DescribeStreamConsumer extends TunableOperation("DescribeStreamConsumer", "listStreamConsumers", control)
  case object DescribeStreamSummary
      extends TunableOperation("DescribeStreamSummary", "describeStreamSummary", control)
  case object ListStreams extends TunableOperation("ListStreams", "listStreams", control)

  /** ResourceInUse: the stream is being changed. */
  case object PutRecords extends TunableOperation("PutRecords", "putRecords", control + ResourceInUse)

  /** The only operation of Amazon Data Firehose; the other operations are those of Kinesis Data Streams. */
  case object PutRecordBatch extends TunableOperation("PutRecordBatch", "putRecordBatch", transient) {
    override def service: String = "firehose"
  }

  /** A call of the Security Token Service, which gives the credentials for another call. */
  case object AssumeRole extends Operation("AssumeRole", transient) {
    override def service: String = "sts"
  }

  /**
   * An operation that changes a stream, for a statement of a catalog. The driver calls it with the client of
   * DescribeStreamSummary. It is not retried after a failure in which the service may have made the change: the second
   * call would fail because of the first one.
   */
  sealed abstract class Change(name: String)
      extends Operation(name, ServiceErrorKind.healing ++ Set(Throttled, LimitExceeded))

  case object CreateStream extends Change("CreateStream")
  case object DeleteStream extends Change("DeleteStream")
  case object UpdateShardCount extends Change("UpdateShardCount")
  case object UpdateStreamMode extends Change("UpdateStreamMode")
  case object IncreaseStreamRetentionPeriod extends Change("IncreaseStreamRetentionPeriod")
  case object DecreaseStreamRetentionPeriod extends Change("DecreaseStreamRetentionPeriod")

  // The operations of reads and writes. Lazy, because one of the objects may be initialized before this one.
  lazy val all: Seq[Operation] = Seq(
    GetRecords,
    GetShardIterator,
    ListShards,
    SubscribeToShard,
    RegisterStreamConsumer,
    DeregisterStreamConsumer,
    ListStreamConsumers,
    DescribeStreamConsumer,
    DescribeStreamSummary,
    ListStreams,
    PutRecords,
    PutRecordBatch,
    AssumeRole
  )

  /** The operations with retry options. */
  lazy val tunable: Seq[TunableOperation] = all.collect { case operation: TunableOperation => operation }
}
