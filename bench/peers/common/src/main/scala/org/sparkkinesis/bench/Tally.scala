package org.sparkkinesis.bench

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}
import java.util.concurrent.{CountDownLatch, TimeUnit}

/**
 * Counts records and measures from the moment of the first count, without the records that had arrived by then, so
 * that the start of a reader is not part of it.
 */
final class Tally(expected: Long) {
  private val counted = new AtomicLong
  private val begun = new AtomicBoolean
  private val done = new CountDownLatch(1)
  @volatile private var failure: Option[Throwable] = None
  @volatile private var meter = new Meter
  @volatile private var before = 0L
  @volatile private var measured: Option[Measured] = None

  def add(records: Int): Unit = add(records.toLong, records.toLong)

  /**
   * @param received
   *   the number of records that have arrived, counted or not; evaluated at the first call only
   */
  def add(records: Long, received: => Long): Unit = if (records > 0) {
    if (!begun.get && begun.compareAndSet(false, true)) {
      before = received
      meter = new Meter
      if (before >= expected)
        fail(new IllegalStateException(s"all of the $expected records had arrived before the first count; use more"))
    }
    val now = counted.addAndGet(records)
    if (now >= expected && now - records < expected) {
      measured = Some(meter.read(expected - before))
      done.countDown()
    }
  }

  def isDone: Boolean = done.getCount == 0

  def fail(error: Throwable): Unit = {
    failure = Some(error)
    done.countDown()
  }

  /** Returns the time and the CPU time of the records after the first ones. Fails after five minutes. */
  def await(): Measured = {
    if (!done.await(5, TimeUnit.MINUTES))
      throw new IllegalStateException(s"only ${counted.get} of $expected records in five minutes")
    failure.foreach(throw _)
    measured.getOrElse(throw new IllegalStateException("the round ended without a measurement"))
  }
}

/** The tally of the round that this process runs, for functions that an engine serializes. */
object Tally {
  @volatile private var current = new Tally(Long.MaxValue)

  def begin(expected: Long): Tally = {
    current = new Tally(expected)
    current
  }

  def running: Tally = current
  def count(records: Int): Unit = current.add(records)
}
