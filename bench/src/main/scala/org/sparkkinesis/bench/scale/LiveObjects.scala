package org.sparkkinesis.bench.scale

import java.lang.management.ManagementFactory
import javax.management.ObjectName

/**
 * The objects of this JVM's heap that are in use.
 *
 * @param bytes
 *   of all objects
 */
final private[scale] case class LiveObjects(bytes: Long, counts: Map[String, Long]) {
  def of(className: String): Long = counts.getOrElse(className, 0L)
}

private[scale] object LiveObjects {

  /** Collects the garbage and counts the objects that are left. */
  def count(): LiveObjects = {
    val lines = ManagementFactory.getPlatformMBeanServer
      .invoke(
        new ObjectName("com.sun.management:type=DiagnosticCommand"),
        "gcClassHistogram",
        Array[AnyRef](Array.empty[String]),
        Array(classOf[Array[String]].getName)
      )
      .toString
      .linesIterator
      .map(_.trim.split("\\s+"))
      .toVector
    val total = lines.collectFirst { case Array("Total", _, bytes) => bytes.toLong }
    val counts = lines.collect { case Array(rank, number, _, name, _*) if rank.endsWith(":") => name -> number.toLong }
    LiveObjects(
      total.getOrElse(throw new IllegalStateException("the JVM returned no histogram of its heap")),
      counts.toMap
    )
  }
}
