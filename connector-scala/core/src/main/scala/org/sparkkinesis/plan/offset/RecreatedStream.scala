package org.sparkkinesis.plan.offset

import scala.collection.immutable.{ListMap, SortedMap}

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.model.{Shard, ShardId, StartingPosition}
import org.sparkkinesis.shard.ShardGraph

/**
 * An offset that was carried over to a stream that was deleted and created again.
 *
 * @param offset
 *   the offset in the new stream
 * @param reached
 *   the shards whose positions were reached in the new stream under the offset of the old one
 * @param passed
 *   listed shards that are not in the offset, because they are ancestors of reached shards. The query has read each of
 *   them before, or has never read it; nothing in the offset of the old stream shows which.
 */
final case class RecreatedStream(offset: StreamOffset, reached: Set[ShardId], passed: Set[ShardId])

/**
 * Carries an offset over to a stream that was deleted and created again. A query that was running meanwhile may have
 * read the new stream already, under the offset of the old one. Pure.
 */
object RecreatedStream {

  /**
   * Returns the offset in the new stream: positions that were reached in the new stream stay, and all other shards
   * begin at their oldest record, of which none arrived before the stream was created. A stream that drains still does.
   *
   * @param creationMillis
   *   creation time of the new stream
   * @param listed
   *   all shards of the new stream
   */
  def of(old: StreamOffset, name: String, creationMillis: Long, listed: Seq[Shard]): RecreatedStream = {
    val shards = listed.iterator.map(shard => shard.id -> shard).toMap
    val reached = old.shards.filter { case (id, position) =>
      shards.get(id).exists(isReached(position, _, old.readUntil(id).exists(_ >= creationMillis)))
    }
    val named = ListMap.from(reached.keysIterator.map(_ -> StartingPosition.TrimHorizon))
    val chosen = InitialShards.choose(name, PositionOption(StartingPosition.TrimHorizon, named), listed, listed)
    // A shard with a position in the old stream was not read in the new one, although one of its children was.
    val (unread, passed) = (ShardGraph.of(listed).ancestors(reached.keySet.toSet) & shards.keySet -- reached.keySet)
      .partition(old.shards.contains)
    val all = chosen ++ unread.iterator.map(_ -> ShardPosition.Horizon) ++ reached
    def kept(times: SortedMap[ShardId, Long]) = times.filter { case (id, _) => reached.contains(id) }
    val since = kept(old.since) ++ (all.keySet -- reached.keySet).iterator.map(_ -> creationMillis)
    val offset = StreamOffset(name, old.arn, creationMillis, all, kept(old.begun), since, phase = old.phase)
    RecreatedStream(offset, reached.keySet.toSet, passed)
  }

  /**
   * Every record of the old stream arrived before the new one was created. The other positions are of the old stream:
   * no batch takes the first records of a shard, or its end, before it is known that the stream was not recreated.
   *
   * @param isLater
   *   whether the position has a time at which the new stream existed
   */
  private def isReached(position: ShardPosition, shard: Shard, isLater: Boolean): Boolean = isLater && {
    position match {
      case ShardPosition.After(number, _) => number >= shard.startingSequenceNumber
      case ShardPosition.Within(number, _, _) => number >= shard.startingSequenceNumber
      case ShardPosition.ShardEnd | _: ShardPosition.Start => false
    }
  }
}
