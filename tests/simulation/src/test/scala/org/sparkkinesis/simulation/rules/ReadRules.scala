package org.sparkkinesis.simulation.rules

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.error.{ReadErrors, ServiceErrors}
import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream, StreamState}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.member.{EntryCodec, MetadataEntry, StreamWish}
import org.sparkkinesis.plan.offset._
import org.sparkkinesis.service.Operation
import org.sparkkinesis.simulation.common.SimulatedTime
import org.sparkkinesis.simulation.model.{CallLedger, ModelKinesis, ModelShard}
import org.sparkkinesis.simulation.read._
import org.sparkkinesis.simulation.read.member.MemberVerdict
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule.{ReadScenario, ReadSetup}
import org.sparkkinesis.simulation.spark.QueryTrigger.AvailableNow
import org.sparkkinesis.simulation.spark._

/** Products that break the rules of the reading side: whole runs with a broken sink, and histories made by hand. */
object ReadRules {
  private val arn = ModelKinesis.arn(ModelKinesis.Account, "orders")
  private val Minute = 60000L
  private val row = ReadRow("shard-1", "10", 0, "key", 1)
  private val record = put(1)
  private val loss = ReadErrors.dataLoss("shard-1", "orders", "it was read up to yesterday", "a test")

  private def put(id: Long, shard: String = "shard-1") =
    PutRecord(id, s"$arn#0", shard, "key", 0, ordered = true, dropped = false)

  /** Passes on what a correct product delivers. */
  private class Sink(to: BatchSink) extends BatchSink {
    override def onBatchLogged(): Unit = to.onBatchLogged()
    override def onBatchRead(batch: Long, rows: Vector[ReadRow]): Unit = to.onBatchRead(batch, rows)
    override def sameRows(batch: Long, before: Vector[ReadRow], again: Vector[ReadRow]): Unit =
      to.sameRows(batch, before, again)
    override def onBatchHanded(batch: Long, rows: Vector[ReadRow]): Unit = to.onBatchHanded(batch, rows)
    override def onBatchDropped(batch: Long): Unit = to.onBatchDropped(batch)
    override def onBatchCommitted(batch: Long): Unit = to.onBatchCommitted(batch)
  }

  /** Runs a query with a sink, which is correct unless it is changed. */
  private[rules] def query(sink: BatchSink => BatchSink = identity[BatchSink] _): Unit = {
    val start = Start(AvailableNow, efo = false, failOnDataLoss = true)
    val setup = ReadSetup(tasks = TaskSettings(secondActionPercent = 100), options = Map("minFetchPeriod" -> "1s"))
    new ReadSimulation(
      ReadScenario(1, setup, Vector(Put(40), Advance(1000), start, Advance(30000))),
      spoil = sink
    ).run()
    ()
  }

  private def delivering(rows: Vector[ReadRow] => Vector[ReadRow]): Unit = query(sink =>
    new Sink(sink) {
      override def onBatchRead(batch: Long, read: Vector[ReadRow]): Unit = sink.onBatchRead(batch, rows(read))
    }
  )

  /** A query that has started, and what is known about its records. */
  final private class History {
    val time = new SimulatedTime(0)
    val ledger = new ReadLedger(() => time.nowMillis, initialRetentionMillis = 24 * 3600000L)
    val verdict = new ReadVerdict(
      time,
      ledger,
      24 * 3600000L,
      _ => false,
      () => None,
      (_, _, _) => false,
      (_, _) => Set.empty,
      (_, _) => Set.empty,
      _ => 0,
      () => false
    )
    verdict.started()

    def deliver(batch: Long, rows: ReadRow*): Unit = {
      ledger.onBatchRead(batch, rows.toVector)
      ledger.onBatchCommitted(batch)
    }
  }

  private def history(body: History => Any): Any = body(new History)

  private def memory(offset: ShardId, summaries: Int, laterMillis: Long = 0): Unit = {
    var now = 0L
    val (parent, child) = (ShardId.ofIndex(0), ShardId.ofIndex(1))
    val checked = new DriverMemory(
      () => now,
      SummaryBounds(maxRows = 100, maxBytes = 1000, maxMillis = 10000),
      leftMillis = 1000,
      (_, shard) => if (shard == child.value) Set(parent.value) else Set.empty
    )
    val position = SourceOffset(Seq(StreamOffset(arn, arn, 0, SortedMap(offset -> ShardPosition.Horizon))))
    val held = Map(StreamShard(arn, parent) ->
      Seq.fill(summaries)(ChunkSummary(SequenceNumber.trusted("1"), 1, 1, 0, 0, 0, 0)))
    checked.check(position, held)
    now = laterMillis
    checked.check(position, held)
  }

