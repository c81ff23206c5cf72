package org.sparkkinesis.sink.kinesis

import java.util.concurrent.CompletableFuture.completedFuture
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.config.value.WriteOrdering
import org.sparkkinesis.event.{
  CallThrottled, DistributionAutomatic, EventSink, PutFailed, PutTimedOut, RecordsMisplaced
}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{KinesisService, Operation, PutEntry, PutResult}
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.kinesis.lane.{
  BackgroundListing, ExpectedShards, Refutation, ShardLanes, ShardPrediction, Sighting
}
import org.sparkkinesis.sink.kinesis.pack.{AggregatePacker, AggregateProof, AggregateSize}
import org.sparkkinesis.sink.kinesis.put.{EntryVerdict, PutCounts, PutSize, SinkRecord}
import org.sparkkinesis.sink.limit.{Lane, LaneShare, PacedLane}
import org.sparkkinesis.sink.put.{PutExchange, PutVerdicts}
import org.sparkkinesis.sink.{RetryCause, SinkDestination, Verdict}

/**
 * Implements [[org.sparkkinesis.sink.SinkDestination]] for one stream with PutRecords, with or without aggregation.
 *
 * An aggregate is accepted only if the hash key range of its shard contains all its records, because readers skip the
 * others (KCL the whole aggregate). Records of an aggregate that may be in the wrong shard are sent again.
 *
 * @param laned
 *   whether each shard has its own limits
 * @param ordering
 *   whether records with the same partition key keep their order
 * @param packer
 *   packs records into aggregates
 * @param sizes
 *   receives the sizes of the packed records
 * @param rules
 *   failures that are retried
 */
