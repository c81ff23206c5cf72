package org.sparkkinesis.bench.emulator

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{CompletableFuture, Semaphore}

import scala.collection.mutable
import scala.concurrent.duration._

/** One way to ask the emulator. Every method works for the given time, on the stream that the benchmark filled. */
trait Load extends AutoCloseable {

  /** PutRecords of 500 records, several in flight; gives the bytes of payload that were taken in. */
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

  /** One PutRecords of 500 records; gives how many of them failed. */
  protected def putRecords(): CompletableFuture[Int]

  /** GetRecords through all shards, from the start again at the tip; gives the bytes of payload that came back. */
  def get(time: FiniteDuration): Long

  /** SubscribeToShard at TRIM_HORIZON, anew at the tip; gives the bytes of payload that were pushed. */
  def push(time: FiniteDuration): Long

  /** PutRecord at a steady rate beside one subscriber for each shard; gives milliseconds from put to push, sorted. */
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

  /** How long the first latencies are left out, while code and connections warm up. */
  def warmUp(time: FiniteDuration): FiniteDuration = time / 3

  def shardId(i: Int): String = f"shardId-$i%012d"

  /** Waits for what must come soon, and tells what did not. */
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
