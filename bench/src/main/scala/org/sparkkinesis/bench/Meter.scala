package org.sparkkinesis.bench

import java.lang.management.ManagementFactory

/** The resources of this process that a measured piece of work used. */
final case class Measured(records: Long, seconds: Double, cpuMicros: Double, allocatedBytes: Double) {
  def perSecond: Double = records / seconds
}

object Meter {
  private val system =
    ManagementFactory.getOperatingSystemMXBean.asInstanceOf[com.sun.management.OperatingSystemMXBean]
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** Measures CPU time and allocation per record, over all threads that are alive after the work. */
  def measure(records: Long)(work: => Unit): Measured = {
    val (cpu, memory, start) = (system.getProcessCpuTime, allocated, System.nanoTime())
    work
    val seconds = (System.nanoTime() - start) / 1e9
    Measured(
      records,
      seconds,
      (system.getProcessCpuTime - cpu) / 1e3 / records,
      (allocated - memory).toDouble / records
    )
  }

  private def allocated: Long = threads.getThreadAllocatedBytes(threads.getAllThreadIds).filter(_ > 0).sum

  def median(values: Seq[Double]): Double = {
    val sorted = values.sorted
    val middle = sorted.size / 2
    if (sorted.size % 2 == 1) sorted(middle) else (sorted(middle - 1) + sorted(middle)) / 2
  }
}
