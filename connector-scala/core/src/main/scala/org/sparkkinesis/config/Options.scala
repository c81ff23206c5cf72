package org.sparkkinesis.config

import java.util.Locale

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.StreamRef

/**
 * What a user set, checked against the declarations; the only way to read an option.
 *
 * @param values
 *   texts under lower-case declared keys
 * @param warnings
 *   one sentence for every deprecated name that was used
 */
final class Options private (private val values: Map[String, String], val warnings: Seq[String]) extends Serializable {

  /** The option's value, or its default's. */
  def get[T](entry: ConfigEntry[T]): Option[T] =
    values.get(entry.lowerKey).map(Options.parse(entry, entry.key, _)).orElse(entry.defaultValue)

  /** For an option with a fixed default. */
  def apply[T](entry: ConfigEntry[T]): T =
    get(entry).getOrElse(throw new IllegalStateException(s"option ${entry.key} has no default and is not set"))

  def isSet(entry: ConfigEntry[_]): Boolean = values.contains(entry.lowerKey)

  /** What follows the prefix → value, for an entry whose key ends in `.*`; the rest of the key is in lower case. */
  def withPrefix[T](entry: ConfigEntry[T]): Map[String, T] = values.collect {
    case (key, text) if key.startsWith(entry.prefix) => key.stripPrefix(entry.prefix) -> Options.parse(entry, key, text)
  }

  /** The value of an entry whose key ends in `.*` for this stream, whose ARN counts before its name. */
  def ofStream[T](entry: ConfigEntry[T], stream: StreamRef): Option[T] = {
    val all = withPrefix(entry)
    (stream.arn.toSeq :+ stream.name).map(_.toLowerCase(Locale.ROOT)).collectFirst(Function.unlift(all.get))
  }

  override def toString: String =
    Options.redact(values).toSeq.sorted.map { case (k, v) => s"$k=$v" }.mkString("Options(", ", ", ")")
}

object Options {
  private val Hidden = "*********(redacted)"

  /** Name and password in front of the host of an address. */
  private val UserInfo = "//[^/@\\s]*@".r

  /** Options that Spark itself puts beside a source's or sink's own. */
  private val ofSpark: Set[String] = Set(
    "checkpointlocation",
    "queryname",
    "path",
    "provider",
    "owner",
    "comment",
    "location",
    "external",
    "is_managed_location"
  )
  private val ofSparkPrefixes: Seq[String] = Seq("option.", "__", "spark.")

  /**
   * Checks names and values of everything that is set.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_UNKNOWN with the nearest name, KINESIS_OPTION_INVALID, or KINESIS_OPTION_CONFLICT for one option under two names
   */
  def read(raw: Map[String, String], declared: Seq[ConfigEntry[_]] = ConnectorOptions.all): Options = {
    val byName = declared.filterNot(_.isPrefix).map(entry => entry.lowerKey -> (entry, Option.empty[DeprecatedName])) ++
      declared.flatMap(entry => entry.deprecated.map(old => old.name.toLowerCase(Locale.ROOT) -> (entry, Option(old))))
    val names = byName.toMap
    val prefixes = declared.filter(_.isPrefix)
    val lowered = raw.toSeq.map { case (key, value) => (key, key.toLowerCase(Locale.ROOT), value) }

    val resolved = lowered.filterNot { case (_, key, _) => isSparks(key) && !names.contains(key) }.map {
      case (written, key, value) =>
        names.get(key) match {
          // Spark Connect brings names in lower case: a message has them as they are declared.
          case Some((entry, Some(old))) =>
            (entry, old.name, entry.lowerKey, old.translate(value), Some(deprecation(entry, old)))
          case Some((entry, None)) => (entry, entry.key, key, value, None)
          case None =>
            prefixes.find(entry => key.startsWith(entry.prefix) && key.length > entry.prefix.length) match {
              case Some(entry) => (entry, written, key, value, None)
              case None => throw unknown(written, declared)
            }
        }
    }
    resolved.groupBy(_._3).values.filter(_.map(_._4).distinct.size > 1).foreach { same =>
      throw KinesisConnectorException(
        "KINESIS_OPTION_CONFLICT",
        "options" -> same.map(_._2).mkString("'", "' and '", "'"),
        "reason" -> "They are names of the same option, with different values.",
        "fix" -> s"Keep only '${same.head._1.key}'."
      )
    }
    resolved.foreach { case (entry, written, _, value, _) => parse(entry, written, value) }
    new Options(resolved.map { case (_, _, key, value, _) => key -> value }.toMap, resolved.flatMap(_._5).distinct)
  }

  /** The same map with the value of every sensitive option hidden, whatever its case. */
  def redact(raw: Map[String, String]): Map[String, String] = raw.map { case (key, value) =>
    key -> (if (sensitiveKeys(key.toLowerCase(Locale.ROOT))) Hidden else value)
  }

  private lazy val sensitiveKeys: Set[String] = ConnectorOptions.all
    .filter(_.sensitive)
    .flatMap(entry => entry.lowerKey +: entry.deprecated.map(_.name.toLowerCase(Locale.ROOT)))
    .toSet

  private def parse[T](entry: ConfigEntry[T], written: String, text: String): T = entry.kind.parse(text) match {
    case Right(value) => value
    case Left(why) =>
      throw KinesisConnectorException(
        "KINESIS_OPTION_INVALID",
        "option" -> written,
        "value" -> (if (entry.sensitive) Hidden else shown(text)),
        "reason" -> why,
        "expected" -> entry.kind.expected
      )
  }

  /** On one line, so that the message stays on one, and without the credentials of an address. */
  private def shown(text: String): String = UserInfo.replaceAllIn(text, "//").replace("\r", "\\r").replace("\n", "\\n")

  private def isSparks(key: String): Boolean = ofSpark(key) || ofSparkPrefixes.exists(prefix => key.startsWith(prefix))

  private def deprecation(entry: ConfigEntry[_], old: DeprecatedName): String =
    s"Option '${old.name}' (${old.origin}) is deprecated here; use '${entry.key}'."

  private def unknown(written: String, declared: Seq[ConfigEntry[_]]): KinesisConnectorException = {
    val nearest = NearestName.of(written, declared.map(_.key.stripSuffix(".*")))
    KinesisConnectorException(
      "KINESIS_OPTION_UNKNOWN",
      "option" -> written,
      "suggestion" -> nearest.fold("See the reference of options for the names.")(name => s"Did you mean '$name'?")
    )
  }
}
