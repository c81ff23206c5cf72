package org.sparkkinesis.sink.kinesis.lane

import org.sparkkinesis.model.ShardId
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.shard.ShardMap

/** Result of comparing a response with the shard map. */
sealed abstract class Sighting {

  /** A record that no reshard explains. */
  def refutation: Option[Refutation] = None
  def isLate: Boolean = false
}

object Sighting {

  /** Every record is in the shard that the map predicts. */
  case object AsExpected extends Sighting

  /** No listing has succeeded yet. */
  case object Unlisted extends Sighting

  /**
   * The request was sent before the last listing, and a record is in another shard than the map now predicts.
   *
   * @param refutation
   *   a record that no reshard explains; `None` also if the stream may have been recreated between request and listing
   */
  final case class Late(override val refutation: Option[Refutation]) extends Sighting {
    override def isLate: Boolean = true
  }

  /** A record is in another shard, because the stream was resharded or the listing was outdated. */
  case object Elsewhere extends Sighting

  /**
   * A record is in a shard that no reshard explains: the stream was recreated, or it ignores hash keys.
   *
   * @param isNews
   *   whether no response has shown it before, or the last listing is old
   */
  final case class Refuted(found: Refutation, isNews: Boolean) extends Sighting {
    override def refutation: Option[Refutation] = Some(found)
  }
}

/**
 * A record that is in another shard than the map of its stream says, which no reshard explains.
 *
 * @param map
 *   a map from before the response
 */
final case class Refutation(map: ShardMap, shard: ShardId, point: HashPoint) {

  /**
   * Whether the stream ignores hash keys.
   *
   * @param later
   *   a map whose listing began after the response, because a stream with the same name may have been recreated before
   */
  def isProvenBy(later: ShardMap): Boolean = map.agreesWith(later) && later.isRefutedBy(shard, point)
}
