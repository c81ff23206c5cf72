package org.sparkkinesis.aws.client

import java.util.concurrent.CompletableFuture

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success}

import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model.{
  ShardFilter => _, StartingPosition => _, StreamDescription => _, StreamStatus => _, _
}

import org.sparkkinesis.aws.getrecords.GetRecordsClient
import org.sparkkinesis.aws.http.HttpExchange
import org.sparkkinesis.aws.putrecords.{PutAnswer, PutRecordsClient}
import org.sparkkinesis.aws.request.{CallerIdentity, ServiceCalls}
import org.sparkkinesis.aws.subscription.{SdkSubscriptions, SubscriptionTransport}
import org.sparkkinesis.event.{AnswerUnreadable, EventSink}
import org.sparkkinesis.model._
import org.sparkkinesis.service.{
  ChangeRequest, KinesisService, Operation, PutEntry, PutResult, RecordPage, ShardFilter, ShardPage, ShardSubscriber,
  ShardSubscription, StreamConsumer, StreamConsumerPage, StreamDescription, StreamNamePage
}

/**
 * Implements [[KinesisService]]. GetRecords and PutRecords, the calls with many bytes, use this module's HTTP client.
 * Subscriptions are requests of this module, which the SDK's signer and its HTTP/2 client send. All other calls use the
 * SDK's client over HTTP/1.1.
 *
 * Futures complete on event loops. A callback that blocks there until another call completes can deadlock.
 *
 * @param requests
 *   the SDK's client, which does not retry; this instance owns it. It also sends GetRecords and PutRecords if CBOR is
 *   switched off.
 * @param puts
 *   PutRecords calls in CBOR
 * @param gets
 *   GetRecords calls in CBOR
 * @param subscriptions
 *   transport that uses the JVM's HTTP client for subscriptions
 * @param bySdk
 *   if set, the SDK's clients send GetRecords, PutRecords and SubscribeToShard; this instance owns it
 * @param owned
 *   closed with this instance
 * @param identity
 *   judges refusals; not owned
 * @param events
 *   receives the events of this client. Queries share a client, so its events name no query.
 * @param encoding
 *   encoding of `requests`; without CBOR, it sends all calls but subscriptions
 */