final class KinesisDestination(
    service: KinesisService,
    stream: StreamRef,
    lanes: ShardLanes,
    laned: Boolean,
    ordering: WriteOrdering,
    packer: Option[AggregatePacker],
    sizes: MeanSize,
    rules: RetryRules,
    scheduler: Scheduler,
    events: EventSink
) extends SinkDestination[SinkRecord] {
  import KinesisDestination._
  private val ordered = ordering == WriteOrdering.ByKey
  private val shards = lanes.shards
  private val judged = new PutVerdicts(Operation.PutRecords, Throttles, rules)
  private val background = new BackgroundListing(scheduler)

  /** This writer's access to the lanes that all writers of the process share. */
  private val shares = new ConcurrentHashMap[PacedLane, LaneShare]
  val counts = new PutCounts

  override def sizeOf(record: SinkRecord): Int =
    if (packer.isEmpty) record.size
    else {
      val size = AggregateSize.atMost(record)
      sizes.saw(size)
      size
    }
  override def lane(record: SinkRecord): Lane = if (laned) lanes.laneOf(record) match {
    case shared: PacedLane =>
      val known = shares.get(shared)
      if (known != null) known else shares.computeIfAbsent(shared, _.open())
    case other => other
  }
  else Lane.Unlimited
  override def orderKey(record: SinkRecord): Option[Any] = ordering match {
    case WriteOrdering.ByKey => Some(record.partitionKey)
    case WriteOrdering.BestEffort => KeyGroup.of(record.hashPoint)
    case WriteOrdering.Unordered => None
  }

  /** With best effort, a request may contain many records of a key, of which the service may refuse one. */
  override def keepsKeysTogether: Boolean = ordered && packer.isDefined || ordering == WriteOrdering.BestEffort

  override def timedOut(entries: Int, after: FiniteDuration): Unit =
    events.emit(PutTimedOut(stream.toString, Operation.PutRecords, entries, after.toMillis))

  override def send(batch: IndexedSeq[SinkRecord]): CompletableFuture[IndexedSeq[Verdict]] = {
    val exchange = new PutExchange
    exchange.completesWith(packer match {
      case Some(packing) => sendPacked(batch, packing, exchange)
      case None => sendPlain(batch, exchange)
    })
    exchange.verdicts
  }

  private def sendPlain(
      batch: IndexedSeq[SinkRecord],
      exchange: PutExchange
  ): CompletableFuture[IndexedSeq[Verdict]] = {
    val sentAt = scheduler.nanoTime
    val expected = if (comparesShards) shards.expect(batch.size, (map, i) => batch(i).shardIn(map)) else None
    put(batch, exchange).thenCompose { answers =>
      def look(): Sighting = see(answers, batch, sentAt, expected)
      if (ordered) {
        // The first response may arrive before the first listing has ended.
        val first = if (shards.map.isEmpty) shards.listing else None
        first.fold(inOrder(answers, look()))(_.handle[Unit]((_, _) => ()).thenCompose(_ => inOrder(answers, look())))
      } else {
        look() match {
          case refuted @ Sighting.Refuted(refutation, true) if !isUnprovable(refuted) =>
            shards.list(service, stream, events).thenAccept(detectDistribution(_, refutation))
          case Sighting.Elsewhere => listInBackground()
          case _ => ()
        }
        completedFuture(answers.map(_.verdict))
      }
    }
  }

  /** Whether only a listing could prove what a response shows, and one has just failed, so that the next must wait. */
  private def isUnprovable(seen: Sighting): Boolean = seen.refutation.nonEmpty && shards.hasJustFailed

  private def listInBackground(): Unit = background.begin(() => shards.list(service, stream, events)): Unit

  /** Returns the verdicts of the service, unless the stream ignores the keys. */
  private def inOrder(answers: IndexedSeq[EntryVerdict], seen: Sighting): CompletableFuture[IndexedSeq[Verdict]] = {
    val verdicts = answers.map(_.verdict)
    if (seen == Sighting.Elsewhere) listInBackground()
    if (isUnprovable(seen)) completedFuture(verdicts)
    else seen.refutation.fold[CompletableFuture[IndexedSeq[Verdict]]](completedFuture(verdicts)) { refutation =>
      shards.list(service, stream, events).handle[IndexedSeq[Verdict]] { (map, _) =>
        if (map != null && refutation.isProvenBy(map)) verdicts.map(_ => refusal("ordering=key")) else verdicts
      }
    }
  }

  private def sendPacked(
      batch: IndexedSeq[SinkRecord],
      packing: AggregatePacker,
      exchange: PutExchange
  ): CompletableFuture[IndexedSeq[Verdict]] = prediction.thenCompose {
    case Left(refusal) => completedFuture(all(batch, Verdict.Fatal(refusal)))
    case Right(_) if exchange.isAborted => completedFuture(all(batch, AggregateProof.LeftOut))
    case Right(known) =>
      val packed = packing.pack(batch, known)
      val sentAt = scheduler.nanoTime
      put(packed.entries.map(_.put), exchange).thenCompose { answers =>
        val seen = see(answers, packed.entries.map(entry => batch(entry.first)), sentAt)
        judge(new AggregateProof(packed, batch, answers, known.map(_.map), shards.isConfirmed), seen)
      }
  }

  private def judge(proof: AggregateProof, seen: Sighting): CompletableFuture[IndexedSeq[Verdict]] = {
    // Before the map, because a listing that ends in between installs a new one.
    val isListing = shards.isListing
    val current = shards.map
    seen match {
      case Sighting.AsExpected if proof.isGivenBy(current) => completedFuture(proof.asAnswered)
      // While the shards are listed, because another response has shown that the map is outdated, it proves nothing.
      // The shard of a late response may be newer than the map.
      case Sighting.AsExpected | Sighting.Unlisted | _: Sighting.Late
          if shards.isConfirmed &&
            (proof.misplacedBy(current).isEmpty || !isListing && !(seen.isLate && proof.hasUnknownShard(current))) =>
        completedFuture(judge(proof, current))
      case Sighting.AsExpected | Sighting.Unlisted | _: Sighting.Late if !proof.isNeeded =>
        completedFuture(proof.asAnswered)
      case Sighting.Elsewhere if !proof.isNeeded =>
        listInBackground()
        completedFuture(proof.asAnswered)
      case _ if isUnprovable(seen) => completedFuture(judge(proof, None))
      case _ =>
        shards.list(service, stream, events).handle[IndexedSeq[Verdict]] { (listed, _) =>
          if (listed != null && seen.refutation.exists(_.isProvenBy(listed))) proof.forAll(refusal("aggregation"))
          else judge(proof, Option(listed))
        }
    }
  }

  private def judge(proof: AggregateProof, known: Option[ShardMap]): IndexedSeq[Verdict] = {
    val misplaced = proof.misplacedBy(known)
    if (misplaced.nonEmpty) events.emit(RecordsMisplaced(stream.toString, misplaced.size))
    proof.without(misplaced)
  }

  /**
   * Predicts the shards of records with a confirmed shard map. Without one, records stay plain, which is always
   * correct. A refused ListShards call is final. The refusal of another caller's listing is not, so this caller asks.
   */
  private def prediction: CompletableFuture[Either[Throwable, Option[ShardPrediction]]] = shards.prediction match {
    case None if !shards.hasJustFailed || shards.isRefused =>
      shards.confirm(service, stream, events).handle[Either[Throwable, Option[ShardPrediction]]] { (_, error) =>
        val cause = Futures.unwrap(error)
        if (cause != null && shards.isFinal(cause)) Left(cause) else Right(shards.prediction)
      }
    case known => completedFuture(Right(known))
  }

  private def comparesShards: Boolean = laned && !lanes.distributesItself || packer.nonEmpty || ordered

  private def see(
      answers: IndexedSeq[EntryVerdict],
      firsts: IndexedSeq[SinkRecord],
      sentAt: Long,
      expected: Option[ExpectedShards] = None
  ): Sighting =
    if (!comparesShards) Sighting.AsExpected
    else shards.saw(answers.size, answers(_).shard, firsts(_).hashPoint, sentAt, expected)

  private def detectDistribution(map: ShardMap, refutation: Refutation): Unit =
    if (refutation.isProvenBy(map) && lanes.foundToDistributeItself())
      events.emit(DistributionAutomatic(stream.toString))

  /** Emits no event for a fatal verdict, because the error of the writer reports it. */
  private def note(verdict: Verdict, entries: Int): Unit = verdict match {
    case Verdict.Retry(RetryCause.Throttled, _) =>
      events.emit(CallThrottled(stream.toString, None, Operation.PutRecords))
    case Verdict.Retry(_, reason) => events.emit(PutFailed(stream.toString, Operation.PutRecords, entries, reason))
    case _ => ()
  }

  /** Consecutive records of one shard share their answer. */
  private def answers(results: IndexedSeq[PutResult]): IndexedSeq[EntryVerdict] = {
    var last = EntryVerdict(Verdict.Accepted, None)
    results.map {
      case accepted: PutResult.Accepted =>
        if (!last.shard.contains(accepted.shard)) last = EntryVerdict(Verdict.Accepted, Some(accepted.shard))
        last
      case PutResult.Rejected(code, message) => EntryVerdict(judged.refused(code, message), None)
    }
  }

  private def put(entries: IndexedSeq[PutEntry], exchange: PutExchange): CompletableFuture[IndexedSeq[EntryVerdict]] = {
    val size = PutSize.of(entries)
    exchange.calls(service.putRecords(stream, entries)).handle { (results, failure) =>
      if (failure != null) {
        val answer = EntryVerdict(judged.of(failure), None)
        // The code that aborted the request has reported it.
        if (!exchange.isAborted) note(answer.verdict, entries.size)
        entries.map(_ => answer)
      } else if (results.size != entries.size) {
        val error =
          new IllegalStateException(s"PutRecords returned ${results.size} results for ${entries.size} records")
        entries.map(_ => EntryVerdict(Verdict.Fatal(error), None))
      } else {
        counts.answered(entries, results, size)
        answers(results)
      }
    }
  }
}

/**
 * A stream with the record distribution strategy AUTO does not support an option.
 *
 * @param option
 *   name of the option, with its value if that matters
 */
final class AutoDistributionException(val option: String)
    extends RuntimeException(s"the stream selects shards without regard to keys, so $option is not possible")

/** A part of the key space whose records are in one request at a time. It does not change when the stream reshards. */
private object KeyGroup {
  private val Bits = 8
  private val all: Array[Some[Integer]] = Array.tabulate(1 << Bits)(group => Some(Integer.valueOf(group)))

  def of(point: HashPoint): Some[Integer] = all((point.high >>> (java.lang.Long.SIZE - Bits)).toInt)
}

private object KinesisDestination {
  val Throttles = Set("ProvisionedThroughputExceededException", "KMSThrottlingException", "ThrottlingException")
  def refusal(option: String): Verdict = Verdict.Fatal(new AutoDistributionException(option))
  def all(batch: IndexedSeq[SinkRecord], verdict: Verdict): IndexedSeq[Verdict] = batch.map(_ => verdict)
}
