package org.sparkkinesis.bench.scale

import java.lang.management.ManagementFactory
import javax.management.ObjectName

/**
 * The objects of this JVM's heap that are in use.
 *
 * @param bytes
 *   of all objects
 * @param instances
 *   number of instances of the class that was counted
 */
final private[scale] case class LiveObjects(bytes: Long, instances: Long)

private[scale] object LiveObjects {

  /** Collects the garbage, and counts the objects that are left and those of a class. */
  def count(of: Class[_]): LiveObjects = {
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
    // The figures of other classes would be a part of the heap that is measured.
    val instances = lines.collectFirst {
      case Array(rank, number, _, name, _*)
          if rank.endsWith(":") && name == of.getName => number.toLong
    }
    LiveObjects(
      total.getOrElse(throw new IllegalStateException("the JVM returned no histogram of its heap")),
      instances.getOrElse(0L)
    )
  }
}
