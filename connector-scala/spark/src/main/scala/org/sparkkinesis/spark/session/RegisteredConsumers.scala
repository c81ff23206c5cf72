package org.sparkkinesis.spark.session

import org.apache.hadoop.conf.Configuration

/**
 * Keeps, beside the checkpoint, which enhanced fan-out consumers of one stream the query registered: one that was killed knows them
 * again when it is started from its checkpoint, and deregisters them when it stops.
 *
 * It is noted before a consumer is registered that this will be done, so that no moment is left in which a kill would orphan it.
 */
final class RegisteredConsumers(location: String, streamArn: String, conf: Configuration) {
  private val file =
    new CheckpointFile(location, "registered-consumers-" + streamArn.replaceAll("[^a-zA-Z0-9_.-]", "_"), conf)

  /** ARNs that the query registered; empty when it was killed while it registered one; `None` when it registered none. */
  def read(): Option[Set[String]] = file.read().map(_.linesIterator.toSet)

  def beginRegistration(): Unit = file.write("")

  def write(consumerArns: Set[String]): Unit =
    if (consumerArns.isEmpty) file.delete() else file.write(consumerArns.toSeq.sorted.mkString("\n"))
}
