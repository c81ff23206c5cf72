package org.sparkkinesis.config

import java.util.Locale

import org.sparkkinesis.config.ForeignOption.{Ignored, Refused, Renamed}
import org.sparkkinesis.config.value.NearestName
import org.sparkkinesis.error.{KinesisConnectorException, OptionErrors}
import org.sparkkinesis.model.StreamRef

/**
 * Validated options of a user. All options are read through this class.
 *
 * @param values
 *   texts by declared key in lower case
 * @param warnings
 *   one text for each option of another connector that is set
 */
final class Options private (private val values: Map[String, String], val warnings: Seq[String]) extends Serializable {

  /** Returns the value of the option, or its default. */
  def get[T](entry: ConfigEntry[T]): Option[T] =
    values.get(entry.lowerKey).map(Options.parse(entry, entry.key, _)).orElse(entry.defaultValue)

  /** Returns the value of an option with a fixed default. */
  def apply[T](entry: ConfigEntry[T]): T =
    get(entry).getOrElse(throw new IllegalStateException(s"option ${entry.key} has no default and is not set"))

  /** Returns the text of the option's value or default; hidden if it is sensitive. */
  def shown[T](entry: ConfigEntry[T]): String =
    if (entry.sensitive) Options.Hidden else get(entry).fold("not set")(entry.kind.render)

  def isSet(entry: ConfigEntry[_]): Boolean = values.contains(entry.lowerKey)

  /** Returns the values of an entry whose key ends in `.*`, by the rest of the key after the prefix, in lower case. */
  def withPrefix[T](entry: ConfigEntry[T]): Map[String, T] = values.collect {
    case (key, text) if key.startsWith(entry.prefix) => key.stripPrefix(entry.prefix) -> Options.parse(entry, key, text)
  }

  /**
   * Returns the value for `stream` of an entry whose key ends in `.*`. The ARN of the stream takes precedence over its
   * name.
   */
  def ofStream[T](entry: ConfigEntry[T], stream: StreamRef): Option[T] = {
    val all = withPrefix(entry)
    (stream.arn.toSeq :+ stream.name).map(_.toLowerCase(Locale.ROOT)).collectFirst(Function.unlift(all.get))
  }

  override def toString: String =
    Options.redact(values).toSeq.sorted.map { case (k, v) => s"$k=$v" }.mkString("Options(", ", ", ")")
}

object Options {

  /** Options with default values only. */
  lazy val defaults: Options = read(Map.empty)

  private val Hidden = "*********(redacted)"

  /** User name and password before the host of a URL. */
  private val UserInfo = "//[^/@\\s]*@".r

  /** Options that Spark adds to the options of a source or sink. */
  private val ofSpark: Set[String] = Set(
    "checkpointlocation",
    "queryname",
    "path",
    "provider",
    "owner",
    "comment",
    "location",
    "external",
    "is_managed_location",
    "asyncprogresstrackingenabled",
    "asyncprogresstrackingcheckpointintervalms",
    "_asyncprogresstrackingoverridesinksupportcheck"
  )
  private val ofSparkPrefixes: Seq[String] = Seq("option.", "__", "spark.")

  /** One option as set by the user. `shown` is its name in messages. */
  final private case class Setting(entry: ConfigEntry[_], key: String, shown: String, value: String)

  /**
   * Validates the names and values of all options.
   *
   * @param foreign
   *   returns the option of another connector with this name in lower case
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_UNKNOWN with the nearest name, KINESIS_OPTION_INVALID, KINESIS_OPTION_UNSUPPORTED, or
   *   KINESIS_OPTION_CONFLICT if one option is set under two names
   */
  def read(
      raw: Map[String, String],
      declared: Seq[ConfigEntry[_]] = ConnectorOptions.all,
      foreign: String => Option[ForeignOption] = ForeignOptions.find
  ): Options = {
    val (settings, warnings) =
      raw.toSeq.map { case (written, value) => setting(written, value, declared, foreign) }.unzip
    val set = settings.flatten
    set.groupBy(_.key).values.filter(_.map(_.value).distinct.size > 1).foreach { same =>
      throw OptionErrors.conflict(
        options = same.map(_.shown).mkString("'", "' and '", "'"),
        reason = "They are names of the same option, with different values.",
        fix = s"Keep only '${same.head.entry.key}'."
      )
    }
    set.foreach(setting => parse(setting.entry, setting.shown, setting.value))
    new Options(set.map(setting => setting.key -> setting.value).toMap, warnings.flatten.distinct)
  }

