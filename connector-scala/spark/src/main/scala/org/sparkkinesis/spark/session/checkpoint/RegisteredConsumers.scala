package org.sparkkinesis.spark.session.checkpoint

/**
 * Stores, in the checkpoint directory, the enhanced fan-out consumers of one stream that the query registered. A
 * query that was killed and restarts from its checkpoint still deregisters them when it stops.
 *
 * The file is written before the registration, so that a kill at any moment leaves no unknown consumer.
 */
final class RegisteredConsumers(files: CheckpointFiles, streamArn: String) {
  private val name = "registered-consumers-" + streamArn.replaceAll("[^a-zA-Z0-9_.-]", "_")

  /**
   * Returns the registered ARNs; an empty set when the query was killed during a registration; `None` when it
   * registered none.
   */
  def read(): Option[Set[String]] = files.read(name).map(_.linesIterator.toSet)

  /** Records that a registration has started. */
  def beginRegistration(): Unit = files.write(name, "")

  /** Replaces the registered ARNs. An empty set deletes the file. */
  def write(consumerArns: Set[String]): Unit =
    if (consumerArns.isEmpty) files.delete(name) else files.write(name, consumerArns.toSeq.sorted.mkString("\n"))
}
