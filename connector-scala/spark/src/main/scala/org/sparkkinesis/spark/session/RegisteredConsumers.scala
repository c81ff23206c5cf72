package org.sparkkinesis.spark.session

/**
 * Keeps, beside the checkpoint, which enhanced fan-out consumers of one stream the query registered: one that was killed knows them
 * again when it is started from its checkpoint, and deregisters them when it stops.
 *
 * It is noted before a consumer is registered that this will be done, so that no moment is left in which a kill would orphan it.
 */
final class RegisteredConsumers(files: CheckpointFiles, streamArn: String) {
  private val name = "registered-consumers-" + streamArn.replaceAll("[^a-zA-Z0-9_.-]", "_")

  /** ARNs that the query registered; empty when it was killed while it registered one; `None` when it registered none. */
  def read(): Option[Set[String]] = files.read(name).map(_.linesIterator.toSet)

  def beginRegistration(): Unit = files.write(name, "")

  def write(consumerArns: Set[String]): Unit =
    if (consumerArns.isEmpty) files.delete(name) else files.write(name, consumerArns.toSeq.sorted.mkString("\n"))
}
