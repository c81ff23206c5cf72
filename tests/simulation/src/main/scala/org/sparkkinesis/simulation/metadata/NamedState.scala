package org.sparkkinesis.simulation.metadata

/** What a metadata document says about a stream. */
sealed abstract class NamedState(val word: String) extends Product with Serializable

object NamedState {
  case object Active extends NamedState("active")
  case object Draining extends NamedState("draining")
  case object Standby extends NamedState("standby")

  /** The document does not have the stream. */
  case object Absent extends NamedState("")
}
