package org.sparkkinesis.sink.writer

import java.util.{ArrayDeque, PriorityQueue}

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.sparkkinesis.sink.limit.Lane

/** An entry on its way, with what the writer must know of it. */
final private[sink] class Pending[Entry](
    val entry: Entry,
    val size: Int,
    val key: Option[Any],
    var lane: Lane,
    val writtenAt: Long,
    val ordinal: Long
) {

  /** How often it was sent. */
  var attempts = 0

  /** How many of these attempts failed for another reason than throttling. */
  var failures = 0

  /** What the destination said last; empty while it has said nothing. */
  var lastReason = ""

  /** It has waited already, for its rest or for an earlier entry of its key: no reason to let it wait for company. */
  var urgent = false
  var restsUntil = 0L
}

/**
 * What waits to be sent, by lane. Not thread-safe: the writer's lock guards it. Does no I/O and reads no clock.
 *
 * An entry is in one of three places: in its lane's queue, resting after a failure, or behind an earlier entry of its order key
 * that is not accepted yet. A lane that refused is paused until it says it is ready.
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

  /** Entries that wait, for whatever reason. */
  def size: Int = all

  /** Those that could be sent now. */
  def openEntries: Int = open

  /** No request could carry more than these. */
  def sendableAtMost: Int = if (keepsKeysTogether) all else open
  def openBytes: Long = bytesOpen
  def hasUrgent: Boolean = urgentOpen > 0

  def add(entry: P): Unit = {
    all += 1
    entry.key match {
      case Some(key) if held.contains(key) => held(key).addLast(entry)
      case key =>
        key.foreach(held.update(_, new ArrayDeque[P](0)))
        enqueue(entry, first = false)
    }
  }

  /** Takes a request's entries from the open lanes in turn; those behind a taken one of their key follow it where that is allowed. */
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

  /** Puts a request's entries in order again: `failed` come back when they have rested, the keys of the others are released. */
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

  /** Brings back what has rested, in the order in which it was written, and the lanes that are ready. */
  def advance(now: Long): Unit = {
    while (!paused.isEmpty && paused.peek.pausedUntil - now <= 0) {
      val queue = paused.poll()
      queue.paused = false
      count(queue, 1)
      list(queue)
    }
    if (!resting.isEmpty && resting.peek.restsUntil - now <= 0) {
      val due = mutable.ArrayBuffer.empty[P]
      while (!resting.isEmpty && resting.peek.restsUntil - now <= 0) due += resting.poll()
      due.sortBy(-_.ordinal).foreach { entry => entry.urgent = true; enqueue(entry, first = true) }
    }
  }

  /** When [[advance]] will next have something to do. */
  def nextEventAt: Option[Long] =
    (Option(paused.peek).map(_.pausedUntil) ++ Option(resting.peek).map(_.restsUntil)).reduceOption((a, b) =>
      if (a - b < 0) a else b
    )

  /** When the oldest entry at the head of an open lane was written. */
  def oldestOpen: Option[Long] =
    active.iterator.asScala.flatMap(queue => Option(queue.entries.peekFirst())).minByOption(_.ordinal).map(_.writtenAt)

  /** The longest waiting entry of those that do not rest. */
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

    /** An entry above the byte limit goes alone. */
    def admits(entry: P): Boolean = entries == 0 || bytes + entry.size <= maxBytes

    def add(entry: P): Unit = {
      entries += 1
      bytes += entry.size
      if (entries >= maxEntries) reached = true
    }
  }
}