  private def calls(operation: Operation)(make: (CallLedger, ModelShard) => Any): Unit = {
    val made = new CallLedger(1000, () => 0)
    val shard = new ModelShard(0, Nil, HashKeyRange.Whole, 0)
    (1 to 100).foreach { _ =>
      made.count(operation)
      make(made, shard)
    }
    new History().verdict.called(made.total, made.throttled, runs = 1, directReads = 0)
  }

  /** What a query on a logical stream of two streams, of which one follows the other, has in its checkpoint. */
  final private class Members {
    private val other = ModelKinesis.arn(ModelKinesis.Account, "next")
    private val first = PhysicalStream.ofArn(arn).get.copy(state = StreamState.Draining)
    private val next = PhysicalStream.ofArn(other).get.copy(after = Set(arn))
    private val ledger = new ReadLedger(() => Minute, initialRetentionMillis = 24 * 60 * Minute)
    private var files = Map.empty[String, String]
    private val verdict =
      new MemberVerdict(name => files.get(name), ledger, () => Minute, graceMillis = 0, retentionMillis = 60 * Minute)
    ledger.begin(0)
    ledger.add(record)
    names(1, first, next)

    /** Writes an entry with these streams. */
    def names(number: Long, streams: PhysicalStream*): Unit = {
      val document = MetadataDocument(number, SortedMap("orders" -> streams.toVector))
      val wishes = streams.map { stream =>
        stream.arn -> (if (stream.state == StreamState.Draining) StreamWish.Drain(Minute) else StreamWish.Read)
      }.to(SortedMap)
      files ++= Map(
        "metadata-log" -> s"1 $number",
        s"metadata-entry-$number" -> EntryCodec.encode(MetadataEntry(number, 0, document, wishes, SortedMap.empty))
      )
      verdict.noteEntries()
    }

    def dropFirst(): Unit = {
      verdict.noteOffset(offset(StreamPhase.Parked(0, isDrained = false)))
      names(2, next)
    }

    /** Commits a batch with rows of a stream after one without them. */
    def commit(from: StreamPhase, to: StreamPhase, hasNext: Boolean): Unit = {
      files ++= Map("offsets/0" -> OffsetCodec.encode(offset(from)), "offsets/1" -> OffsetCodec.encode(offset(to)))
      verdict.committed(1, Option.when(hasNext)(other).toSet)
    }

    private def offset(phase: StreamPhase) = SourceOffset(
      SortedMap(arn ->
        StreamOffset("orders", arn, 0, SortedMap(ShardId.ofIndex(0) -> ShardPosition.Horizon), phase = phase)),
      version = 1
    )
  }

  private val exactlyOnce =
    "A record is delivered in exactly one committed batch, or its loss is reported with a condition"
  private val inOrder = "Records of a key come in order, also over reshards"
  private val explained = "A query ends only with a condition that its faults explain"
  private val driver = "The driver holds for each shard at most the summaries that `SummaryBounds` allows, and " +
    "nothing of shards that are finished"
  private val quotas = "Calls keep to the quotas of shards, streams and consumers, also SubscribeToShard"
  private val joining =
    "A stream of a logical stream is read from where it joined, and from where it was parked when it returns"

