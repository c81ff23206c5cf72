package org.sparkkinesis.config

import java.util.Locale

/** For what an option is read. `Connection` is shared by reading and writing. */
sealed abstract class Scope(val title: String)
object Scope {
  case object Connection extends Scope("Stream and credentials")
  case object Read extends Scope("Reading")
  case object Write extends Scope("Writing")
  val all: Seq[Scope] = Seq(Connection, Read, Write)
}

/** Declares the options of one scope. Each has a fixed default as text, or a description of what applies without it. */
final private[config] class Declaration(scope: Scope) {
  def apply[T](
      key: String,
      kind: OptionType[T],
      doc: String,
      default: String = null,
      defaultDoc: String = ""
  ): ConfigEntry[T] = ConfigEntry(key, kind, scope, doc, Option(default), defaultDoc)
}

/**
 * One option, declared once: parsing, bounds, reference page, Python builders and redaction all come from here.
 *
 * @param key
 *   as the user writes it; matched without regard to case. A key that ends in `.*` takes every key with that prefix.
 * @param default
 *   the text that stands for the option when it is not set; empty when there is no fixed one
 * @param defaultDoc
 *   what the reference says of the default where there is no fixed one
 * @param sensitive
 *   never shown
 */
final case class ConfigEntry[T](
    key: String,
    kind: OptionType[T],
    scope: Scope,
    doc: String,
    default: Option[String] = None,
    defaultDoc: String = "",
    since: String = "0.1.0",
    sensitive: Boolean = false
) {
  val lowerKey: String = key.toLowerCase(Locale.ROOT)
  def isPrefix: Boolean = key.endsWith(".*")
  def prefix: String = lowerKey.stripSuffix("*")

  /** The default's value; only for entries that have a fixed one. */
  lazy val defaultValue: Option[T] = default.map { text =>
    kind.parse(text).fold(why => throw new IllegalStateException(s"default of $key: $why"), identity)
  }
}
