package org.sparkkinesis.emulator

import java.util.concurrent.ConcurrentLinkedQueue

import scala.annotation.unused
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import io.netty.buffer.PooledByteBufAllocator
import io.netty.util.ResourceLeakDetector

/** Netty's detector, which remembers what it finds. The build names it to Netty by a system property, with level paranoid. */
final class BufferLeakDetector[T](resourceType: Class[?], samplingInterval: Int)
    extends ResourceLeakDetector[T](resourceType, samplingInterval) {

  // Netty looks for this one too, and complains when it is not there.
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

/** Buffers of this JVM that were collected without having been released. */
object BufferLeaks {
  private[emulator] val found = new ConcurrentLinkedQueue[String]
  private val Patience = 30.seconds

  /**
   * What has leaked so far. Loses a marked buffer itself, and collects garbage until the detector has told of that one:
   * so a detector that does not work fails, instead of finding nothing.
   */
  def collect(): Seq[String] = {
    val mark = s"lost on purpose ${System.nanoTime()}"
    lose(mark)
    val deadline = Patience.fromNow
    while (!found.asScala.exists(_.contains(mark))) {
      assert(deadline.hasTimeLeft(), "the detector did not find the buffer that was lost on purpose")
      collectGarbage()
    }
    collectGarbage()
    found.asScala.filterNot(_.contains("lost on purpose")).toSeq
  }

  // In a method of its own, so that nothing holds on to the buffer.
  private def lose(mark: String): Unit = {
    PooledByteBufAllocator.DEFAULT.buffer(16).touch(mark)
    ()
  }

  // The detector looks at what was collected whenever a buffer is made.
  private def collectGarbage(): Unit = {
    System.gc()
    (1 to 100).foreach(_ => PooledByteBufAllocator.DEFAULT.buffer(16).release())
  }
}
