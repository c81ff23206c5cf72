package org.sparkkinesis.emulator.kit

import java.util.concurrent.ConcurrentLinkedQueue

import scala.annotation.unused
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import io.netty.buffer.PooledByteBufAllocator
import io.netty.util.ResourceLeakDetector

/**
 * A leak detector of Netty that remembers the leaks that it finds. The build sets it by a system property, at level
 * paranoid.
 */
final class BufferLeakDetector[T](resourceType: Class[?], samplingInterval: Int)
    extends ResourceLeakDetector[T](resourceType, samplingInterval) {

  // Netty also looks up this constructor and logs a warning if it is missing.
  def this(resourceType: Class[?], samplingInterval: Int, @unused maxActive: Long) =
    this(resourceType, samplingInterval)

  override protected def needReport(): Boolean = true

  override protected def reportTracedLeak(resourceType: String, records: String): Unit = {
    BufferLeaks.found.add(records)
    ()
  }

  override protected def reportUntracedLeak(resourceType: String): Unit = {
    BufferLeaks.found.add(resourceType)
    ()
  }
}

/** The buffers of this JVM that were collected by the garbage collector without having been released. */
object BufferLeaks {
  private[emulator] val found = new ConcurrentLinkedQueue[String]
  private val Patience = 30.seconds

  /**
   * Returns the leaks so far. It first leaks a marked buffer and collects garbage until the detector has reported
   * that buffer, so that a detector that does not work fails the test.
   */
  def collect(): Seq[String] = {
    val mark = s"leaked deliberately ${System.nanoTime()}"
    lose(mark)
    val deadline = Patience.fromNow
    while (!found.asScala.exists(_.contains(mark))) {
      assert(deadline.hasTimeLeft(), "the detector did not find the buffer that was leaked deliberately")
      collectGarbage()
    }
    collectGarbage()
    found.asScala.filterNot(_.contains("leaked deliberately")).toSeq
  }

  // A separate method, so that no local variable keeps the buffer alive.
  private def lose(mark: String): Unit = {
    PooledByteBufAllocator.DEFAULT.buffer(16).touch(mark)
    ()
  }

  // The detector checks the collected buffers whenever a buffer is allocated.
  private def collectGarbage(): Unit = {
    System.gc()
    (1 to 100).foreach(_ => PooledByteBufAllocator.DEFAULT.buffer(16).release())
  }
}