final class SdkKinesisService(
    requests: KinesisAsyncClient,
    puts: PutRecordsClient,
    gets: GetRecordsClient,
    subscriptions: SubscriptionTransport,
    bySdk: Option[SdkSubscriptions],
    owned: Seq[AutoCloseable],
    identity: CallerIdentity,
    events: EventSink,
    encoding: RequestEncoding
) extends KinesisService {
  private val calls = new ServiceCalls(identity)
  @volatile private var isClosed = false
  private val usesCbor = encoding == RequestEncoding.Cbor

  /** Whether this module sends GetRecords and PutRecords. */
  private val isNative = bySdk.isEmpty && usesCbor

  override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] =
    call(Operation.DescribeStreamSummary)(requests.describeStreamSummary(
      DescribeStreamSummaryRequest.builder().streamName(nameOf(stream)).streamARN(arnOf(stream)).build()
    )) { answer =>
      val summary = answer.streamDescriptionSummary
      StreamDescription(
        summary.streamName,
        summary.streamARN,
        StreamStatus.of(summary.streamStatusAsString),
        SdkConversions.millis(summary.streamCreationTimestamp),
        summary.retentionPeriodHours,
        summary.openShardCount,
        Option(summary.maxRecordSizeInKiB).fold(KinesisQuotas.Record.DefaultMaxBytes)(_ * KinesisQuotas.KiB),
        Option(summary.streamModeDetails).exists(_.streamMode == StreamMode.ON_DEMAND),
        SdkConversions.answeredMillis(answer),
        Option(summary.keyId).filter(_ => summary.encryptionType == EncryptionType.KMS),
        Option(summary.consumerCount).fold(0)(_.intValue)
      )
    }

  override def listShards(stream: StreamRef, filter: ShardFilter, next: Option[String]): CompletableFuture[ShardPage] =
    call(Operation.ListShards) {
      val request = ListShardsRequest.builder()
      requests.listShards((next match {
        case Some(token) => request.nextToken(token)
        case None =>
          request.streamName(nameOf(stream)).streamARN(arnOf(stream)).shardFilter(SdkConversions.filter(filter))
      }).build())
    } { answer =>
      val shards = answer.shards.asScala.iterator.map(SdkConversions.shard).toVector
      ShardPage(shards, Option(answer.nextToken), SdkConversions.answeredMillis(answer))
    }

  override def listStreams(after: Option[String]): CompletableFuture[StreamNamePage] =
    call(Operation.ListStreams)(
      requests.listStreams(ListStreamsRequest.builder().exclusiveStartStreamName(after.orNull).build())
    )(answer => StreamNamePage(answer.streamNames.asScala.toVector, answer.hasMoreStreams))

  override def getShardIterator(
      stream: StreamRef,
      shard: ShardId,
      position: StartingPosition
  ): CompletableFuture[String] =
    call(Operation.GetShardIterator) {
      val (kind, number, timestamp) = SdkConversions.position(position)
      val request = GetShardIteratorRequest.builder().streamName(nameOf(stream)).streamARN(arnOf(stream))
      request.shardId(shard.value).shardIteratorType(kind)
      requests.getShardIterator(request.startingSequenceNumber(number.orNull).timestamp(timestamp.orNull).build())
    }(_.shardIterator)

  /**
   * Reads the response with this module's decoder. If that fails, it repeats the request and leaves decoding to the
   * SDK.
   */
  override def getRecords(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage] =
    if (!isNative) getWithSdk(stream, iterator, limit)
    else
      call(Operation.GetRecords)(gets.get(stream, iterator, limit))(answer => answer).thenCompose {
        case Success(page) => CompletableFuture.completedFuture(page)
        case Failure(unreadable) =>
          events.emit(AnswerUnreadable(stream.toString, String.valueOf(unreadable.getMessage)))
          getWithSdk(stream, iterator, limit)
      }

  private def getWithSdk(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage] =
    call(Operation.GetRecords)(requests.getRecords(
      GetRecordsRequest.builder().shardIterator(iterator).streamARN(arnOf(stream)).limit(limit).build()
    ))(SdkConversions.page)

  override def putRecords(
      stream: StreamRef,
      entries: IndexedSeq[PutEntry]
  ): CompletableFuture[IndexedSeq[PutResult]] =
    if (isNative) calls.abortable(Operation.PutRecords)(puts.put(stream, entries))(PutAnswer.of)
    else
      calls.abortable(Operation.PutRecords) {
        HttpExchange.abortable(exchange => putWithSdk(stream, entries, exchange))
      }(putResults)

  private def putWithSdk(
      stream: StreamRef,
      entries: IndexedSeq[PutEntry],
      exchange: HttpExchange
  ): CompletableFuture[PutRecordsResponse] = {
    val records = entries.map { entry =>
      PutRecordsRequestEntry
        .builder()
        .partitionKey(entry.partitionKey)
        .explicitHashKey(entry.explicitHashKey.orNull)
        .data(SdkBytes.fromByteArrayUnsafe(entry.data))
        .build()
    }
    val request =
      PutRecordsRequest.builder().streamName(nameOf(stream)).streamARN(arnOf(stream)).records(records.asJava)
    val settings = exchange.observe(AwsRequestOverrideConfiguration.builder()).build()
    requests.putRecords(request.overrideConfiguration(settings).build())
  }

  private def putResults(answer: PutRecordsResponse): IndexedSeq[PutResult] = answer.records.asScala.iterator.map {
    entry =>
      if (entry.errorCode == null)
        PutResult.Accepted(ShardId(entry.shardId), SequenceNumber.trusted(entry.sequenceNumber))
      else PutResult.Rejected(entry.errorCode, String.valueOf(entry.errorMessage))
  }.toVector

  override def registerStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    call(Operation.RegisterStreamConsumer)(requests.registerStreamConsumer(
      RegisterStreamConsumerRequest.builder().streamARN(streamArn).consumerName(consumerName).build()
    ))(answer => SdkConversions.consumer(answer.consumer))

  override def describeStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    describeConsumer(_.streamARN(streamArn).consumerName(consumerName))

  override def describeStreamConsumer(consumerArn: String): CompletableFuture[StreamConsumer] =
    describeConsumer(_.consumerARN(consumerArn))

  private def describeConsumer(
      which: DescribeStreamConsumerRequest.Builder => DescribeStreamConsumerRequest.Builder
  ): CompletableFuture[StreamConsumer] =
    call(Operation.DescribeStreamConsumer)(
      requests.describeStreamConsumer(which(DescribeStreamConsumerRequest.builder()).build())
    )(answer => SdkConversions.consumer(answer.consumerDescription))

  override def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage] =
    call(Operation.ListStreamConsumers)(
      requests.listStreamConsumers(
        ListStreamConsumersRequest.builder().streamARN(streamArn).nextToken(next.orNull).build()
      )
    ) { answer =>
      StreamConsumerPage(
        answer.consumers.asScala.iterator.map(SdkConversions.consumer).toVector,
        Option(answer.nextToken)
      )
    }

  override def deregisterStreamConsumer(consumerArn: String): CompletableFuture[Unit] =
    call(Operation.DeregisterStreamConsumer)(
      requests.deregisterStreamConsumer(DeregisterStreamConsumerRequest.builder().consumerARN(consumerArn).build())
    )(_ => ())

  override def change(stream: StreamRef, change: ChangeRequest): CompletableFuture[Unit] = {
    def make[R](send: => CompletableFuture[R]): CompletableFuture[Unit] = call(change.operation)(send)(_ => ())
    def mode(onDemand: Boolean) = StreamModeDetails.builder()
      .streamMode(if (onDemand) StreamMode.ON_DEMAND else StreamMode.PROVISIONED).build()
    change match {
      case ChangeRequest.Create(shards) =>
        make(requests.createStream(
          CreateStreamRequest.builder().streamName(stream.name).shardCount(shards.map(Int.box).orNull)
            .streamModeDetails(mode(onDemand = shards.isEmpty)).build()
        ))
      case ChangeRequest.Delete =>
        make(requests.deleteStream(
          DeleteStreamRequest.builder().streamName(nameOf(stream)).streamARN(arnOf(stream)).build()
        ))
      case ChangeRequest.Reshard(shards) =>
        make(requests.updateShardCount(
          UpdateShardCountRequest.builder().streamName(nameOf(stream)).streamARN(arnOf(stream))
            .targetShardCount(shards).scalingType(ScalingType.UNIFORM_SCALING).build()
        ))
      case ChangeRequest.IncreaseRetention(hours) =>
        make(requests.increaseStreamRetentionPeriod(
          IncreaseStreamRetentionPeriodRequest.builder().streamName(nameOf(stream)).streamARN(arnOf(stream))
            .retentionPeriodHours(hours).build()
        ))
      case ChangeRequest.DecreaseRetention(hours) =>
        make(requests.decreaseStreamRetentionPeriod(
          DecreaseStreamRetentionPeriodRequest.builder().streamName(nameOf(stream)).streamARN(arnOf(stream))
            .retentionPeriodHours(hours).build()
        ))
      case ChangeRequest.SetMode(onDemand) =>
        make(requests.updateStreamMode(
          UpdateStreamModeRequest.builder().streamARN(arnOf(stream)).streamModeDetails(mode(onDemand)).build()
        ))
    }
  }

  override def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription =
    if (isClosed) subscriptions.refuse(subscriber, new IllegalStateException("the client is closed"))
    else
      bySdk match {
        case Some(sdk) =>
          val request = SdkConversions.subscription(consumerArn, shard, position)
          sdk.subscribe(request, subscriptions.judged(subscriber))
        case None => subscriptions.subscribe(consumerArn, shard, position, subscriber)
      }

  override def close(): Unit = {
    isClosed = true
    requests.close()
    bySdk.foreach(_.close())
    owned.foreach(_.close())
  }

  private def call[R, A](operation: Operation)(send: => CompletableFuture[R])(convert: R => A): CompletableFuture[A] =
    calls.call(operation)(send)(convert)

  private def nameOf(stream: StreamRef): String = if (stream.arn.isEmpty) stream.name else null
  private def arnOf(stream: StreamRef): String = stream.arn.orNull
}
