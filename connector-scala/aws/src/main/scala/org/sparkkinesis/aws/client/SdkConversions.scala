package org.sparkkinesis.aws.client

import java.time.Instant

import scala.jdk.CollectionConverters._

import software.amazon.awssdk.core.SdkResponse
import software.amazon.awssdk.services.kinesis.model.{
  ChildShard => SdkChildShard,
  Consumer,
  ConsumerDescription,
  GetRecordsResponse,
  HashKeyRange => SdkHashKeyRange,
  Record,
  Shard => SdkShard,
  ShardFilter => SdkShardFilter,
  ShardFilterType,
  ShardIteratorType,
  StartingPosition => SdkStartingPosition,
  SubscribeToShardEvent => SdkEvent,
  SubscribeToShardRequest
}

import org.sparkkinesis.aws.request.SigningClock
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.{RecordPage, ShardFilter, StreamConsumer, SubscribeToShardEvent}

/** Converts between the classes of the SDK and of the model. Payloads are not copied. */
private[aws] object SdkConversions {

  def page(answer: GetRecordsResponse): RecordPage = RecordPage(
    records(answer.records),
    Option(answer.nextShardIterator),
    Option(answer.millisBehindLatest).fold(0L)(_.toLong),
    children(answer.childShards)
  )

  def event(from: SdkEvent): SubscribeToShardEvent = SubscribeToShardEvent(
    records(from.records),
    Option(from.continuationSequenceNumber).map(SequenceNumber.trusted),
    Option(from.millisBehindLatest).fold(0L)(_.toLong),
    children(from.childShards)
  )

  def subscription(consumerArn: String, shard: ShardId, from: StartingPosition): SubscribeToShardRequest = {
    val (kind, number, timestamp) = position(from)
    SubscribeToShardRequest.builder().consumerARN(consumerArn).shardId(shard.value).startingPosition(
      SdkStartingPosition.builder().`type`(kind).sequenceNumber(number.orNull).timestamp(timestamp.orNull).build()
    ).build()
  }

  private def records(from: java.util.List[Record]): IndexedSeq[KinesisRecord] = {
    val converted = new Array[KinesisRecord](from.size)
    val source = from.iterator
    var i = 0
    while (source.hasNext) {
      converted(i) = record(source.next())
      i += 1
    }
    scala.collection.immutable.ArraySeq.unsafeWrapArray(converted)
  }

  private def record(from: Record): KinesisRecord = {
    val arrival = from.approximateArrivalTimestamp
    KinesisRecord.delivered(
      from.sequenceNumber,
      from.partitionKey,
      if (arrival == null) 0L else arrival.toEpochMilli,
      from.data.asByteArrayUnsafe,
      from.encryptionTypeAsString
    )
  }

  private def children(from: java.util.List[SdkChildShard]): Seq[ChildShard] =
    from.asScala.iterator.map { child =>
      ChildShard(
        ShardId(child.shardId),
        child.parentShards.asScala.iterator.map(ShardId(_)).toSeq,
        range(child.hashKeyRange)
      )
    }.toSeq

  def shard(from: SdkShard): Shard = Shard(
    ShardId(from.shardId),
    Option(from.parentShardId).map(ShardId(_)),
    Option(from.adjacentParentShardId).map(ShardId(_)),
    range(from.hashKeyRange),
    SequenceNumber.trusted(from.sequenceNumberRange.startingSequenceNumber),
    Option(from.sequenceNumberRange.endingSequenceNumber).map(SequenceNumber.trusted)
  )

  def consumer(from: Consumer): StreamConsumer =
    StreamConsumer(
      from.consumerName,
      from.consumerARN,
      ConsumerStatus.of(from.consumerStatusAsString),
      millis(from.consumerCreationTimestamp)
    )

  def consumer(from: ConsumerDescription): StreamConsumer =
    StreamConsumer(
      from.consumerName,
      from.consumerARN,
      ConsumerStatus.of(from.consumerStatusAsString),
      millis(from.consumerCreationTimestamp)
    )

  def filter(from: ShardFilter): SdkShardFilter = {
    val builder = SdkShardFilter.builder()
    (from match {
      case ShardFilter.FromTrimHorizon => builder.`type`(ShardFilterType.FROM_TRIM_HORIZON)
      case ShardFilter.AtTrimHorizon => builder.`type`(ShardFilterType.AT_TRIM_HORIZON)
      case ShardFilter.AtLatest => builder.`type`(ShardFilterType.AT_LATEST)
      case ShardFilter.AtTimestamp(at) =>
        builder.`type`(ShardFilterType.AT_TIMESTAMP).timestamp(Instant.ofEpochMilli(at))
      case ShardFilter.FromTimestamp(from) =>
        builder.`type`(ShardFilterType.FROM_TIMESTAMP).timestamp(Instant.ofEpochMilli(from))
      case ShardFilter.AfterShardId(shard) => builder.`type`(ShardFilterType.AFTER_SHARD_ID).shardId(shard.value)
    }).build()
  }

  /** Returns the iterator type, sequence number and timestamp of a GetShardIterator request. */
  def position(from: StartingPosition): (ShardIteratorType, Option[String], Option[Instant]) = from match {
    case StartingPosition.TrimHorizon => (ShardIteratorType.TRIM_HORIZON, None, None)
    case StartingPosition.Latest => (ShardIteratorType.LATEST, None, None)
    case StartingPosition.AtTimestamp(at) => (ShardIteratorType.AT_TIMESTAMP, None, Some(Instant.ofEpochMilli(at)))
    case StartingPosition.AtSequenceNumber(number) => (ShardIteratorType.AT_SEQUENCE_NUMBER, Some(number.value), None)
    case StartingPosition.AfterSequenceNumber(number) =>
      (ShardIteratorType.AFTER_SEQUENCE_NUMBER, Some(number.value), None)
  }

  /** The `Date` header, in whole seconds; none when an answer has none, or not one that can be read. */
  def answeredMillis(answer: SdkResponse): Option[Long] = for {
    http <- Option(answer.sdkHttpResponse)
    time <- SigningClock.dateOf(http)
  } yield time.toEpochMilli

  def millis(instant: Instant): Long = if (instant == null) 0L else instant.toEpochMilli

  private def range(from: SdkHashKeyRange): HashKeyRange =
    HashKeyRange(BigInt(from.startingHashKey), BigInt(from.endingHashKey))
}
