package org.sparkkinesis.plan.offset

import scala.collection.immutable.{ListMap, SortedMap}

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.model.{Shard, ShardId, StartingPosition}

/**
 * Carries an offset over to a stream that was deleted and created again. A query that was running meanwhile may have
 * read the new stream already, under the offset of the old one. Pure.
 */
object RecreatedStream {

  /**
   * Returns the offset in the new stream: positions that were reached in the new stream stay, and all other shards
   * begin at their oldest record, of which none arrived before the stream was created.
   *
   * @param creationMillis
   *   creation time of the new stream
   * @param listed
   *   all shards of the new stream
   */
  def offset(old: StreamOffset, name: String, creationMillis: Long, listed: Seq[Shard]): StreamOffset = {
    val shards = listed.iterator.map(shard => shard.id -> shard).toMap
    // Every record of the old stream arrived before the new one was created.
    val reached = old.shards.filter { case (id, position) =>
      shards.get(id).exists(isOf(position, _)) && old.readUntil(id).exists(_ >= creationMillis)
    }
    val named = ListMap.from(reached.keysIterator.map(_ -> StartingPosition.TrimHorizon))
    val all = InitialShards.choose(name, PositionOption(StartingPosition.TrimHorizon, named), listed, listed)
    def kept(times: SortedMap[ShardId, Long]) = times.filter { case (id, _) => reached.contains(id) }
    val since = kept(old.since) ++ (all.keySet -- reached.keySet).iterator.map(_ -> creationMillis)
    StreamOffset(name, old.arn, creationMillis, all ++ reached, kept(old.begun), since)
  }

  private def isOf(position: ShardPosition, shard: Shard): Boolean = position match {
    case ShardPosition.After(number, _) => number >= shard.startingSequenceNumber
    case ShardPosition.Within(number, _, _) => number >= shard.startingSequenceNumber
    case ShardPosition.Start(StartingPosition.AtTimestamp(_)) | ShardPosition.ShardEnd => true
    case _: ShardPosition.Start => false
  }
}
