package org.sparkkinesis.sink.kinesis.pack

import org.sparkkinesis.model.ShardId
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.kinesis.put.{Answer, SinkRecord}
import org.sparkkinesis.sink.{RetryCause, Verdict}

/**
 * Finds out whether the aggregates of one answered request are where their readers look for them. KCL leaves out an aggregate as a
 * whole when one of its records is not of the shard's range. Without proof of the contrary its records are sent again, since
 * sending twice is better than losing.
 *
 * @param packedBy
 *   the map that the request was packed by
 * @param isConfirmed
 *   whether that map was known to be of the same stream when the answer came
 */
final private[kinesis] class AggregateProof(
    packed: PackedRequest,
    batch: IndexedSeq[SinkRecord],
    answers: IndexedSeq[Answer],
    packedBy: Option[ShardMap],
    isConfirmed: Boolean
) {

  private val aggregates = answers.indices.filter { i =>
    packed.entries(i).shard.isDefined && answers(i).shard.isDefined
  }

  /** Whether there is an aggregate to judge. */
  def isNeeded: Boolean = aggregates.nonEmpty

  /** Whether the aggregates went as they were meant to, by the map that is known to be true. */
  def isGivenBy(current: Option[ShardMap]): Boolean = isConfirmed && packedBy.exists(current.contains(_)) &&
    aggregates.forall(i => answers(i).shard == packed.entries(i).shard)

  /** One for each record, as the service answered. */
  def asAnswered: IndexedSeq[Verdict] = packed.spread(answers.map(_.verdict), AggregateProof.LeftOut)

  def forAll(verdict: Verdict): IndexedSeq[Verdict] = batch.map(_ => verdict)

  /**
   * The entries that readers may not find where they are.
   *
   * @param map
   *   was listed after the answer, or is known to be true; none when there is no such map
   */
  def misplacedBy(map: Option[ShardMap]): Seq[Int] = aggregates.filterNot { i =>
    shards(i).exists { case (landed, meant) => isIn(i, landed, landed == meant, map) }
  }

  /** One for each record, as the service answered, but those of these entries are sent again. */
  def without(misplaced: Seq[Int]): IndexedSeq[Verdict] = {
    val verdicts = answers.map(_.verdict).toArray
    misplaced.foreach { i =>
      val where = shards(i).fold("an unknown shard") { case (landed, meant) => s"shard $landed in place of $meant" }
      verdicts(i) =
        Verdict.Retry(RetryCause.Misplaced, s"an aggregate is in $where, which may not take all of its records")
    }
    packed.spread(verdicts.toIndexedSeq, AggregateProof.LeftOut)
  }

  /** Of an entry: the shard that took it, and the one that it was meant for. */
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
