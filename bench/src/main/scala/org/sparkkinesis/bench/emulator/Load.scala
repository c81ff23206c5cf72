package org.sparkkinesis.bench.emulator

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{CompletableFuture, Semaphore}

import scala.collection.mutable
import scala.concurrent.duration._

/** A client that loads the emulator. Every method runs for the given time, on the stream that the benchmark filled. */
trait Load extends AutoCloseable {

  /** Puts 500 records per call, with several calls in flight. Returns the bytes of payload that were accepted. */
  def put(time: FiniteDuration): Long = {
    val permits = new Semaphore(Load.InFlight)
    val records = new AtomicLong
    val failure = new CompletableFuture[Unit]
    val deadline = time.fromNow
    while (deadline.hasTimeLeft() && !failure.isDone) {
      permits.acquire()
      putRecords().whenComplete { (failed, error) =>
        if (error != null) failure.completeExceptionally(error)
        else records.addAndGet((Load.RecordsPerPut - failed).toLong)
        permits.release()
      }
    }
    permits.acquire(Load.InFlight)
    failure.complete(())
    failure.join()
    records.get * Load.RecordBytes
  }

  /** Puts 500 records in one call. Returns the number of failed records. */
  protected def putRecords(): CompletableFuture[Int]

  /**
   * Reads all shards with GetRecords, again from the start after the tip. Returns the bytes of payload that were
   * read.
   */
  def get(time: FiniteDuration): Long

  /**
   * Subscribes to all shards from TRIM_HORIZON, again after the tip. Returns the bytes of payload that were pushed.
   */
  def push(time: FiniteDuration): Long

  /**
   * Puts single records at a steady rate, with one subscriber per shard. Returns the milliseconds from put to push,
   * sorted.
   */
  def latencies(time: FiniteDuration): Array[Double]
}

object Load {
  val Shards = 4
  val RecordBytes = 1024
  val RecordsPerPut = 500
  val RecordsPerGet = 2000
  val InFlight = 12
  val Stream = "bench"
  val PutEveryMillis = 2L

  /** The time during which latencies are ignored, while code and connections warm up. */
  def warmUp(time: FiniteDuration): FiniteDuration = time / 3

  def shardId(i: Int): String = f"shardId-$i%012d"

  /** Waits up to 20 s for the latch and fails with `what` after that. */
  def await(latch: java.util.concurrent.CountDownLatch, what: String): Unit =
    if (!latch.await(20, SECONDS)) throw new IllegalStateException(s"$what did not happen within 20 s")

  def percentile(sorted: Array[Double], part: Double): Double = {
    require(sorted.nonEmpty, "nothing was measured")
    sorted(math.min(sorted.length - 1, (sorted.length * part).toInt))
  }

  /** A thread-safe list of figures. */
  final class Figures {
    private val found = mutable.ArrayBuffer.empty[Double]
    def add(figure: Double): Unit = synchronized { found += figure; () }
    def sorted: Array[Double] = synchronized(found.toArray).sorted
  }
}
