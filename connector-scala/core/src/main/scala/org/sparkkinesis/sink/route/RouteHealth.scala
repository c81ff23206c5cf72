package org.sparkkinesis.sink.route

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.event.{EventSink, StreamUsedAgain}
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.sink.kinesis.StreamPlace

/**
 * The physical streams that the writers of one process have left because of failures, so that not every task has to
 * meet the failure. Thread-safe.
 *
 * A stream that was left is asked again and again, with pauses that grow. When it answers, one writer tries it with one
 * record. It is used again when it has stored that record, since a stream may describe itself and yet store nothing. A
 * stream that no writer has asked about for [[RouteHealth.Forgotten]] is not asked, but stays left.
 */
final class RouteHealth {
  import RouteHealth._

  final private class Left(
      val isPermanent: Boolean,
      val every: FiniteDuration,
      val scheduler: Scheduler,
      val events: EventSink,
      val probe: () => CompletableFuture[_]
  ) {
    var phase: Phase = Idle
    var failures = 0
    @volatile var askedNanos: Long = scheduler.nanoTime

    /** The pause before the next probe. */
    def pause: FiniteDuration = (every * (1L << math.min(failures, MostDoublings))).min(every.max(LongestPause))
  }

  @volatile private var left = Map.empty[StreamPlace, Left]
  @volatile private var changes = 0L

  /** Changes whenever a stream is left, is on trial, or is used again. */
  def revision: Long = changes

  /** Whether the stream should not be used now. */
  def isDown(stream: PhysicalStream, nowNanos: Long): Boolean = {
    val place = placeOf(stream)
    val entry = left.get(place)
    entry.foreach { one =>
      one.askedNanos = nowNanos
      synchronized(if (one.phase == Idle && left.get(place).contains(one)) schedule(place, stream, one))
    }
    entry.nonEmpty
  }

  /** Whether the stream was left because it does not exist or access to it is denied. */
  def isGone(stream: PhysicalStream): Boolean = left.get(placeOf(stream)).exists(_.isPermanent)

  /** Whether the stream answers again and waits for a writer that tries it. */
  def isOnTrial(stream: PhysicalStream): Boolean = left.get(placeOf(stream)).exists(_.phase == OnTrial)

  /** Whether the caller is the one that tries the stream. It must tell the result to [[tried]]. */
  def startsTrial(stream: PhysicalStream): Boolean = synchronized {
    val entry = left.get(placeOf(stream)).filter(_.phase == OnTrial)
    entry.foreach(_.phase = Trying)
    if (entry.nonEmpty) changes += 1
    entry.nonEmpty
  }

  /** The trial of a stream has ended. */
  def tried(stream: PhysicalStream, isStored: Boolean): Unit = {
    val place = placeOf(stream)
    val entry = synchronized {
      val one = left.get(place).filter(_.phase == Trying)
      one.foreach(trying => if (isStored) use(place) else failed(place, stream, trying))
      one
    }
    if (isStored) entry.foreach(_.events.emit(StreamUsedAgain(stream.arn)))
  }

  /**
   * Leaves the stream until it answers to `probe` and stores a record.
   *
   * @param probe
   *   asks the stream without blocking; a failed future keeps the stream left
   * @param every
   *   pause before the first probe
   * @return
   *   whether the stream was in use
   */
  def leave(
      stream: PhysicalStream,
      isPermanent: Boolean,
      every: FiniteDuration,
      scheduler: Scheduler,
      events: EventSink
  )(probe: () => CompletableFuture[_]): Boolean = synchronized {
    val place = placeOf(stream)
    val before = left.get(place)
    if (before.forall(_.isPermanent != isPermanent)) {
      val entry = new Left(isPermanent, every, scheduler, events, probe)
      left = left.updated(place, entry)
      schedule(place, stream, entry)
    }
    changes += 1
    before.isEmpty
  }

  private def schedule(place: StreamPlace, stream: PhysicalStream, entry: Left): Unit = {
    entry.phase = Probing
    entry.scheduler.schedule(entry.pause)(ask(place, stream, entry))
    ()
  }

  private def ask(place: StreamPlace, stream: PhysicalStream, entry: Left): Unit = {
    val goesOn = synchronized {
      val isWanted = entry.scheduler.nanoTime - entry.askedNanos <= Forgotten.toNanos
      if (!isWanted) entry.phase = Idle
      isWanted && left.get(place).contains(entry)
    }
    if (goesOn) {
      Futures.attempt[Any](entry.probe().thenApply[Any](identity)).whenComplete { (_, failure) =>
        synchronized {
          if (left.get(place).contains(entry))
            if (failure == null) {
              entry.phase = OnTrial
              changes += 1
            } else failed(place, stream, entry)
        }
      }
      ()
    }
  }

  private def failed(place: StreamPlace, stream: PhysicalStream, entry: Left): Unit = {
    entry.failures += 1
    schedule(place, stream, entry)
  }

  private def use(place: StreamPlace): Unit = {
    left -= place
    changes += 1
  }
}

object RouteHealth {

  /** The health of all streams for the writers of this JVM. */
  lazy val OfJvm: RouteHealth = new RouteHealth

  /** Time without a writer that asks about a stream after which the stream is not asked any more. */
  val Forgotten: FiniteDuration = 10.minutes

  private val LongestPause = 5.minutes
  private val MostDoublings = 10

  /** What happens to a stream that was left. */
  sealed private trait Phase

  /** Nobody wants to use the stream. */
  private case object Idle extends Phase
  private case object Probing extends Phase
  private case object OnTrial extends Phase
  private case object Trying extends Phase

  private def placeOf(stream: PhysicalStream): StreamPlace = StreamPlace(stream.arn, stream.endpoint.getOrElse(""))
}