  /** Returns the setting of an option, if it has an effect, and the warning about it. Names may be in any case. */
  private def setting(
      written: String,
      value: String,
      declared: Seq[ConfigEntry[_]],
      foreign: String => Option[ForeignOption]
  ): (Option[Setting], Option[String]) = {
    val key = written.toLowerCase(Locale.ROOT)
    declared.find(entry => !entry.isPrefix && entry.lowerKey == key) match {
      case Some(entry) => (Some(Setting(entry, key, entry.key, value)), None)
      case None => foreign(key) match {
          case Some(option: Renamed) =>
            val entry = option.to(value)
            (Some(Setting(entry, entry.lowerKey, option.name, option.translate(value))), Some(option.warning(value)))
          case Some(option: Ignored) => (None, Some(option.warning))
          case Some(option: Refused) => throw unsupported(option)
          case None =>
            declared.find(entry => entry.isPrefix && key.startsWith(entry.prefix) && key != entry.prefix) match {
              case Some(entry) => (Some(Setting(entry, key, written, value)), None)
              case None if isSparkOption(key) => (None, None)
              case None => throw unknown(written, declared)
            }
        }
    }
  }

  /** Returns the same map with the value of each sensitive option hidden. Names may be in any case. */
  def redact(raw: Map[String, String]): Map[String, String] = raw.map { case (key, value) =>
    key -> (if (isSensitive(key.toLowerCase(Locale.ROOT))) Hidden else value)
  }

  private def isSensitive(lowerKey: String): Boolean =
    sensitiveKeys(lowerKey) || sensitivePrefixes.exists(lowerKey.startsWith)

  /** Prefixes of the sensitive options that concern one of several streams. */
  private lazy val sensitivePrefixes: Seq[String] =
    ConnectorOptions.all.filter(entry => entry.sensitive && entry.isPrefix).map(_.prefix)

  private lazy val sensitiveKeys: Set[String] = ConnectorOptions.all
    .filter(_.sensitive)
    .map(_.lowerKey)
    .toSet ++ ForeignOptions.all.filter(_.isSensitive).map(_.lowerName)

  private def parse[T](entry: ConfigEntry[T], written: String, text: String): T = entry.kind.parse(text) match {
    case Right(value) => value
    case Left(why) =>
      throw OptionErrors.invalid(
        option = written,
        value = if (entry.sensitive) Hidden else shown(text),
        reason = why,
        expected = entry.kind.expected
      )
  }

  /** Returns the text on one line and without the credentials of a URL. */
  private def shown(text: String): String = UserInfo.replaceAllIn(text, "//").replace("\r", "\\r").replace("\n", "\\n")

  private def isSparkOption(key: String): Boolean =
    ofSpark(key) || ofSparkPrefixes.exists(prefix => key.startsWith(prefix))

  private def unsupported(option: Refused): KinesisConnectorException = OptionErrors.unsupported(
    option = option.name,
    origin = option.titles,
    reason = option.reason,
    fix = option.fix
  )

  private def unknown(written: String, declared: Seq[ConfigEntry[_]]): KinesisConnectorException = {
    val nearest = NearestName.of(written, declared.map(_.key.stripSuffix(".*")))
    OptionErrors.unknown(
      option = written,
      suggestion = nearest.fold("See the reference of options for the names.")(name => s"Did you mean '$name'?")
    )
  }
}
