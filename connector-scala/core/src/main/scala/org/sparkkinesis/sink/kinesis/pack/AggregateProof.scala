package org.sparkkinesis.sink.kinesis.pack

import org.sparkkinesis.model.ShardId
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.kinesis.put.{EntryVerdict, SinkRecord}
import org.sparkkinesis.sink.{RetryCause, Verdict}

/**
 * Checks whether the aggregates of a request are in shards where readers find all their records. KCL skips a whole
 * aggregate if one of its records is outside the range of the shard. Without proof the records are sent again, because
 * duplicates are better than losses.
 *
 * @param packedBy
 *   the map with which the request was packed
 * @param isConfirmed
 *   whether that map was confirmed for the current stream when the response arrived
 */
final private[kinesis] class AggregateProof(
    packed: PackedRequest,
    batch: IndexedSeq[SinkRecord],
    answers: IndexedSeq[EntryVerdict],
    packedBy: Option[ShardMap],
    isConfirmed: Boolean
) {

  private val aggregates = answers.indices.filter { i =>
    packed.entries(i).shard.isDefined && answers(i).shard.isDefined
  }

  /** Whether the request contains an aggregate. */
  def isNeeded: Boolean = aggregates.nonEmpty

  /** Whether the confirmed map proves that the aggregates are in the intended shards. */
  def isGivenBy(current: Option[ShardMap]): Boolean = isConfirmed && packedBy.exists(current.contains(_)) &&
    aggregates.forall(i => answers(i).shard == packed.entries(i).shard)

  /** Whether an aggregate is in a shard that the map does not contain. */
  def hasUnknownShard(map: Option[ShardMap]): Boolean =
    aggregates.exists(i => answers(i).shard.exists(landed => !map.exists(_.knows(landed))))

  /** Returns the verdicts of the service for each record. */
  def asAnswered: IndexedSeq[Verdict] = packed.spread(answers.map(_.verdict), AggregateProof.LeftOut)

  def forAll(verdict: Verdict): IndexedSeq[Verdict] = batch.map(_ => verdict)

  /**
   * Returns the entries that readers may not find.
   *
   * @param map
   *   a map that was listed after the response or is confirmed, if there is one
   */
  def misplacedBy(map: Option[ShardMap]): Seq[Int] = aggregates.filterNot { i =>
    shards(i).exists { case (landed, meant) => isIn(i, landed, landed == meant, map) }
  }

  /** Returns the verdicts of the service, but retries the records of these entries. */
  def without(misplaced: Seq[Int]): IndexedSeq[Verdict] = {
    val verdicts = answers.map(_.verdict).toArray
    misplaced.foreach { i =>
      val where = shards(i).fold("an unknown shard") { case (landed, meant) => s"shard $landed in place of $meant" }
      verdicts(i) =
        Verdict.Retry(RetryCause.Misplaced, s"an aggregate is in $where, which may not take all of its records")
    }
    packed.spread(verdicts.toIndexedSeq, AggregateProof.LeftOut)
  }

  /** The shard that stored an entry, and the intended shard. */
  private def shards(entry: Int): Option[(ShardId, ShardId)] = answers(entry).shard.zip(packed.entries(entry).shard)

  private def isIn(
      entry: Int,
      landed: ShardId,
      isMeant: Boolean,
      known: Option[ShardMap]
  ): Boolean = known match {
    case Some(map) if map.knows(landed) => packed.members(entry).forall(i => map.takes(landed, batch(i).hashPoint))
    // The shard was closed since, and the stream is the same.
    case Some(map) => isMeant && packedBy.exists(_.agreesWith(map))
    case None => isMeant && isConfirmed
  }
}

private[kinesis] object AggregateProof {
  val LeftOut: Verdict = Verdict.Retry(RetryCause.NotSent, "did not fit into this request")
}
