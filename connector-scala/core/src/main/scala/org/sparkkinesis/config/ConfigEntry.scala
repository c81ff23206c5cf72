package org.sparkkinesis.config

import java.util.Locale

import org.sparkkinesis.config.value.OptionType

/** Operations that an option applies to. `Connection` options apply to reads and writes. */
sealed abstract class Scope(val title: String)
object Scope {
  case object Connection extends Scope("Stream, credentials and network")
  case object Read extends Scope("Reading")
  case object Write extends Scope("Writing")
  val all: Seq[Scope] = Seq(Connection, Read, Write)
}

/**
 * Declares the options of one scope. An option has a fixed default as text, or a description of the behavior without
 * it.
 */
final private[config] class Declaration(scope: Scope) {
  def apply[T](
      key: String,
      kind: OptionType[T],
      doc: String,
      default: String = null,
      defaultDoc: String = "",
      effect: Effect = Effect.of(scope)
  ): ConfigEntry[T] = ConfigEntry(key, kind, scope, doc, Option(default), defaultDoc, declaredEffect = Some(effect))
}

/**
 * Declaration of one option. Parsing, bounds, reference page, Python builders and redaction are derived from it.
 *
 * @param key
 *   name of the option. Matching ignores case. A key that ends in `.*` matches every key with that prefix.
 * @param default
 *   text of the default value; empty if there is no fixed default
 * @param defaultDoc
 *   description of the default in the reference, if there is no fixed default
 * @param sensitive
 *   whether the value is hidden in messages and plans
 * @param placeholder
 *   what the rest of a key that ends in `.*` names
 * @param declaredEffect
 *   where the option has an effect; without it, everywhere in its scope
 */
final case class ConfigEntry[T](
    key: String,
    kind: OptionType[T],
    scope: Scope,
    doc: String,
    default: Option[String] = None,
    defaultDoc: String = "",
    since: String = "0.1.0",
    sensitive: Boolean = false,
    placeholder: String = "stream",
    declaredEffect: Option[Effect] = None
) {
  val lowerKey: String = key.toLowerCase(Locale.ROOT)
  def isPrefix: Boolean = key.endsWith(".*")

  /** Whether the rest of the key names a stream. Names of streams are case-sensitive; other names are not. */
  def namesStream: Boolean = isPrefix && placeholder == "stream"

  /** Where the option has an effect. */
  def effect: Effect = declaredEffect.getOrElse(Effect.of(scope))
  def prefix: String = lowerKey.stripSuffix("*")

  /** The parsed default; empty if there is no fixed default. */
  lazy val defaultValue: Option[T] = default.map { text =>
    kind.parse(text).fold(why => throw new IllegalStateException(s"default of $key: $why"), identity)
  }
}
