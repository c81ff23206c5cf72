package org.sparkkinesis.simulation.spark

import scala.collection.mutable

import org.sparkkinesis.simulation.common.SimulatedProcess

/**
 * The files of one query's checkpoint. They remain after the drivers that wrote them. A file exists completely or not
 * at all.
 */
final class CheckpointFolder {
  private val texts = mutable.TreeMap.empty[String, (String, Long)]

  def read(name: String): Option[String] = texts.get(name).map(_._1)

  /** Returns the time of the file on the file system's clock, which is the service's. */
  def writtenMillis(name: String): Option[Long] = texts.get(name).map(_._2)

  /** Writes a file. The driver may be killed before and after it. */
  def write(driver: SimulatedProcess, nowMillis: Long)(name: String, text: String): Unit = {
    driver.step()
    texts(name) = text -> nowMillis
    driver.step()
  }

  def delete(driver: SimulatedProcess)(name: String): Unit = {
    driver.step()
    texts -= name
  }

  def names(prefix: String): Set[String] = texts.keySet.filter(_.startsWith(prefix)).toSet

  /** Returns the newest file of a log, whose files are numbered. */
  def latest(log: String): Option[(Long, String)] =
    texts.iterator.filter(_._1.startsWith(s"$log/")).map { case (name, (text, _)) =>
      name.drop(log.length + 1).toLong -> text
    }.maxByOption(_._1)
}
