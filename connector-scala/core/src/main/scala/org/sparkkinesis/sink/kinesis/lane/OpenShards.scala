package org.sparkkinesis.sink.kinesis.lane

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.event.{ConnectorEvent, EventSink, ShardMapNotRefreshed, ShardMapRefreshed}
import org.sparkkinesis.model.{HashPoint, ShardId, StreamRef}
import org.sparkkinesis.retry.{Retrier, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{KinesisService, ShardFilter}
import org.sparkkinesis.shard.{ShardLister, ShardMap}

/**
 * Which shard will take which record.
 *
 * @param isDoubtful
 *   whether an answer has shown a record of this shard in another one, and no listing has explained it yet
 */
final case class Placement(map: ShardMap, isDoubtful: ShardId => Boolean)

/** What an answer of the service says about the shard map. */
sealed abstract class Sighting

object Sighting {

  /** Every record went where the map says. */
  case object AsExpected extends Sighting

  /** The request was sent before the shards were last listed, and a record went to another shard than it would go to now. */
  case object Late extends Sighting

  /** A record went to another shard: the stream was resharded, or the listing was not up to date. */
  case object Elsewhere extends Sighting

  /** No reshard explains where this record went: another stream of the same name, or one that does not go by hash keys. */
  final case class Refuted(shard: ShardId, point: HashPoint) extends Sighting
}

/**
 * What the writers of this JVM know of the open shards of one stream. Thread-safe; never blocks.
 *
 * The service tells with each record which shard took it, so a map is known to be true for as long as answers agree with it. A
 * stream that is deleted and created again under its name is told by a gap in these answers: after [[OpenShards.Continuity]]
 * without one, the map counts as confirmed only when the shards have been listed again.
 *
 * @param changed
 *   is told of each new map, and whether it may be of the same stream as the one before
 */
final class OpenShards(scheduler: Scheduler, changed: (ShardMap, Boolean) => Unit) {
  import OpenShards._

  /** One listing, and where its events go. */
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

  /** Shards whose records went elsewhere, and when that was noticed. */
  private var doubts = Map.empty[ShardId, Long]
  private var running: Option[Listing] = None
  private var queued: Option[Listing] = None
  private var failedAt: Option[Long] = None

  /** The last complete listing. */
  def map: Option[ShardMap] = current

  /** What records may be packed by at this time; none when the shards have to be listed first. */
  def placement: Option[Placement] = synchronized {
    current.filter(_ => isConfirmed).map { map =>
      val doubtful = doubts.keySet
      Placement(map, doubtful)
    }
  }

  /** Whether the map is known to be of the stream that there is now. */
  def isConfirmed: Boolean = synchronized {
    current.isDefined && scheduler.nanoTime - confirmedAt < Continuity.toNanos
  }

  /** Whether a listing failed so recently that another one should wait. */
  def hasJustFailed: Boolean = synchronized(failedAt.exists(scheduler.nanoTime - _ < FailureRest.toNanos))

  /**
   * Takes note of which shards took the records of a request.
   *
   * @param taken
   *   for each accepted record its shard and its hash key
   * @param sentAt
   *   when the request was sent
   */
  def saw(taken: Iterator[(ShardId, HashPoint)], sentAt: Long): Sighting = current.fold[Sighting](Sighting.AsExpected) {
    map =>
      val expected = Set.newBuilder[ShardId]
      var elsewhere = Set.empty[ShardId]
      var refuted = Option.empty[Sighting]
      taken.foreach { case (shard, point) =>
        val meant = map.shardOf(point)
        if (shard == meant) expected += meant
        else {
          elsewhere += meant
          if (refuted.isEmpty && map.isRefutedBy(shard, point)) refuted = Some(Sighting.Refuted(shard, point))
        }
      }
      note(map, expected.result() -- elsewhere, elsewhere, refuted, sentAt)
  }

  /**
   * Lists the shards, with a listing that begins after this call. Calls that come meanwhile share the next one. Fails when the
   * listing fails, or does not tell a shard for each hash key.
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

  /** Lists the shards unless the map is confirmed; shares a listing that is under way. */
  def confirm(service: KinesisService, stream: StreamRef, events: EventSink): CompletableFuture[ShardMap] = {
    val known = synchronized {
      if (isConfirmed) current.map(CompletableFuture.completedFuture(_)) else running.map(_.result)
    }
    known.getOrElse(list(service, stream, events))
  }

  private def begin(listing: Listing): Option[Listing] = {
    listing.startedAt = scheduler.nanoTime
    running = Some(listing)
    running
  }

  private def note(
      map: ShardMap,
      expected: Set[ShardId],
      elsewhere: Set[ShardId],
      refuted: Option[Sighting],
      sentAt: Long
  ): Sighting = synchronized {
    val now = scheduler.nanoTime
    if (!current.contains(map) || sentAt - listedAt < 0) if (elsewhere.isEmpty) Sighting.AsExpected else Sighting.Late
    else {
      val isNews = elsewhere.exists(!doubts.contains(_)) || now - listedAt >= Relisting.toNanos
      doubts = doubts.filterNot { case (shard, notedAt) => expected(shard) && sentAt - notedAt > 0 } ++
        elsewhere.map(_ -> now)
      if (elsewhere.isEmpty) {
        if (sentAt - confirmedAt < Continuity.toNanos) confirmedAt = math.max(confirmedAt, sentAt)
        Sighting.AsExpected
      } else if (isNews) refuted.getOrElse(Sighting.Elsewhere)
      else Sighting.AsExpected
    }
  }

  private def start(listing: Listing): Unit = {
    val retrier = new Retrier(scheduler, RetryRules.Default)
    new ShardLister(listing.service, retrier, NoRetries, scheduler).list(listing.stream, ShardFilter.AtLatest)
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
          failedAt = Some(scheduler.nanoTime)
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

  /** A listing that finds the same shards is no news. */
  private def install(map: ShardMap, startedAt: Long, stream: String): Option[ConnectorEvent] = {
    val before = current
    val isSame = before.forall(_.agreesWith(map))
    // A shard that is listed still, though its records went elsewhere, is listed out of date.
    doubts = if (isSame) doubts.filter { case (shard, _) => map.knows(shard) } else Map.empty
    current = Some(map)
    listedAt = startedAt
    confirmedAt = startedAt
    failedAt = None
    changed(map, isSame)
    Option.when(!isSame || !before.exists(_.hasShardsOf(map)))(
      ShardMapRefreshed(stream, map.size, isFirst = before.isEmpty || !isSame)
    )
  }
}

object OpenShards {

  /** A stream cannot be deleted and created again within this time. */
  val Continuity: FiniteDuration = 2.seconds

  /** How long a listing that does not explain what was seen is left alone. */
  private val Relisting: FiniteDuration = 1.second
  private val FailureRest: FiniteDuration = 1.second

  /** A listing that fails is known at once, so that records need not wait for the next one. */
  private val NoRetries = RetryPolicy(Some(0), 200.millis, 3.seconds, 1.5)
}

/** A listing does not tell a shard for each hash key, as can happen while a stream is resharded. */
final class IncompleteListingException(stream: StreamRef, why: String)
    extends RuntimeException(s"the listing of stream $stream is not complete: $why")
