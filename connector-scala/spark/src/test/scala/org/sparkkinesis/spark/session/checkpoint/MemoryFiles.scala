package org.sparkkinesis.spark.session.checkpoint

import scala.collection.concurrent.TrieMap

/** The files of a checkpoint in memory, which outlive the run that wrote them. */
final class MemoryFiles extends CheckpointFiles {
  val texts: TrieMap[String, String] = TrieMap.empty

  override def read(name: String): Option[String] = texts.get(name)
  override def write(name: String, text: String): Unit = texts(name) = text
  override def delete(name: String): Unit = texts -= name
  override def names(prefix: String): Set[String] = texts.keySet.filter(_.startsWith(prefix)).toSet
  override def startedMillis: Option[Long] = None
}
