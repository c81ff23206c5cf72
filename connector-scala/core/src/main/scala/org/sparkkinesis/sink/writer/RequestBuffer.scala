package org.sparkkinesis.sink.writer

import java.util.{ArrayDeque, PriorityQueue}

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.sparkkinesis.sink.limit.Lane

/** An entry that is not acknowledged yet, with its state in the writer. */
final private[sink] class Pending[Entry](
    val entry: Entry,
    val size: Int,
    val key: Option[Any],
    var lane: Lane,
    val writtenAt: Long,
    val ordinal: Long
) {

  /** Number of times that it was sent. */
  var attempts = 0

  /** Number of attempts that failed for another reason than throttling. */
  var failures = 0

  /** Last response of the destination; empty if there was none. */
  var lastReason = ""

  /**
   * The entry was already delayed by a backoff or by an earlier entry with its key; it is sent without waiting for a
   * full batch.
   */
  var urgent = false
  var restsUntil = 0L
}

/**
 * The entries that wait to be sent, by lane. Pure, without I/O and clock. Not thread-safe; the writer's lock guards it.
 *
 * An entry is in the queue of its lane, or in backoff after a failure, or behind an earlier unacknowledged entry with
 * its order key. A lane at its limit is paused until the time that it reports.
 */
final private[sink] class RequestBuffer[Entry](keepsKeysTogether: Boolean) {
  private type P = Pending[Entry]

  final private class LaneQueue(val lane: Lane) {
    val entries = new ArrayDeque[P]
    var bytes = 0L
    var urgent = 0
    var listed = false
    var paused = false
    var pausedUntil = 0L
  }

  private val lanes = mutable.HashMap.empty[Lane, LaneQueue]
  private var lastLane: LaneQueue = null
  private val active = new ArrayDeque[LaneQueue]
  private val paused = new PriorityQueue[LaneQueue]((a, b) => java.lang.Long.signum(a.pausedUntil - b.pausedUntil))
  private val resting = new PriorityQueue[P]((a, b) => java.lang.Long.signum(a.restsUntil - b.restsUntil))
  private val held = mutable.HashMap.empty[Any, ArrayDeque[P]]

  private var all = 0
  private var open = 0
  private var bytesOpen = 0L
  private var urgentOpen = 0
  private var pausedSince = 0L

  /** Time during which at least one lane was paused. */
  var pausedNanos = 0L

  /** Number of waiting entries in all states. */
  def size: Int = all

  /** Number of entries that may be sent now. */
  def openEntries: Int = open

  /** Upper bound of the entries in one request. */
  def sendableAtMost: Int = if (keepsKeysTogether) all else open
  def openBytes: Long = bytesOpen
  def hasUrgent: Boolean = urgentOpen > 0

  /** All waiting entries, in no particular order. */
  def entries: Iterator[P] = lanes.valuesIterator.flatMap(_.entries.iterator.asScala) ++ resting.iterator.asScala ++
    held.valuesIterator.flatMap(_.iterator.asScala)

  def add(entry: P): Unit = {
    all += 1
    entry.key match {
      case Some(key) if held.contains(key) => held(key).addLast(entry)
      case key =>
        key.foreach(held.update(_, new ArrayDeque[P](0)))
        enqueue(entry, first = false)
    }
  }

  /**
   * Takes the entries of a request from the open lanes in turn. If `keepsKeysTogether`, entries behind a taken one with
   * the same key follow it.
   */
  def take(maxEntries: Int, maxBytes: Long, now: Long): IndexedSeq[P] = {
    val batch = new mutable.ArrayBuffer[P](math.min(maxEntries, open))
    val limit = new BatchLimit(maxEntries, maxBytes)
    while (!limit.reached && !active.isEmpty) {
      val queue = active.peekFirst()
      takeFrom(queue, math.max(1, maxEntries / active.size), batch, limit, now)
      if (!limit.reached) {
        active.removeFirst()
        queue.listed = false
        list(queue)
      }
    }
    ArraySeq.untagged.from(batch)
  }

  /**
   * Processes the end of a request: `failed` entries return after their backoff, and the keys of the other entries are
   * released.
   */
  def settle(batch: IndexedSeq[P], failed: IndexedSeq[P]): Unit = {
    val failedByKey = failed.groupBy(_.key)
    failedByKey.foreach {
      case (None, entries) => entries.foreach(rest)
      case (Some(key), entries) =>
        rest(entries.head)
        all += entries.size - 1
        entries.tail.reverseIterator.foreach(held(key).addFirst(_))
    }
    if (held.nonEmpty) {
      val done = batch.reverseIterator.map(_.key).filter(key => key.isDefined && !failedByKey.contains(key)).distinct
      done.foreach(_.foreach(release))
    }
  }

  /** Returns entries after their backoff in the order of `write`, and opens lanes that are ready. */
  def advance(now: Long): Unit = {
    val hadPaused = !paused.isEmpty
    while (!paused.isEmpty && paused.peek.pausedUntil - now <= 0) {
      val queue = paused.poll()
      queue.paused = false
      count(queue, 1)
      list(queue)
    }
    if (hadPaused && paused.isEmpty) pausedNanos += now - pausedSince
    if (!resting.isEmpty && resting.peek.restsUntil - now <= 0) {
      val due = mutable.ArrayBuffer.empty[P]
      while (!resting.isEmpty && resting.peek.restsUntil - now <= 0) due += resting.poll()
      due.sortBy(-_.ordinal).foreach { entry => entry.urgent = true; enqueue(entry, first = true) }
    }
  }

  /** Next time at which [[advance]] has something to do. */
  def nextEventAt: Option[Long] =
    (Option(paused.peek).map(_.pausedUntil) ++ Option(resting.peek).map(_.restsUntil)).reduceOption((a, b) =>
      if (a - b < 0) a else b
    )

  /** Time of `write` of the oldest entry at the head of an open lane. */
  def oldestOpen: Option[Long] =
    active.iterator.asScala.flatMap(queue => Option(queue.entries.peekFirst())).minByOption(_.ordinal).map(_.writtenAt)

  /** The oldest waiting entry that is not in backoff. */
  def oldest: Option[P] =
    lanes.valuesIterator.flatMap(queue => Option(queue.entries.peekFirst())).minByOption(_.ordinal)

  private def takeFrom(
      queue: LaneQueue,
      share: Int,
      batch: mutable.ArrayBuffer[P],
      limit: BatchLimit,
      now: Long
  ): Unit = {
    var left = share
    while (left > 0 && !limit.reached && !queue.entries.isEmpty) {
      val entry = queue.entries.peekFirst()
      if (!limit.admits(entry)) limit.reached = true
      else if (!queue.lane.tryTake(entry.size, now)) {
        pause(queue, now)
        left = 0
      } else {
        queue.entries.removeFirst()
        tally(queue, entry, -1)
        put(entry, batch, limit)
        if (keepsKeysTogether) entry.key.foreach(takeFollowers(_, batch, limit, now))
        left -= 1
      }
    }
  }

  private def takeFollowers(key: Any, batch: mutable.ArrayBuffer[P], limit: BatchLimit, now: Long): Unit = {
    val followers = held(key)
    def next: P = followers.peekFirst()
    while (!limit.reached && !followers.isEmpty && limit.admits(next) && next.lane.tryTake(next.size, now))
      put(followers.removeFirst(), batch, limit)
  }

  private def put(entry: P, batch: mutable.ArrayBuffer[P], limit: BatchLimit): Unit = {
    all -= 1
    limit.add(entry)
    batch += entry
  }

  private def rest(entry: P): Unit = {
    all += 1
    resting.add(entry)
  }

  private def release(key: Any): Unit = {
    val followers = held(key)
    if (followers.isEmpty) held.remove(key)
    else {
      val next = followers.removeFirst()
      next.urgent = true
      enqueue(next, first = true)
    }
  }

  private def enqueue(entry: P, first: Boolean): Unit = {
    val queue = queueOf(entry.lane)
    if (first) queue.entries.addFirst(entry) else queue.entries.addLast(entry)
    tally(queue, entry, 1)
    list(queue)
  }

  private def queueOf(lane: Lane): LaneQueue = {
    if (lastLane == null || (lastLane.lane ne lane)) lastLane = lanes.getOrElseUpdate(lane, new LaneQueue(lane))
    lastLane
  }

  private def tally(queue: LaneQueue, entry: P, sign: Int): Unit = {
    val urgent = if (entry.urgent) sign else 0
    queue.bytes += sign * entry.size
    queue.urgent += urgent
    if (!queue.paused) {
      open += sign
      bytesOpen += sign * entry.size
      urgentOpen += urgent
    }
  }

  private def list(queue: LaneQueue): Unit = if (!queue.listed && !queue.paused && !queue.entries.isEmpty) {
    queue.listed = true
    active.addLast(queue)
  }

  private def pause(queue: LaneQueue, now: Long): Unit = {
    queue.paused = true
    queue.pausedUntil = queue.lane.readyAtNanos(now)
    count(queue, -1)
    if (paused.isEmpty) pausedSince = now
    paused.add(queue)
  }

  private def count(queue: LaneQueue, sign: Int): Unit = {
    open += sign * queue.entries.size
    bytesOpen += sign * queue.bytes
    urgentOpen += sign * queue.urgent
  }

  final private class BatchLimit(maxEntries: Int, maxBytes: Long) {
    private var entries = 0
    private var bytes = 0L
    var reached = false

    /** An entry above the byte limit is sent alone. */
    def admits(entry: P): Boolean = entries == 0 || bytes + entry.size <= maxBytes

    def add(entry: P): Unit = {
      entries += 1
      bytes += entry.size
      if (entries >= maxEntries) reached = true
    }
  }
}
