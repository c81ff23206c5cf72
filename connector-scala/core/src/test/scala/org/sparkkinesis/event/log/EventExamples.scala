package org.sparkkinesis.event.log

import org.sparkkinesis.event._
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.service.Operation

/** One example of each event with its level and its log line. Operators search for these lines. */
object EventExamples {
  val Context: QueryContext = QueryContext(
    Some("3f2c3a4e-0c55-4b6c-9c0e-6d7f6a3f7b11"),
    Some("b7f6a0d2-8d0e-4f34-9c55-1f0f3c1d2e3f"),
    Some("etl"),
    Seq("arn:aws:kinesis:us-east-1:123456789012:stream/orders")
  )
  private val Arn = Context.streams.head
  private val Consumer = s"$Arn/consumer/etl:1700000000"
  private val Query = "name=etl query=3f2c3a4e-0c55-4b6c-9c0e-6d7f6a3f7b11 run=b7f6a0d2-8d0e-4f34-9c55-1f0f3c1d2e3f"
  private val OfStream = s"[$Query stream=orders]"
  private val OfShard = s"[$Query stream=orders shard=shardId-000000000001]"
  private val One = ShardId.ofIndex(1)
  private val Two = ShardId.ofIndex(2)
  private val Shard = StreamShard(Arn, One)
  private val Horizon = StartingPosition.TrimHorizon
  private val After = StartingPosition.AfterSequenceNumber(SequenceNumber.trusted("495"))
  private val Failure = new IllegalStateException("by request")
  private val Debug = EventLevel.Debug
  private val Info = EventLevel.Info
  private val Warn = EventLevel.Warn
  private val Goes = "The query continues with the oldest record that is left, because failOnDataLoss is false"
  private val Ends = "The query fails, because failOnDataLoss is true"

  val all: Seq[(ConnectorEvent, EventLevel, String)] = query ++ shard ++ executor ++ subscription ++ service ++ write

