package org.sparkkinesis.sink.kinesis

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.config.{WriteOptions, WriteOrdering}
import org.sparkkinesis.event.{CallThrottled, EventSink, PutFailed, PutTimedOut, RecordsMisplaced}
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.service.{KinesisService, Operation, PutEntry, PutResult}
import org.sparkkinesis.shard.ShardLister
import org.sparkkinesis.sink.kinesis.lane.ShardLanes
import org.sparkkinesis.sink.limit.Lane
import org.sparkkinesis.sink.{RetryCause, SinkDestination, Verdict}

/**
 * One stream as a destination of an [[org.sparkkinesis.sink.AsyncSinkWriter]]: PutRecords, with or without aggregation.
 *
 * @param laned
 *   whether each shard has limits of its own
 * @param ordered
 *   whether records of one partition key keep their order
 * @param packer
 *   packs records into aggregates; needs a shard map, so the lanes must have been listed
 */
final class KinesisDestination(
    service: KinesisService,
    stream: StreamRef,
    lanes: ShardLanes,
    lister: ShardLister,
    laned: Boolean,
    ordered: Boolean,
    packer: Option[AggregatePacker],
    events: EventSink = EventSink.Discard
) extends SinkDestination[SinkRecord] {
  val counts = new PutCounts

  override def sizeOf(record: SinkRecord): Int =
    if (packer.isDefined) record.size + KinesisDestination.AggregateOverhead else record.size
  override def lane(record: SinkRecord): Lane = if (laned) lanes.laneOf(record.hashPoint) else Lane.Unlimited
  override def orderKey(record: SinkRecord): Option[Any] = if (ordered) Some(record.partitionKey) else None
  override def keepsKeysTogether: Boolean = ordered && packer.isDefined

  override def timedOut(entries: Int, after: FiniteDuration): Unit =
    events.emit(PutTimedOut(stream.toString, entries, after.toMillis))

  override def send(batch: IndexedSeq[SinkRecord]): CompletableFuture[IndexedSeq[Verdict]] =
    (packer, lanes.map) match {
      case (Some(packing), Some(map)) => sendPacked(batch, packing.pack(batch, map))
      case _ => sendPlain(batch)
    }

  private def sendPlain(batch: IndexedSeq[SinkRecord]): CompletableFuture[IndexedSeq[Verdict]] = {
    val expected = lanes.map.filterNot(_ => lanes.distributesItself)
    put(batch.map(record => PutEntry(record.partitionKey, record.explicitHashKey, record.data))).thenApply { verdicts =>
      expected.foreach { map =>
        val elsewhere = batch.lazyZip(verdicts).flatMap { (record, verdict) =>
          verdict._2.filter(_ != map.shardOf(record.hashPoint)).map(_ -> record)
        }
        if (elsewhere.exists { case (shard, record) => map.isRefutedBy(shard, record.hashPoint) })
          lanes.foundToDistributeItself(stream, events)
        // Another answer may have noticed it before.
        else if (elsewhere.nonEmpty && lanes.map == expected) lanes.refresh(lister, stream, events)
      }
      if (ordered && lanes.distributesItself)
        refusal(verdicts.size, s"${WriteOptions.ordering.key}=${WriteOrdering.ByKey}")
      else verdicts.map(_._1)
    }
  }

  private def refusal(count: Int, option: String): IndexedSeq[Verdict] =
    IndexedSeq.fill(count)(Verdict.Fatal(new AutoDistributionException(option)))

  private def sendPacked(batch: IndexedSeq[SinkRecord], packed: PackedRequest): CompletableFuture[IndexedSeq[Verdict]] =
    put(packed.entries).thenCompose { verdicts =>
      val moved = packed.shards.lazyZip(verdicts).exists((shard, verdict) => verdict._2.exists(_ != shard))
      val refuted = lanes.map.exists { map =>
        packed.firsts.lazyZip(verdicts).exists { (first, verdict) =>
          verdict._2.exists(map.isRefutedBy(_, batch(first).hashPoint))
        }
      }
      if (refuted) lanes.foundToDistributeItself(stream, events)
      if (lanes.distributesItself) CompletableFuture.completedFuture(refusal(batch.size, "aggregation"))
      else if (!moved) CompletableFuture.completedFuture(packed.spread(verdicts.map(_._1), KinesisDestination.LeftOut))
      else
        lanes.refresh(lister, stream, events).handle[IndexedSeq[Verdict]] { (map, _) =>
          // KCL leaves out a container as a whole when one of its records is not of the shard's range. Without a new map
          // nobody knows what the shard takes, and sending twice is better than losing.
          val judged = verdicts.indices.map { entry =>
            val (verdict, meant) = (verdicts(entry), packed.shards(entry))
            val landed = verdict._2
            val isFound = landed.forall(shard =>
              shard == meant || map != null && packed.members(entry).forall(i => map.takes(shard, batch(i).hashPoint))
            )
            if (isFound) verdict._1
            else
              Verdict.Retry(RetryCause.Misplaced, s"an aggregate went into shard ${landed.mkString} in place of $meant")
          }
          val misplaced = judged.count {
            case Verdict.Retry(RetryCause.Misplaced, _) => true
            case _ => false
          }
          if (misplaced > 0) events.emit(RecordsMisplaced(stream.toString, misplaced))
          packed.spread(judged, KinesisDestination.LeftOut)
        }
    }

  /** A failure that no retry can mend ends the writer with an error, which tells it. */
  private def note(verdict: Verdict, entries: Int): Unit = verdict match {
    case Verdict.Retry(RetryCause.Throttled, _) =>
      events.emit(CallThrottled(stream.toString, None, Operation.PutRecords.name))
    case Verdict.Retry(_, reason) => events.emit(PutFailed(stream.toString, entries, reason))
    case _ => ()
  }

  /** Each entry's verdict, and the shard that took it. */
  private def put(entries: IndexedSeq[PutEntry]): CompletableFuture[IndexedSeq[(Verdict, Option[ShardId])]] =
    service.putRecords(stream, entries).handle { (results, failure) =>
      if (failure != null) {
        val verdict = PutVerdicts.of(failure)
        note(verdict, entries.size)
        entries.map(_ => verdict -> None)
      } else if (results.size != entries.size) {
        val error =
          new IllegalStateException(s"PutRecords answered ${results.size} results for ${entries.size} records")
        entries.map(_ => Verdict.Fatal(error) -> None)
      } else {
        counts.answered(entries, results)
        results.iterator.map {
          case accepted: PutResult.Accepted => Verdict.Accepted -> Some(accepted.shard)
          case rejected => PutVerdicts.of(rejected) -> None
        }.toIndexedSeq
      }
    }
}

/**
 * A stream with record distribution strategy AUTO cannot do what an option asks.
 *
 * @param option
 *   the option's name, with its value where it has several
 */
final class AutoDistributionException(val option: String)
    extends RuntimeException(s"the stream chooses shards without regard to keys, so $option is not possible")

object KinesisDestination {

  /** What a record adds to a container besides payload and key: tags, indexes and lengths, generously. */
  private val AggregateOverhead = 24
  private val LeftOut: Verdict = Verdict.Retry(RetryCause.NotSent, "did not fit into this request")
}
