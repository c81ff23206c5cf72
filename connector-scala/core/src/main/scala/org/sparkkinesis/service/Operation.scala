package org.sparkkinesis.service

import org.sparkkinesis.service.ServiceErrorKind._

/**
 * An operation of the service that the connector calls.
 *
 * @param name
 *   the service's own name of it, as in its API reference and in IAM actions
 * @param recoverable
 *   failures after which the same call is worth making again; every other failure of the operation is final. What a caller
 *   does about those (a new iterator, a new listing) is its own decision.
 */
sealed abstract class Operation(val name: String, val recoverable: Set[ServiceErrorKind]) extends Serializable {
  override def toString: String = name
}

/**
 * An operation whose retries the user sets.
 *
 * @param retryKey
 *   names the group of options: `retry.<retryKey>.maxRetries` and so on
 */
sealed abstract class TunableOperation(name: String, val retryKey: String, recoverable: Set[ServiceErrorKind])
    extends Operation(name, recoverable)

object Operation {

  /** Nothing is known to be wrong with the request: the service was busy, failing, or not reached. */
  private val transient: Set[ServiceErrorKind] = Set(Throttled, Internal, Network)

  /** Control-plane operations answer LimitExceeded where the data plane answers Throttled. */
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

  /** Looks for a consumer as ListStreamConsumers does, and shares its options. */
  case object DescribeStreamConsumer extends TunableOperation("DescribeStreamConsumer", "listStreamConsumers", control)
  case object DescribeStreamSummary extends Operation("DescribeStreamSummary", control)
  case object ListStreams extends Operation("ListStreams", control)
  case object PutRecords extends Operation("PutRecords", transient)

  // Lazy: an object below may be used, and so initialized, before this one.
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
    PutRecords
  )

  /** Those whose retries the user sets. */
  lazy val tunable: Seq[TunableOperation] = all.collect { case operation: TunableOperation => operation }
}
