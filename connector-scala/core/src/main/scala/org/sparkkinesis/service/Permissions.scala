package org.sparkkinesis.service

/**
 * What an operation acts on, as IAM names it.
 *
 * @param inErrors
 *   how an error about the stream of the operation calls it
 */
sealed abstract class IamResource(val name: String, val inErrors: String)

object IamResource {
  case object Stream extends IamResource("stream", "this stream")
  case object Consumer extends IamResource("consumer", "the consumer of this stream (<stream ARN>/consumer/<name>:*)")
  case object DeliveryStream extends IamResource("deliverystream", "this delivery stream")

  /** IAM knows no narrower resource for the operation. */
  case object Everything extends IamResource("*", "all resources (*)")

  def of(operation: Operation): IamResource = operation match {
    case Operation.ListStreams => Everything
    case Operation.PutRecordBatch => DeliveryStream
    case Operation.SubscribeToShard | Operation.DescribeStreamConsumer | Operation.DeregisterStreamConsumer => Consumer
    case _ => Stream
  }
}

/**
 * The operations that a use of the connector calls. The policies that `python -m spark_kinesis.policy` prints, the
 * table of permissions in the documentation and their tests follow from it.
 *
 * @param key
 *   name in the Python package
 * @param title
 *   name in the documentation
 * @param kmsAction
 *   what the use needs of the key of an encrypted stream
 */
final case class ConnectorUse(key: String, title: String, operations: Seq[Operation], kmsAction: Option[String] = None)

object ConnectorUse {
  import Operation._

  /** All reads need these. Fan-out needs GetRecords as well, for records that are no longer in the prefetch buffer. */
  val Read: ConnectorUse = ConnectorUse(
    "read",
    "All reads",
    Seq(DescribeStreamSummary, ListShards, GetShardIterator, GetRecords),
    Some("kms:Decrypt")
  )
  val FanOut: ConnectorUse =
    ConnectorUse("fan_out", "Enhanced fan-out, in addition", Seq(DescribeStreamConsumer, SubscribeToShard))
  val Registration: ConnectorUse = ConnectorUse(
    "registration",
    "Enhanced fan-out whose consumer the query registers, in addition: neither `registration=none` nor `consumerARN`",
    Seq(RegisterStreamConsumer, DeregisterStreamConsumer)
  )
  val Pattern: ConnectorUse = ConnectorUse("pattern", "`streamPattern`, in addition", Seq(ListStreams))
  val Write: ConnectorUse = ConnectorUse(
    "write",
    "Writes, also to `deadLetterStream` and to the streams of a column",
    Seq(DescribeStreamSummary, PutRecords),
    Some("kms:GenerateDataKey")
  )
  val ShardLimits: ConnectorUse = ConnectorUse(
    "shard_limits",
    "Writes with `shardLimits` (the default) or `aggregation`, in addition",
    Seq(ListShards)
  )
  val Firehose: ConnectorUse = ConnectorUse("firehose", "Writes to Amazon Data Firehose", Seq(PutRecordBatch))

  def all: Seq[ConnectorUse] = Seq(Read, FanOut, Registration, Pattern, Write, ShardLimits, Firehose)

  /**
   * Operations that the connector calls if it may, but does not need: ListStreamConsumers lists the registered
   * consumers in the error about too many of them.
   */
  val optional: Seq[Operation] = Seq(ListStreamConsumers)

  /** Operations of the identity instead of a use: the credentials that assume `roleArn` need them. */
  val ofRoles: Seq[Operation] = Seq(AssumeRole)
}
