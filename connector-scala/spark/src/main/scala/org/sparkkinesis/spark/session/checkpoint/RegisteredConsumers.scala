package org.sparkkinesis.spark.session.checkpoint

/**
 * Stores, in the checkpoint directory, the enhanced fan-out consumers of one stream that the query registered. A
 * query that was killed and restarts from its checkpoint still deregisters them when it stops.
 *
 * The file is written before the registration, so that a kill at any moment leaves no unknown consumer.
 */
final class RegisteredConsumers private (files: CheckpointFiles, name: String) {
  import RegisteredConsumers._

  /**
   * Returns the registered ARNs; `None` when the query registered none. The set is empty when the query was killed
   * during its first registration.
   */
  def read(): Option[Set[String]] = lines.map(_.filterNot(_.startsWith(Registering)))

  /** Returns the stream and the name of the consumer whose registration has begun and has no known outcome. */
  def unfinished(): Option[(String, String)] = lines.flatMap(_.find(_.startsWith(Registering))).map { line =>
    val consumer = line.stripPrefix(Registering)
    val end = consumer.indexOf(Separator)
    consumer.take(end) -> consumer.drop(end + Separator.length)
  }

  /** Records that the registration of a consumer begins, beside the ARNs that are registered. */
  def beginRegistration(streamArn: String, consumer: String, registered: Set[String]): Unit =
    files.write(name, (registered.toSeq.sorted :+ s"$Registering$streamArn$Separator$consumer").mkString("\n"))

  /** Replaces the registered ARNs. An empty set deletes the file. */
  def write(consumerArns: Set[String]): Unit =
    if (consumerArns.isEmpty) files.delete(name) else files.write(name, consumerArns.toSeq.sorted.mkString("\n"))

  private def lines: Option[Set[String]] = files.read(name).map(_.linesIterator.toSet)
}

object RegisteredConsumers {
  private val Prefix = "registered-consumers-"
  private val Registering = "registering "
  private val Separator = "/consumer/"

  def apply(files: CheckpointFiles, streamArn: String): RegisteredConsumers =
    new RegisteredConsumers(files, Prefix + streamArn.replaceAll("[^a-zA-Z0-9_.-]", "_"))

  /** The records of all streams in the checkpoint. */
  def all(files: CheckpointFiles): Seq[RegisteredConsumers] =
    files.names(Prefix).toSeq.sorted.map(new RegisteredConsumers(files, _))
}
