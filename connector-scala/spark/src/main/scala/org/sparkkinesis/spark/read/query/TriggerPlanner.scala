package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.plan._
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.connection.ServiceClock
import org.sparkkinesis.spark.coordinator.PrefetchView

/**
 * Plans the micro-batches of one query, for each kind of trigger. For the query's thread; planning may block.
 *
 * @param view
 *   returns the prefetched records; called when the first batch is planned
 * @param limits
 *   limits of one micro-batch
 * @param minimum
 *   minimum number of rows for which a processing-time trigger waits
 * @param oldestMillis
 *   returns a time, in epoch milliseconds, before which the records of a stream have expired
 */
final private[query] class TriggerPlanner(
    view: => PrefetchView,
    limits: ReadLimits,
    minimum: Option[MinimumRecords],
    serviceClock: ServiceClock,
    oldestMillis: String => Long,
    clock: Clock
) {
  import TriggerPlanner._

  private lazy val prefetched = view
  private var end: Option[FixedEnd] = None
  private var nanos = 0L

  /**
   * Whether the consumers have reported, for every shard, the records that existed when the query started, or had
   * enough time for it.
   */
  private var hasLooked = false
  private lazy val firstNanos = clock.nanoTime

  /** Time when planning began. The service's clock may be anywhere between its bounds, so this is the later one. */
  private lazy val atBegin = AvailableNowTarget(serviceClock.atMost)
  private var lastBatchNanos = clock.nanoTime
  private var hasPlanned = false

  /** Time when the query began to wait for shards whose positions have no time. */
  private var firstWaitNanos: Option[Long] = None

  /** The change count and start offset at which there was nothing to plan. */
  private var nothingAt: Option[(Long, SourceOffset)] = None

  /** The end of a query with `Trigger.AvailableNow`. */
  def target: Option[AvailableNowTarget] = end.map(_.target)

  /** Fixes the service's current time as the end for `Trigger.AvailableNow`. */
  def endNow(): Unit = end = Some(fixedNow())

  private def fixedNow(): FixedEnd = FixedEnd(AvailableNowTarget(serviceClock.atMost), clock.nanoTime)

  /** Returns the planning time of the latest batch in nanoseconds. */
  def planningNanos: Long = nanos

  /** Adds the time that another part of planning the latest batch took. */
  def notePlanning(time: Long): Unit = nanos += time

  /**
   * Plans the next micro-batch, and waits for records as the trigger requires. Returns `None` when there is nothing to
   * read, or when the start offset is not valid any more.
   *
   * @param allAvailable
   *   whether one batch takes every available record, as `Trigger.Once` requires
   * @param isStale
   *   called after each wait: whether the start offset is not valid any more
   */
  def plan(from: SourceOffset, allAvailable: Boolean, isStale: => Boolean): Option[PlannedBatch] = {
    val fixed = end.orElse(Option.when(allAvailable)(fixedNow()))
    fixed.foreach(one => prefetched.targets.requireOpenShards(one.nanos))
    @scala.annotation.tailrec
    def look(): Option[PlannedBatch] =
      fixed.map(_.target).fold(now(from))(until =>
        if (allAvailable) everything(from, until) else upTo(from, until)
      ) match {
        case Done(batch) => batch
        case Wait(seen, millis) =>
          await(seen, millis)
          if (isStale) None else look()
      }
    look()
  }

  /** Records that a planned batch is the query's next one. It is not if a stream was found to be recreated. */
  def noteBatch(): Unit = {
    lastBatchNanos = clock.nanoTime
    hasPlanned = true
  }

  /** Waits for a change, but not for long if a stream must be described before more can be planned. */
  private def await(seen: Long, millis: Long): Unit = prefetched.awaitChange(
    seen,
    if (prefetched.unproven.isEmpty) millis else math.min(millis, StreamProofs.Pause.toMillis)
  )

  private def millisSinceLast: Long = (clock.nanoTime - lastBatchNanos) / 1000000

  /**
   * Returns for how many milliseconds the next batch still waits for more records of a backlog. The first batch does
   * not wait, and the user's minimum decides if there is one.
   */
  private def growMillis: Long = {
    val wait =
      if (hasPlanned && minimum.isEmpty) Backlog.waitMillis(prefetched.millisBehind, millisSinceLast) else 0
    if (wait > 0 && (prefetched.bufferIsFull || prefetched.fillBatch(limits))) 0 else wait
  }

  /**
   * Plans when the consumers have fetched every shard at least once whose position has no time, for example at the
   * trim horizon. A batch that ends at such a position would hide, after a restart, that records of the shard expired.
   * A shard that cannot be fetched delays the first batch by a few seconds only; its position then has the time of the
   * oldest record that the stream may have.
   */
  private def select(from: SourceOffset, limits: ReadLimits, until: Option[AvailableNowTarget]): Step = {
    val seen = prefetched.changes
    val began = clock.nanoTime
    val isLate = firstWaitNanos.exists(began - _ >= FirstLook.toNanos)
    val batch = prefetched.plan(from, limits, until, evenUntimed = isLate)
    val isTimed = batch.forall(_.end.isTimed)
    if (isTimed || isLate) {
      if (batch.nonEmpty) nanos = clock.nanoTime - began
      Done(
        if (isTimed) batch else batch.map(planned => planned.copy(end = prefetched.timed(planned.end, oldestMillis)))
      )
    } else {
      firstWaitNanos = firstWaitNanos.orElse(Some(began))
      Wait(seen, LongestWaitMillis)
    }
  }

  /**
   * Plans for a processing-time trigger: the available records, or nothing. Before the first answer "nothing" it
   * waits until the consumers have fetched every shard once, because `processAllAvailable` returns on that answer. It
   * does not wait for long, because the query's other sources wait as well.
   */
  private def now(from: SourceOffset): Step = {
    val seen = prefetched.changes
    // Spark asks every few milliseconds. Without a change there is nothing new to plan, unless a minimum depends on
    // the time.
    if (minimum.isEmpty && nothingAt.exists { case (changes, start) => changes == seen && (start eq from) }) Done(None)
    else {
      hasLooked ||= prefetched.targets.everyTipIsReached(atBegin) || clock.nanoTime - firstNanos >= LongestLook.toNanos
      val enough = minimum.forall(_.isReached(prefetched.availableRows, millisSinceLast, prefetched.bufferIsFull))
      val grow = growMillis
      nothingAt = None
      if (grow > 0) Wait(seen, grow)
      else
        (if (enough) select(from, limits, None) else Done(None)) match {
          case Done(None) if hasLooked =>
            nothingAt = Some((seen, from))
            Done(None)
          case Done(None) => Wait(seen, LongestWaitMillis)
          case step => step
        }
    }
  }

  /** Plans for `Trigger.AvailableNow`. It waits for records, because the answer "nothing" ends the query. */
  private def upTo(from: SourceOffset, until: AvailableNowTarget): Step = {
    val seen = prefetched.changes
    val grow = growMillis
    if (grow > 0 && !prefetched.targets.everythingIsFetched(until)) Wait(seen, grow)
    else
      select(from, limits, Some(until)) match {
        case Done(None) if !prefetched.targets.isReached(until) => Wait(seen, LongestWaitMillis)
        case step => step
      }
  }

  /**
   * Plans for `Trigger.Once`: one batch with every available record. If the buffers cannot hold them, tasks read them
   * from the service.
   */
  private def everything(from: SourceOffset, until: AvailableNowTarget): Step = {
    val seen = prefetched.changes
    if (prefetched.targets.everythingIsFetched(until)) select(from, ReadLimits.Unlimited, Some(until))
    else {
      if (prefetched.bufferIsFull) prefetched.readAhead()
      Wait(seen, LongestWaitMillis)
    }
  }
}

private object TriggerPlanner {

  /** What follows from the records that are prefetched now. */
  sealed trait Step

  /** @param batch the next batch; `None` when there is nothing to read */
  final case class Done(batch: Option[PlannedBatch]) extends Step

  /**
   * Waits, at most this many milliseconds.
   *
   * @param seen
   *   the number of changes that were known
   */
  final case class Wait(seen: Long, millis: Long) extends Step

  /** @param nanos the time when the target was fixed, in nanoseconds of this process's clock */
  final case class FixedEnd(target: AvailableNowTarget, nanos: Long)

  /** Maximum time before the first answer, for example when the service is not available. */
  val LongestLook: FiniteDuration = 30.seconds

  /** Maximum time of one wait in milliseconds, so that a missed notification only delays the query. */
  val LongestWaitMillis = 1000L

  /** Maximum time for which the first batch waits for shards that cannot be fetched. */
  val FirstLook: FiniteDuration = 10.seconds
}
