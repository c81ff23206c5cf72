package org.sparkkinesis.sink.route

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.event.{EventSink, StreamUsedAgain}
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.sink.kinesis.StreamPlace

/**
 * The physical streams that the writers of one process have left because of failures. A stream that was left is asked
 * again and again, and used again when it answers, so that not every task has to meet its failure. Thread-safe.
 *
 * A stream about which no writer has asked for [[RouteHealth.Forgotten]] is not asked any more and counts as usable.
 */
final class RouteHealth {
  import RouteHealth._

  final private class Left(val isPermanent: Boolean, @volatile var askedNanos: Long)

  @volatile private var left = Map.empty[StreamPlace, Left]
  @volatile private var changes = 0L

  /** Changes whenever a stream is left or used again. */
  def revision: Long = changes

  /** Whether the stream should not be used now. */
  def isDown(stream: PhysicalStream, nowNanos: Long): Boolean = {
    val entry = left.get(placeOf(stream))
    entry.foreach(_.askedNanos = nowNanos)
    entry.nonEmpty
  }

  /** Whether the stream was left because it does not exist or access to it is denied. */
  def isGone(stream: PhysicalStream): Boolean = left.get(placeOf(stream)).exists(_.isPermanent)

  /**
   * Leaves the stream until `probe` succeeds.
   *
   * @param probe
   *   asks the stream without blocking; a failed future keeps the stream left
   * @param every
   *   pause between two probes
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
    val isNew = !left.contains(place)
    val entry = new Left(isPermanent, scheduler.nanoTime)
    left = left.updated(place, entry)
    changes += 1
    if (isNew) next(place, stream, every, scheduler, events, probe)
    isNew
  }

  private def next(
      place: StreamPlace,
      stream: PhysicalStream,
      every: FiniteDuration,
      scheduler: Scheduler,
      events: EventSink,
      probe: () => CompletableFuture[_]
  ): Unit = {
    scheduler.schedule(every) {
      if (left.get(place).forall(entry => scheduler.nanoTime - entry.askedNanos > Forgotten.toNanos)) use(place)
      else
        probe().whenComplete { (_, failure) =>
          if (failure == null) {
            use(place)
            events.emit(StreamUsedAgain(stream.arn))
          } else next(place, stream, every, scheduler, events, probe)
        }
      ()
    }
    ()
  }

  private def use(place: StreamPlace): Unit = synchronized {
    left -= place
    changes += 1
  }
}

object RouteHealth {

  /** The health of all streams for the writers of this JVM. */
  lazy val OfJvm: RouteHealth = new RouteHealth

  /** Time after which the failure of a stream without a writer is removed. */
  val Forgotten: FiniteDuration = 10.minutes

  private def placeOf(stream: PhysicalStream): StreamPlace = StreamPlace(stream.arn, stream.endpoint.getOrElse(""))
}
