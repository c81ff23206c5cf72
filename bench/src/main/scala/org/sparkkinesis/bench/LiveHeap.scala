package org.sparkkinesis.bench

import java.lang.management.{ManagementFactory, MemoryType}

import scala.jdk.CollectionConverters._

/** The heap of this JVM after a collection. */
object LiveHeap {

  /** Collects the garbage and returns the bytes that are left in each pool, without later allocations. */
  def bytes(): Long = {
    System.gc()
    ManagementFactory.getMemoryPoolMXBeans.asScala.iterator
      .filter(_.getType == MemoryType.HEAP)
      .flatMap(pool => Option(pool.getCollectionUsage))
      .map(_.getUsed)
      .sum
  }
}