  private def query = Seq(
    (
      QueryStarted("1.2.3", Arn, "polling", isResumed = false, Seq(One -> Some(Horizon), Two -> None)),
      Info,
      s"$OfStream Query started from its initial offsets in consumer mode 'polling' with spark-kinesis 1.2.3, " +
        "2 shards: shardId-000000000001 from TRIM_HORIZON, shardId-000000000002 finished"
    ),
    (
      QueryStarted("1.2.3", Arn, "efo", isResumed = true, Seq(One -> Some(After))),
      Info,
      s"$OfStream Query resumed from its checkpoint in consumer mode 'efo' with spark-kinesis 1.2.3, 1 shard: " +
        "shardId-000000000001 after 495"
    ),
    (
      QueryStopped(1, 2500, 61234),
      Info,
      s"$OfStream Source stopped after 61.2 s: 2500 rows in 1 micro-batch planned in this run"
    ),
    (
      ReadSummary(
        batches = 60,
        rows = 30000,
        bytes = 31457280,
        millis = 300000,
        consumerMode = "polling",
        shards = 8,
        executors = 2,
        behindMillis = 61500,
        worstShard = Some("orders shardId-000000000001"),
        expiresInMillis = Some(86338500),
        bufferedBytes = 12582912,
        bufferBytes = 104857600,
        pollingSlowdown = 2.25,
        throttled = 3,
        retried = 4,
        mostThrottled = Some("GetRecords of orders shardId-000000000001 on executor 2, 7 since the start"),
        runningMillis = Some(1500)
      ),
      Info,
      s"$OfStream 60 micro-batches planned in 5.0 min, the last one runs since 1.5 s; 30000 rows fetched " +
        "(100.0 rows/s, 102.4 KiB/s); 61.5 s behind in orders shardId-000000000001; unread records expire in " +
        "24.0 h; 8 shards on 2 executors, 'polling' 2.3 times slower than its quota; buffer 12.0 MiB of 100.0 MiB; " +
        "calls: 3 throttled (most: GetRecords of orders shardId-000000000001 on executor 2, 7 since the start), " +
        "4 retried"
    ),
    (
      ReadSummary(1, 1, 10, 500, "efo", 1, 1, 0, None, None, 0, 1048576, 1, 0, 0, None, None),
      Info,
      s"$OfStream 1 micro-batch planned in 0.5 s; 1 row fetched (2.0 rows/s, 20 bytes/s); no shard is behind; " +
        "1 shard on 1 executor, 'efo'; buffer 0 bytes of 1.0 MiB; calls: 0 throttled, 0 retried"
    ),
    (
      BatchPlanned(2500, 123456, 730),
      Debug,
      s"$OfStream Micro-batch of 2500 rows (123456 bytes) planned in 730 microseconds"
    ),
    (
      BatchFromLatest("orders"),
      Warn,
      s"$OfStream A batch read from 'latest' has no rows, because it ends with the records that have arrived. To " +
        "read these, set 'initialPosition' for this read, for example with SELECT … FROM t WITH " +
        "('initialPosition' = 'trim_horizon') or with spark.read.option(\"initialPosition\", \"trim_horizon\")"
    ),
    (
      ShardsNotReported(2),
      Warn,
      s"$OfStream No task of the real-time batch reported 2 shards, so the next batch reads the same records again"
    ),
    (
      ChildrenBegun(1),
      Info,
      s"$OfStream The real-time batch read 1 child shard of shards that it finished"
    ),
    (
      BatchEndedEarly(Arn, One),
      Info,
      s"$OfShard The real-time batch ends early: several tasks have finished the parents of a child shard, which the " +
        "next batch reads"
    ),
    (
      PositionNotStored(Failure),
      Warn,
      s"$OfStream The read positions of idle shards could not be stored beside the checkpoint. The next run " +
        "continues from the last batch"
    ),
    (
      RetentionNotRead(Arn, Failure),
      Warn,
      s"$OfStream The retention period could not be read. The query is more than 24 hours behind; whether records " +
        "have expired unread is checked later"
    ),
    (
      ServiceTimeNotRead(Arn, Failure),
      Warn,
      s"$OfStream The service's time could not be read. It is needed when a query starts, and after the machine was " +
        "suspended or its clock was changed. It is requested again at the next attempt"
    ),
    (
      FirstRecordsUnknown(Arn, Seq(One)),
      Warn,
      s"$OfStream The first records of 1 shard could not be read in time: $One. If they expire before a task reads " +
        "them, that is not reported"
    ),
    (
      DataLost(Arn, One, "the stream keeps 24 hours", endsQuery = false),
      Warn,
      s"$OfShard Records were lost: the stream keeps 24 hours. $Goes"
    ),
    (
      DataLost(Arn, One, "the stream keeps 24 hours", endsQuery = true),
      Warn,
      s"$OfShard Records were lost: the stream keeps 24 hours. $Ends"
    ),
    (
      MetadataChanged(7, s"added $Arn (active)"),
      Info,
      s"$OfStream Version 7 of the metadata document is used: added $Arn (active)"
    ),
    (
      MetadataNotFetched("The file does not exist.", 2, Some(61000)),
      Warn,
      s"$OfStream The metadata service gave no valid answer (2 in a row): The file does not exist. The streams of " +
        "61.0 s ago stay in use"
    ),
    (
      MetadataRecovered(2),
      Info,
      s"$OfStream The metadata service gives valid answers again after 2 failures"
    ),
    (
      StreamForbidden(Arn, "account 123456789012 is not allowed", "metadataAllowedAccounts"),
      Warn,
      s"$OfStream KINESIS_METADATA_FORBIDDEN: the metadata service names a stream that is not used: account " +
        "123456789012 is not allowed (option 'metadataAllowedAccounts')"
    ),
    (
      MetadataFileUnprotected("/tmp/streams.json"),
      Warn,
      s"$OfStream Every user of the machine may write the metadata document /tmp/streams.json, and so direct this " +
        "query to other streams"
    ),
    (StreamJoined(Arn, 4), Info, s"$OfStream The stream joined with 4 shards"),
    (
      StreamPending(Arn, "Stream 'orders' is CREATING."),
      Warn,
      s"$OfStream The stream cannot be read yet, and will be tried again: Stream 'orders' is CREATING."
    ),
    (
      StreamDraining(Arn),
      Info,
      s"$OfStream The stream was removed, and is read until it has no more records"
    ),
    (
      StreamParked(Arn, isDrained = true),
      Info,
      s"$OfStream The removed stream was read to its end. Its position is kept"
    ),
    (
      StreamReturned(Arn),
      Info,
      s"$OfStream The stream is active again, and is read on from its position"
    ),
    (
      StreamDropped(Arn),
      Info,
      s"$OfStream The position of the removed stream is not kept any more"
    ),
    (
      StreamRecreated(Arn, 1700000000000L, 1700000100000L, endsQuery = true),
      Warn,
      s"$OfStream The stream was deleted and recreated: the checkpoint is of the stream created at " +
        s"2023-11-14T22:13:20Z, the present one was created at 2023-11-14T22:15:00Z. $Ends"
    ),
    (
      ReadFailed(Arn, One, "GetRecords: AccessDenied:\n  no"),
      Warn,
      s"$OfShard The shard cannot be read, so the query fails: GetRecords: AccessDenied: no"
    ),
    (SecretInClearText("Option 'a' has a secret."), Warn, s"$OfStream Option 'a' has a secret."),
    (OptionDeprecated("Option 'a' is now 'b'."), Warn, s"$OfStream Option 'a' is now 'b'."),
    (OptionWithoutEffect("Option 'a' has no effect here."), Warn, s"$OfStream Option 'a' has no effect here."),
    (
      FetchBufferReduced(20000, 1000),
      Warn,
      s"$OfStream fetchBufferSize is 20000 bytes of memory in each executor, and this executor gives it 1000 bytes, " +
        "half of its heap. In Databricks the option is for a whole cluster"
    ),
    (
      SpillStarted(5000),
      Info,
      s"$OfStream fetched records fill the memory of fetchBufferSize. This executor keeps further ones in local " +
        "files of at most 5000 bytes, or half of the free space, until a batch has read them"
    ),
    (
      SpillFailed("java.io.IOException: No space left on device", 60000),
      Warn,
      s"$OfStream fetched records cannot be written to a local file: java.io.IOException: No space left on device. " +
        "Nothing is lost, but this executor fetches only what its memory can hold until it tries again in 60000 ms. " +
        "Check the disks of spark.local.dir, or set fetchDiskSize to 0"
    )
  )

