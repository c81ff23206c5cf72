package org.sparkkinesis.model

/**
 * Status of a stream.
 *
 * @param name
 *   name in the API
 */
sealed abstract class StreamStatus(val name: String) extends Product with Serializable {

  /** Whether the service accepts reads and writes in this status. */
  def isUsable: Boolean = this == StreamStatus.Active || this == StreamStatus.Updating
  override def toString: String = name
}

object StreamStatus {
  case object Creating extends StreamStatus("CREATING")
  case object Active extends StreamStatus("ACTIVE")
  case object Updating extends StreamStatus("UPDATING")
  case object Deleting extends StreamStatus("DELETING")

  /** A status that this version of the connector does not know. The stream is not usable. */
  final case class Other(text: String) extends StreamStatus(text)

  private val known: Seq[StreamStatus] = Seq(Creating, Active, Updating, Deleting)

  def of(name: String): StreamStatus = known.find(_.name == name).getOrElse(Other(name))
}

/**
 * Status of a registered consumer.
 *
 * @param name
 *   name in the API
 */
sealed abstract class ConsumerStatus(val name: String) extends Product with Serializable {
  override def toString: String = name
}

object ConsumerStatus {
  case object Creating extends ConsumerStatus("CREATING")
  case object Active extends ConsumerStatus("ACTIVE")
  case object Deleting extends ConsumerStatus("DELETING")

  /** A status that this version of the connector does not know. The consumer is not active. */
  final case class Other(text: String) extends ConsumerStatus(text)

  private val known: Seq[ConsumerStatus] = Seq(Creating, Active, Deleting)

  def of(name: String): ConsumerStatus = known.find(_.name == name).getOrElse(Other(name))
}
