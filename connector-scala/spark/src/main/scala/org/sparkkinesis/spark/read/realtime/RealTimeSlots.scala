package org.sparkkinesis.spark.read.realtime

import scala.collection.mutable

/**
 * Divides the application's task slots between its real-time sources. The tasks of a real-time batch hold their slots
 * until the batch ends, so a task without a slot would start after the end and read nothing. Thread-safe.
 */
final private[sparkkinesis] class RealTimeSlots {

  /** The slots that each source uses; 0 before its first batch. */
  private val used = mutable.HashMap.empty[String, Int]

  /** Adds a source, which will need one slot at least. */
  def join(source: String): Unit = synchronized { used(source) = 0 }

  def leave(source: String): Unit = synchronized {
    used -= source
    ()
  }

  /** Returns how many of these slots the source may use. Sources that have not begun share equally what is free. */
  def available(source: String, slots: Int): Int = synchronized {
    val others = used.filter(_._1 != source)
    val free = slots - others.valuesIterator.sum
    val unbegun = others.valuesIterator.count(_ == 0)
    if (unbegun == 0) free else free / (unbegun + 1)
  }

  def use(source: String, tasks: Int): Unit = synchronized { used(source) = tasks }
}

private[sparkkinesis] object RealTimeSlots {

  /** The slots of this JVM's application. */
  val ofJvm = new RealTimeSlots
}