  private def shard = Seq(
    (ShardsListed(Arn, 2, 1, Seq(One)), Info, s"$OfStream Listed 2 open shards and 1 closed shard; 1 new: $One"),
    (ShardsListed(Arn, 2, 1, Nil), Debug, s"$OfStream Listed 2 open shards and 1 closed shard; none is new"),
    (
      ListingIncomplete(Arn, BigInt(0), BigInt(99), 10),
      Warn,
      s"$OfStream 10 listings had no open shard for the hash keys from 0 to 99. " +
        "The query starts without that shard, because failOnDataLoss is false"
    ),
    (
      ShardsAssigned(Arn, "7", Seq(One -> Horizon, Two -> After)),
      Info,
      s"$OfStream 2 shards assigned to executor 7: $One from TRIM_HORIZON, $Two after 495"
    ),
    (
      ShardsAssigned(Arn, "7", Seq(One -> StartingPosition.AtTimestamp(1700000000000L))),
      Info,
      s"$OfShard 1 shard assigned to executor 7: $One from 2023-11-14T22:13:20Z"
    ),
    (
      ShardsMoved(Arn, "7", "8", Seq(One -> After)),
      Info,
      s"$OfShard 1 shard moved from executor 7 to executor 8: $One after 495"
    ),
    (
      RowsFiltered(StreamShard(Arn, One), 753),
      Warn,
      s"$OfShard deaggregation.hashRangeFilter dropped 753 rows whose hash keys belong to other shards. That is " +
        "right for records of the KPL, which puts such rows into the right shard again. Other producers put any keys " +
        "into one aggregate: for them, turn the filter off"
    ),
    (ShardEnded(Arn, One, Seq(Two)), Info, s"$OfShard The shard was fetched to its end; children: $Two"),
    (
      ShardEnded(Arn, One, Nil),
      Info,
      s"$OfShard The shard was fetched to its end; the service named no children, so the shards are listed"
    ),
    (
      ShardFinished(Arn, One),
      Debug,
      s"$OfShard Every record of the shard was processed; the shard left the offsets"
    )
  )

  private def executor = Seq(
    (
      ExecutorOutageBegan(Arn, "2", 3, "connection refused"),
      Warn,
      s"$OfStream Calls of executor 2 for 3 shards fail and are retried: connection refused"
    ),
    (
      ExecutorOutageEnded(Arn, "2", 61234),
      Info,
      s"$OfStream Calls of executor 2 succeed again; its last report of failures was 61.2 s after the first one"
    ),
    (
      ExecutorJoined("7", "10.0.0.7"),
      Info,
      s"$OfStream Executor 7 on 10.0.0.7 is ready to read"
    ),
    (ExecutorLost("7", 3), Info, s"$OfStream Executor 7 is lost; its 3 shards will be assigned to others"),
    (
      StreamUnreachable("7", Arn, 3),
      Warn,
      s"$OfStream Executor 7 cannot reach the stream; its 3 shards will be assigned to others"
    ),
    (
      ConsumersNotStarted(2, Failure),
      Warn,
      s"$OfStream The Spark job that starts consumers failed 2 times in a row and is retried"
    ),
    (BufferFilled("7"), Debug, s"$OfStream The prefetch buffer of executor 7 is full; fetching waits for the query"),
    (BufferFreed("7"), Debug, s"$OfStream The prefetch buffer of executor 7 has room again"),
    (ReportMissed("7"), Debug, s"$OfStream A report of executor 7 was lost; the driver requested a full one"),
    (
      CoordinatorUnreachable("7", "no endpoint"),
      Warn,
      s"$OfStream Executor 7 could not reach the driver, so it does not read: no endpoint. The driver will ask again"
    ),
    (
      CoordinatorLost("7", 3),
      Warn,
      s"$OfStream The driver did not answer 3 pings in a row; executor 7 stops reading"
    ),
    (ConsumersCrashed("7", Failure), Warn, s"$OfStream The consumers of executor 7 failed and stop"),
    (
      ExecutorFailed("7", "out of memory"),
      Warn,
      s"$OfStream The consumers of executor 7 failed and are started again: out of memory"
    )
  )

