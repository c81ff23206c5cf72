package org.sparkkinesis.sink.kinesis.lane

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.event.{ConnectorEvent, EventSink, ShardMapNotRefreshed, ShardMapRefreshed}
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.retry.{Retrier, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{KinesisService, ShardFilter}
import org.sparkkinesis.shard.{ShardLister, ShardMap}

/**
 * Predicts the shard of each record.
 *
 * @param isDoubtful
 *   whether a response contained a record of this shard in another shard, and no listing has explained it yet
 */
final case class ShardPrediction(map: ShardMap, isDoubtful: ShardId => Boolean)

/**
 * The numbers of the shards in which a map expects the records of a request. It is created when the request is sent,
 * because the records are still in the processor's cache then.
 */
final class ExpectedShards private[lane] (private[lane] val map: ShardMap, private[lane] val numbers: Array[Int])

/**
 * The known open shards of one stream in this JVM. Thread-safe and non-blocking.
 *
 * Each response names the shards of its records, so a map is confirmed while responses agree with it. A recreated
 * stream is detected by a gap between responses: after [[OpenShards.Continuity]] without a response, or with a response
 * that takes as long, the map is confirmed only when the shards are listed again.
 *
 * @param policy
 *   retry policy of ListShards. Records wait for a listing, so a failed one is reported at once, and the pauses of the
 *   policy are between listings.
 * @param changed
 *   receives each new map, and whether it may belong to the same stream as the previous one
 */
final class OpenShards(
    scheduler: Scheduler,
    policy: RetryPolicy,
    rules: RetryRules,
    changed: (ShardMap, Boolean) => Unit
) {
  import OpenShards._

  /** One listing, and the receiver of its events. */
  final private class Listing(
      val result: CompletableFuture[ShardMap],
      val service: KinesisService,
      val stream: StreamRef,
      val events: EventSink
  ) {
    var startedAt = 0L
  }

  @volatile private var current: Option[ShardMap] = None
  private var listedAt = 0L
  private var confirmedAt = 0L

  /** Shards whose records are in other shards, and the time at which that was detected. */
  private var doubts = Map.empty[ShardId, Long]
  private var running: Option[Listing] = None
  private var queued: Option[Listing] = None

  /** Whether a response has shown that the map is outdated, and the listing that follows has not begun. */
  private var isOutdated = false
  private val once = policy.copy(maxRetries = Some(0), healTime = Duration.Zero)
  private var failedAt = 0L
  private var failures = 0

  /** The last complete listing. */
  def map: Option[ShardMap] = current

  /** Returns the prediction for the records that are packed now, or `None` if the shards must be listed first. */
  def prediction: Option[ShardPrediction] = synchronized {
    current.filter(_ => isConfirmed).map { map =>
      val doubtful = doubts.keySet
      ShardPrediction(map, doubtful)
    }
  }

  /** Whether the map is known to belong to the current stream. */
  def isConfirmed: Boolean = synchronized {
    current.isDefined && scheduler.nanoTime - confirmedAt < Continuity.toNanos
  }

  /** Whether a listing is in progress, or follows because a response has shown that the map is outdated. */
  def isListing: Boolean = synchronized(running.isDefined || isOutdated)

  /** The listing in progress. */
  def listing: Option[CompletableFuture[ShardMap]] = synchronized(running.map(_.result))

  /** Whether a listing failed so recently that the next one should wait. */
  def hasJustFailed: Boolean = synchronized {
    failures > 0 && scheduler.nanoTime - failedAt < policy.bound(failures).toNanos
  }

  /**
   * Returns where the current map expects the records of a request, or `None` without a map.
   *
   * @param numberAt
   *   number of a record's shard in a map
   */
  def expect(count: Int, numberAt: (ShardMap, Int) => Int): Option[ExpectedShards] = current.map { map =>
    val numbers = new Array[Int](count)
    var i = 0
    while (i < count) {
      numbers(i) = numberAt(map, i)
      i += 1
    }
    new ExpectedShards(map, numbers)
  }

  /**
   * Compares the shards of a response with the map.
   *
   * @param count
   *   number of records
   * @param shardAt
   *   shard of a record; `None` if it was not accepted
   * @param pointAt
   *   hash key of a record
   * @param sentAt
   *   time at which the request was sent
   * @param expected
   *   where a map expected the records when the request was sent
   */
  def saw(
      count: Int,
      shardAt: Int => Option[ShardId],
      pointAt: Int => HashPoint,
      sentAt: Long,
      expected: Option[ExpectedShards] = None
  ): Sighting =
    current.fold[Sighting](Sighting.Unlisted) { map =>
      val numbers = expected.filter(_.map eq map).fold[Array[Int]](null)(_.numbers)
      val isSeen = new Array[Boolean](map.size)
      var elsewhere = Set.empty[ShardId]
      var refuted = Option.empty[Refutation]
      var i = 0
      while (i < count) {
        val shard = shardAt(i)
        if (shard.isDefined) {
          val meant = if (numbers == null) map.indexOf(pointAt(i)) else numbers(i)
          if (shard.get == map.shard(meant)) isSeen(meant) = true
          else {
            val point = pointAt(i)
            elsewhere += map.shard(meant)
            if (refuted.isEmpty && map.isRefutedBy(shard.get, point))
              refuted = Some(Refutation(map, shard.get, point))
          }
        }
        i += 1
      }
      note(map, isSeen.indices.iterator.filter(isSeen).map(map.shard).toSet -- elsewhere, elsewhere, refuted, sentAt)
    }

  /**
   * Lists the shards. The listing begins after this call; calls during a listing share the next one. The future fails
   * if the listing fails or does not cover all hash keys.
   */
  def list(service: KinesisService, stream: StreamRef, events: EventSink): CompletableFuture[ShardMap] = {
    val listing = new Listing(new CompletableFuture[ShardMap], service, stream, events)
    val (shared, begins) = synchronized {
      (running, queued) match {
        case (None, _) => (listing.result, begin(listing))
        case (_, Some(next)) => (next.result, None)
        case (_, None) =>
          queued = Some(listing)
          (listing.result, None)
      }
    }
    begins.foreach(start)
    shared
  }

  /** Lists the shards unless the map is confirmed. Shares a listing in progress. */
  def confirm(service: KinesisService, stream: StreamRef, events: EventSink): CompletableFuture[ShardMap] = {
    val known = synchronized {
      if (isConfirmed) current.map(CompletableFuture.completedFuture(_)) else running.map(_.result)
    }
    known.getOrElse(list(service, stream, events))
  }

  private def begin(listing: Listing): Option[Listing] = {
    listing.startedAt = scheduler.nanoTime
    running = Some(listing)
    isOutdated = false
    running
  }

  private def note(
      map: ShardMap,
      expected: Set[ShardId],
      elsewhere: Set[ShardId],
      refuted: Option[Refutation],
      sentAt: Long
  ): Sighting = synchronized {
    val now = scheduler.nanoTime
    if (!current.contains(map)) late(elsewhere, None)
    else if (sentAt - listedAt < 0) late(elsewhere, refuted.filter(_ => listedAt - sentAt < Continuity.toNanos))
    else {
      val isNews = elsewhere.exists(!doubts.contains(_)) || now - listedAt >= Relisting.toNanos
      doubts = doubts.filterNot { case (shard, notedAt) => expected(shard) && sentAt - notedAt > 0 } ++
        elsewhere.map(_ -> now)
      if (elsewhere.isEmpty) {
        // A response without a stored record says nothing about the shards. The stream handled the request between
        // `sentAt` and now: if that may be later than `Continuity` after the last confirmation, it may be a recreated
        // stream, whose shards have the same names.
        if (expected.nonEmpty && now - confirmedAt < Continuity.toNanos) confirmedAt = math.max(confirmedAt, sentAt)
        Sighting.AsExpected
      } else {
        if (isNews) isOutdated = true
        refuted.fold[Sighting](if (isNews) Sighting.Elsewhere else Sighting.AsExpected)(Sighting.Refuted(_, isNews))
      }
    }
  }

  private def late(elsewhere: Set[ShardId], refuted: Option[Refutation]): Sighting =
    if (elsewhere.isEmpty) Sighting.AsExpected else Sighting.Late(refuted)

  private def start(listing: Listing): Unit = {
    val retrier = new Retrier(scheduler, rules)
    new ShardLister(
      listing.service.listShards(_, _, _),
      retrier,
      once,
      scheduler
    ).list(listing.stream, ShardFilter.AtLatest)
      .whenComplete { (shards, error) =>
        ended(
          listing,
          if (error != null) Left(Futures.unwrap(error))
          else ShardMap.of(shards).left.map(why => new IncompleteListingException(listing.stream, why))
        )
      }
    ()
  }

  private def ended(listing: Listing, outcome: Either[Throwable, ShardMap]): Unit = {
    val stream = listing.stream.toString
    val (news, next) = synchronized {
      val news = outcome match {
        case Right(map) => install(map, listing.startedAt, stream)
        case Left(error) =>
          failedAt = scheduler.nanoTime
          failures += 1
          Some(ShardMapNotRefreshed(stream, String.valueOf(Futures.unwrap(error).getMessage)))
      }
      running = None
      val waiting = queued
      queued = None
      (news, waiting.flatMap(begin))
    }
    news.foreach(listing.events.emit)
    outcome.fold(listing.result.completeExceptionally(_), listing.result.complete(_))
    next.foreach(start)
  }

  /** A listing with the same shards is not reported. */
  private def install(map: ShardMap, startedAt: Long, stream: String): Option[ConnectorEvent] = {
    val before = current
    val isSame = before.forall(_.agreesWith(map))
    // If a shard is still listed although its records are in other shards, the listing is outdated.
    doubts = if (isSame) doubts.filter { case (shard, _) => map.knows(shard) } else Map.empty
    current = Some(map)
    listedAt = startedAt
    confirmedAt = startedAt
    failures = 0
    changed(map, isSame)
    Option.when(!isSame || !before.exists(_.hasShardsOf(map)))(
      ShardMapRefreshed(stream, map.size, isFirst = before.isEmpty || !isSame)
    )
  }
}

object OpenShards {

  /** Minimum time in which a stream can be deleted and recreated. */
  val Continuity: FiniteDuration = 2.seconds

  /** Minimum time between listings that do not explain a response. */
  private val Relisting: FiniteDuration = 1.second
}

/** A listing does not cover all hash keys, which can happen during a reshard. */
final class IncompleteListingException(stream: StreamRef, why: String)
    extends RuntimeException(s"the listing of stream $stream is not complete: $why")
