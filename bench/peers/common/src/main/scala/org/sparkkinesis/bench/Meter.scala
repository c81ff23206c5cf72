package org.sparkkinesis.bench

import java.lang.management.ManagementFactory

/** The resources of this process that a measured piece of work used. */
final case class Measured(records: Long, seconds: Double, cpuMicros: Double, allocatedBytes: Double) {
  def perSecond: Double = records / seconds
}

/** The use of resources from the creation of this object on. */
final class Meter {
  import Meter._

  private val cpu = system.getProcessCpuTime
  private val memory = allocated
  private val start = System.nanoTime()

  /** Returns CPU time and allocation per record, over all threads that are alive. */
  def read(records: Long): Measured = {
    val seconds = (System.nanoTime() - start) / 1e9
    Measured(
      records,
      seconds,
      (system.getProcessCpuTime - cpu) / 1e3 / records,
      (allocated - memory).toDouble / records
    )
  }
}

object Meter {
  private val system =
    ManagementFactory.getOperatingSystemMXBean.asInstanceOf[com.sun.management.OperatingSystemMXBean]
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  def measure(records: Long)(work: => Unit): Measured = {
    val meter = new Meter
    work
    meter.read(records)
  }

  /** CPU time of this thread in nanoseconds. */
  def threadCpuNanos: Long = threads.getCurrentThreadCpuTime

  private def allocated: Long = threads.getThreadAllocatedBytes(threads.getAllThreadIds).filter(_ > 0).sum

  def median(values: Seq[Double]): Double = {
    val sorted = values.sorted
    val middle = sorted.size / 2
    if (sorted.size % 2 == 1) sorted(middle) else (sorted(middle - 1) + sorted(middle)) / 2
  }
}