  private def subscription = Seq(
    (SubscriptionRequested(Shard, After), Debug, s"$OfShard Subscription requested after 495"),
    (SubscriptionOpened(Shard), Debug, s"$OfShard Subscription opened"),
    (SubscriptionRenewed(Shard, 300040), Debug, s"$OfShard Subscription ended after 300.0 s and is renewed"),
    (
      SubscriptionLost(Shard, 2, "connection reset"),
      Debug,
      s"$OfShard Subscription lost (failure 2 in a row) and requested again: connection reset"
    ),
    (
      SubscriptionTakenOver(Shard, 1),
      Debug,
      s"$OfShard Another subscription of the same consumer replaced this one"
    ),
    (
      SubscriptionTakenOver(Shard, 2),
      Warn,
      s"$OfShard Other subscriptions of the same consumer have replaced this one 2 times. " +
        "Another query uses this consumer: set a separate 'consumerName' for each query"
    ),
    (ConsumerRegistered(Arn, Consumer), Info, s"$OfStream Consumer $Consumer registered"),
    (ConsumerReady(Arn, Consumer), Info, s"$OfStream Consumer $Consumer is active"),
    (
      ConsumerAdopted(Arn, Consumer),
      Info,
      s"$OfStream Consumer $Consumer was registered by an earlier run of this query"
    ),
    (ConsumerDeregistered(Arn, Consumer), Info, s"$OfStream Consumer $Consumer deregistered"),
    (
      ConsumerLeft(Arn, Consumer, "denied"),
      Warn,
      s"$OfStream Consumer $Consumer could not be deregistered: denied. " +
        "It remains registered, and AWS bills it, until you deregister it"
    ),
    (
      ConsumersNotRecorded(Arn, Failure),
      Warn,
      s"$OfStream The list of registered consumers beside the checkpoint could not be updated"
    )
  )

  private def service = Seq(
    (IteratorRequested(Shard, Horizon), Debug, s"$OfShard Shard iterator requested from TRIM_HORIZON"),
    (IteratorRenewed(Shard, "it expired"), Debug, s"$OfShard Shard iterator renewed: it expired"),
    (CallThrottled(Arn, Some(One), Operation.GetRecords), Debug, s"$OfShard GetRecords was throttled"),
    (
      CallRetried(Arn, Some(One), 1, "reset"),
      Debug,
      s"$OfShard Call failed 1 time in a row and is retried: reset"
    ),
    (
      OutageBegan(Arn, Some(One), 5, "reset"),
      Warn,
      s"$OfShard A call failed 5 times in a row and is retried: reset"
    ),
    (
      OutageLasts(Arn, 30000, 12, "reset"),
      Warn,
      s"$OfStream Calls for 12 shards have failed for 30.0 s and are retried: reset"
    ),
    (
      OutageEnded(Arn, 43210, 1),
      Info,
      s"$OfStream Calls for 1 shard succeed again after failing for 43.2 s"
    ),
    (
      AnswerUnreadable(Arn, "unknown field"),
      Warn,
      s"$OfStream A GetRecords response is requested again and decoded by the AWS SDK: unknown field"
    )
  )

