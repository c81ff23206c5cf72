package org.sparkkinesis.config

import java.util.Locale

/** The connector that defines an option name. */
sealed abstract class Origin(val title: String)
object Origin {
  case object Databricks extends Origin("Databricks")
  case object Awslabs extends Origin("awslabs spark-sql-kinesis-connector")
  case object Qubole extends Origin("qubole kinesis-sql")
  case object Glue extends Origin("AWS Glue")
  case object KinesisAsl extends Origin("Spark's kinesis-asl (DStreams)")
  case object Other extends Origin("other connectors")
  val all: Seq[Origin] = Seq(Databricks, Awslabs, Qubole, Glue, KinesisAsl, Other)
}

/**
 * An option of another connector that has another name or no counterpart in this connector, and how this connector
 * treats it.
 */
sealed trait ForeignOption {
  def name: String
  def origins: Seq[Origin]
  def isSensitive: Boolean
  final def lowerName: String = name.toLowerCase(Locale.ROOT)
  final def titles: String = origins.map(_.title).mkString(", ")
}

object ForeignOption {

  /**
   * The option is accepted with a warning and sets an option of this connector.
   *
   * @param to
   *   returns the entry that a value sets; this is `entry` unless it depends on the value
   * @param translate
   *   converts the value to the form of this connector
   * @param implied
   *   further options that it sets, unless the user sets them
   * @param elsewhere
   *   returns the option that has the value instead, if this value refers to another option
   */
  final case class Renamed(
      name: String,
      origins: Seq[Origin],
      entry: ConfigEntry[_],
      note: String = "",
      translate: String => String = identity,
      implied: Seq[(ConfigEntry[_], String)] = Nil,
      elsewhere: String => Option[String] = _ => None
  )(val to: String => ConfigEntry[_] = _ => entry) extends ForeignOption {
    def isSensitive: Boolean = entry.sensitive
    def warning(value: String): String = s"Option '$name' ($titles) is deprecated here; use '${to(value).key}'."
  }

  /**
   * The option is accepted with a warning and has no effect. `reason` is a sentence that explains why it is not needed.
   */
  final case class Ignored(name: String, origins: Seq[Origin], reason: String) extends ForeignOption {
    def isSensitive: Boolean = false
    def warning: String = s"Option '$name' ($titles) has no effect here. $reason"
  }

  /** The option is rejected, because the query would not behave as requested. `reason` and `fix` are sentences. */
  final case class Refused(
      name: String,
      origins: Seq[Origin],
      reason: String,
      fix: String
  ) extends ForeignOption {
    def isSensitive: Boolean = false
  }
}
