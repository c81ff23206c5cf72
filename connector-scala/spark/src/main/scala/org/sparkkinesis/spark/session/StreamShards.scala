package org.sparkkinesis.spark.session

import scala.concurrent.duration._

import org.sparkkinesis.model.{Shard, ShardId, StreamShard}
import org.sparkkinesis.service.ShardFilter
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime

/**
 * Lists the shards of the streams of one read on the driver, and keeps what the listings have shown. Thread-safe; the
 * methods that list may block.
 *
 * @param list
 *   returns all shards of the stream with this ARN that match the filter
 * @param time
 *   returns the time at which a listing begins
 */
final class StreamShards private[session] (list: (String, ShardFilter) => Seq[Shard], time: () => ListingTime) {
  private var listed = Map.empty[String, Seq[Shard]]
  private val open = new OpenShardTimes

  /** Returns all shards, for the start of a read. */
  def all(arn: String, filter: ShardFilter = ShardFilter.FromTrimHorizon): Seq[Shard] = {
    val begun = time()
    val found = list(arn, filter)
    synchronized {
      listed += arn -> (found ++ seen(arn)).distinctBy(_.id)
      open.list(arn, found, begun, isRead = _ => true)
    }
    found
  }

  /**
   * Returns all shards, for the start of a read. Lists again while a shard is listed without one of its parents: the
   * parent has expired, or the listing lacks it, and its records would never be read.
   */
  def withParents(arn: String): Seq[Shard] = withParents(arn, ShardFilter.FromTrimHorizon, _ => true)

  /**
   * Returns the shards that match a filter, in the same way.
   *
   * @param exists
   *   whether the stream has a parent that the listing lacks
   */
  private[session] def withParents(arn: String, filter: ShardFilter, exists: ShardId => Boolean): Seq[Shard] = {
    @scala.annotation.tailrec
    def look(times: Int, before: Seq[Shard]): Seq[Shard] = {
      val found = (all(arn, filter) ++ before).distinctBy(_.id)
      val ids = found.iterator.map(_.id).toSet
      val isWhole = found.forall(_.parents.forall(parent => ids(parent) || !exists(parent)))
      if (times >= ShardGraph.Omissions || isWhole) found else look(times + 1, found)
    }
    look(1, Nil)
  }

  /** Returns the shards that the listings have shown so far. A later listing may lack some of them. */
  def seen(arn: String): Seq[Shard] = synchronized(listed.getOrElse(arn, Nil))

  /**
   * The last time of the service, in epoch milliseconds, at which a listing has shown a shard as open. A listing may be
   * some seconds old.
   */
  def lastOpenMillis(shard: StreamShard): Option[Long] = synchronized(open.lastOpenMillis(shard))

  /** Forgets the shards of a stream that was recreated, which may have other shards of the same names. */
  private[session] def forget(arn: String): Unit = synchronized {
    listed -= arn
    open.forget(Set(arn))
  }
}

private[spark] object StreamShards {

  /** The number of listings in a row that may lack a shard which exists. */
  val LongestListings = 60

  /** Time between such listings. */
  val ListingPause: FiniteDuration = 1.second
}