  private def write = Seq(
    (
      WriteStarted("1.2.3", Some("orders"), "ordering 'none'"),
      Info,
      s"$OfStream Write started by spark-kinesis 1.2.3 with ordering 'none'"
    ),
    (
      WriteSummary(Some(12), 6000, 1234567, 15, 10, 11, 300000),
      Info,
      s"$OfStream 12 micro-batches written in 300.0 s: 6000 records (1234567 bytes) in 15 requests; " +
        "10 throttled, 11 retried"
    ),
    (
      WriteSummary(None, 1, 20, 1, 0, 0, 1500),
      Info,
      s"$OfStream Write finished in 1.5 s: 1 record (20 bytes) in 1 request; 0 throttled, 0 retried"
    ),
    (
      WriteLimitChanged(Arn, 25000, 12500),
      Info,
      s"$OfStream Rate limiting reduced the limit of the writers in this executor from 25000 records to 12500 " +
        "records in flight"
    ),
    (
      WriteLimitChanged(Arn, 500, 1000),
      Debug,
      s"$OfStream Rate limiting raised the limit of the writers in this executor from 500 records to 1000 " +
        "records in flight"
    ),
    (WritePlanned(Some("orders"), "fail"), Debug, s"$OfStream Write planned, with onInvalidRecord 'fail'"),
    (
      BatchWritten(Some(3), 1000, 2, 10, 11),
      Debug,
      s"$OfStream Micro-batch 3 written: 1000 records in 2 requests; 10 throttled, 11 retried"
    ),
    (
      PutFailed(Arn, Operation.PutRecords, 500, "InternalFailure"),
      Warn,
      s"$OfStream PutRecords with 500 records failed, and its records are sent again: InternalFailure"
    ),
    (
      PutTimedOut(Arn, Operation.PutRecords, 500, 30000),
      Warn,
      s"$OfStream PutRecords with 500 records got no answer within 30.0 s; " +
        "its records are sent again and may be stored twice"
    ),
    (
      RecordsMisplaced(Arn, 1),
      Debug,
      s"$OfStream 1 aggregate went to another shard than planned, and the records are sent again"
    ),
    (
      ShardMapRefreshed(Arn, 4, isFirst = false),
      Info,
      s"$OfStream The stream was resharded; writers now use 4 open shards"
    ),
    (ShardMapRefreshed(Arn, 1, isFirst = true), Debug, s"$OfStream Writers use 1 open shard"),
    (
      ShardMapNotRefreshed(Arn, "denied"),
      Warn,
      s"$OfStream The shards could not be listed; writers continue with those they know: denied"
    ),
    (
      DistributionAutomatic(Arn),
      Warn,
      s"$OfStream The stream chooses shards without regard to partition keys (record distribution strategy AUTO); " +
        "writers apply no limits for each shard"
    ),
    (
      ShardLimitsUnavailable(Arn, "denied"),
      Warn,
      s"$OfStream Writers apply no limits for each shard, because the shards cannot be listed: denied"
    ),
    (
      ShardPaced(Arn, One),
      Warn,
      s"$OfShard The shard throttles writes; records for it are now sent at the rate that it accepts"
    ),
    (
      ShardRateCut(Arn, One, 0.8234),
      Debug,
      s"$OfShard Rate of the shard cut to 0.82 of its documented capacity"
    ),
    (
      ShardUnpaced(Arn, One),
      Debug,
      s"$OfShard The shard no longer throttles writes; its rate is not limited any more"
    ),
    (
      RoutesStartFromCache(7, 90000, 2),
      Warn,
      s"$OfStream The write starts with version 7 of the metadata from its cache, which is 90.0 s old. The metadata " +
        "service has not answered (2 failures)"
    ),
    (
      RouteCacheIgnored("routes-1", "it has no entries"),
      Warn,
      s"$OfStream The cache routes-1 of the metadata is not used: it has no entries"
    ),
    (
      RoutesNotCached(),
      Warn,
      s"$OfStream The metadata is not kept, so that a restart of the query needs the metadata service. Set " +
        "'checkpointLocation' or 'metadataCache'"
    ),
    (
      StreamLeft(Arn, 2, "no answer"),
      Warn,
      s"$OfStream The stream is not written any more until it stores a record again. 2 records of this task that " +
        "it has not acknowledged, some of which it may have stored, are written to the other streams. Reason: no answer"
    ),
    (
      RoutesNotAsked("the driver is busy"),
      Warn,
      s"$OfStream The driver does not answer whether the metadata names other streams. The task asks again. Reason: " +
        "the driver is busy"
    ),
    (
      StreamUsedAgain(Arn),
      Info,
      s"$OfStream The stream has stored a record and is written again"
    ),
    (
      RowsInvalid(Arn, 3, 2, "dropped", "its partition key is null"),
      Warn,
      s"$OfStream 2 invalid rows of partition 3 dropped. Reason of the first: its partition key is null"
    ),
    (
      StreamColumnIgnored("orders", "stream"),
      Warn,
      s"$OfStream The rows have a column 'stream', which is ignored, because options name the stream that they are " +
        "written to. To send each row to the stream that this column names, set 'streamColumn' to stream"
    )
  )
}