  val all: Seq[BrokenProduct] = Seq(
    BrokenProduct(exactlyOnce, "each batch has a record twice", "duplicate")(delivering(rows => rows :+ rows.last)),
    BrokenProduct(exactlyOnce, "a record is in two batches", "duplicate")(history { one =>
      one.ledger.add(record)
      one.deliver(0, row)
      one.deliver(1, row)
    }),
    BrokenProduct(exactlyOnce, "a batch has a record that nobody put", "unknown")(history(_.deliver(0, row))),
    BrokenProduct(exactlyOnce, "a record is never delivered", "lost")(history { one =>
      one.ledger.begin(0)
      one.ledger.noted()
      one.ledger.add(record)
      one.verdict.atEnd()
    }),
    BrokenProduct("A report of loss is about a loss that may have happened", "a query reports a loss at once", "alarm")(
      history(_.verdict.warned(loss))
    ),
    BrokenProduct(inOrder, "each batch has its records in reverse", "order")(delivering(_.reverse)),
    BrokenProduct(inOrder, "a batch has records of a shard and of its child", "order")(history { one =>
      one.ledger.add(record)
      one.ledger.add(put(2, "shard-2"))
      one.deliver(0, row, row.copy(shard = "shard-2", id = 2))
    }),
    BrokenProduct(
      "A batch that runs again has the same records, in every attempt of a task",
      "the second run of a task lacks a record",
      "rerun"
    )(query(sink =>
      new Sink(sink) {
        override def sameRows(batch: Long, before: Vector[ReadRow], again: Vector[ReadRow]): Unit =
          sink.sameRows(batch, before, again.drop(1))
      }
    )),
    BrokenProduct(
      "AvailableNow reads all records that were there when it started",
      "each batch lacks its last record",
      "availableNow"
    )(delivering(_.dropRight(1))),
    BrokenProduct(explained, "an exception without a condition", "failure")(
      history(_.verdict.failed(new IllegalStateException("broken"), failOnDataLoss = true))
    ),
    BrokenProduct(explained, "a stream is not found though nothing has failed", "needless")(
      history(_.verdict.failed(ServiceErrors.streamNotFound("orders", "eu-central-1", ""), failOnDataLoss = true))
    ),
    BrokenProduct(explained, "a loss ends a query that accepts losses", "loss")(
      history(_.verdict.failed(loss, failOnDataLoss = false))
    ),
    BrokenProduct("Nothing hangs, and a query that runs catches up", "a query waits forever", "hang")(history { one =>
      one.time.limit(1.hour, "a query")
      one.time.waitFor(2.hours)(condition = false)
    }),
    BrokenProduct(
      "Executors hold at most twice their buffer, and one answer for each shard",
      "an executor holds one byte more",
      "memory"
    )(history(_.verdict.holds(2 * 100 + 1000 + 1, ReadSetup(options = Map("fetchBufferSize" -> "100")), shards = 1))),
    BrokenProduct(driver, "no summaries are joined", "memory")(memory(ShardId.ofIndex(0), summaries = 52)),
    BrokenProduct(driver, "a shard is kept whose child is read", "memory")(
      memory(ShardId.ofIndex(1), summaries = 1, laterMillis = 1001)
    ),
    BrokenProduct(
      quotas,
      "a hundred fetches of a shard at once",
      "quota"
    )(calls(Operation.GetRecords)(_.allowsRecords(_))),
    BrokenProduct(quotas, "a hundred iterators of a shard at once", "quota")(
      calls(Operation.GetShardIterator)(_.allowsIterator(_))
    ),
    BrokenProduct(quotas, "a hundred consumers of a stream at once", "quota")(
      calls(Operation.RegisterStreamConsumer)((made, _) => made.allows(Operation.RegisterStreamConsumer, arn))
    ),
    BrokenProduct(quotas, "a hundred subscriptions to a shard at once", "quota")(
      calls(Operation.SubscribeToShard)((made, shard) => made.subscribed("consumer", shard, isRefused = false))
    ),
    BrokenProduct(joining, "the first record after a stream joined is not read", "lost")(history { one =>
      one.ledger.expectJoins()
      one.ledger.joins(arn, isFirst = false)
      one.ledger.add(record)
      one.verdict.atEnd()
    }),
    BrokenProduct(joining, "a stream that returns is read from its beginning", "duplicate")(history { one =>
      one.ledger.expectJoins()
      one.ledger.joins(arn, isFirst = true)
      one.ledger.add(record)
      one.deliver(0, row)
      one.deliver(5, row)
    }),
    BrokenProduct(
      "A stream that is parked as drained has no record that was not delivered",
      "a stream is parked as drained at once",
      "drain"
    )(new Members().commit(
      StreamPhase.Draining(Minute),
      StreamPhase.Parked(Minute, isDrained = true),
      hasNext = false
    )),
    BrokenProduct(
      "No record of a stream comes before those that it follows (`after`) are read. Where documents contradict each " +
        "other, the newer one applies.",
      "a stream does not wait for the one before it",
      "after"
    )(new Members().commit(StreamPhase.Active, StreamPhase.Draining(Minute), hasNext = true)),
    BrokenProduct(
      "The position of a stream is dropped only if the stream was parked, and missing in the documents, for " +
        "`removedStreamRetention`",
      "a stream is dropped when a document lacks it",
      "dropped"
    )(new Members().dropFirst())
  )
}
