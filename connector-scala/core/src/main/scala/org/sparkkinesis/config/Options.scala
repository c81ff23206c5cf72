package org.sparkkinesis.config

import java.util.Locale

import scala.collection.concurrent.TrieMap

import org.sparkkinesis.config.ForeignOption.{Ignored, Refused, Renamed}
import org.sparkkinesis.config.value.{NearestName, SecretResolver}
import org.sparkkinesis.error.{KinesisConnectorException, OptionErrors}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.secret.{Redaction, SecretReference}

/**
 * Validated options of a user. All options are read through this class, in the driver only. It resolves a reference to
 * a secret when the option is first used, and then keeps the value, so that the values of one query fit together.
 *
 * @param values
 *   texts by declared key in lower case; a reference to a secret stays a reference
 * @param warnings
 *   one text for each option of another connector that is set
 * @param shownNames
 *   names by the same keys, as the user wrote them if they are those of another connector
 * @param ofTable
 *   keys that only the table sets, and not the read or write itself
 * @param keepsCase
 *   whether the names have the case in which the user wrote them. Spark Connect sends lower case.
 */
final class Options private (
    private val values: Map[String, String],
    val warnings: Seq[String],
    shownNames: Map[String, String],
    ofTable: Set[String],
    keepsCase: Boolean,
    secrets: SecretResolver
) {
  private val resolved = TrieMap.empty[String, String]

  /** Returns the value of the option, or its default. */
  def get[T](entry: ConfigEntry[T]): Option[T] =
    values.get(entry.lowerKey).map(parse(entry, entry.lowerKey, _)).orElse(entry.defaultValue)

  private def parse[T](entry: ConfigEntry[T], key: String, text: String): T = {
    val shown = if (entry.isPrefix) key else entry.key
    val reference = if (entry.sensitive) SecretReference.of(text) else None
    Options.parse(
      entry,
      shown,
      reference.fold(text)(one => resolved.getOrElseUpdate(key, secrets.resolve(shown, one)))
    )
  }

  /** Returns the names of the set options that contain a secret instead of a reference to it. */
  def literalSecrets: Seq[String] =
    values.collect { case (key, text) if Options.isLiteralSecret(key, text) => Options.written(key) }.toSeq.sorted

  /** Returns the value of an option with a fixed default. */
  def apply[T](entry: ConfigEntry[T]): T =
    get(entry).getOrElse(throw new IllegalStateException(s"option ${entry.key} has no default and is not set"))

  /** Returns the text of the option's value or default; hidden if it is sensitive. */
  def shown[T](entry: ConfigEntry[T]): String =
    if (entry.sensitive) values.get(entry.lowerKey).fold("not set")(Redaction.ofOption(isSensitive = true, _))
    else get(entry).fold("not set")(value => Redaction.ofOption(isSensitive = false, entry.kind.render(value)))

  /** Returns the references to secrets by the names of their options. */
  def secretReferences: Map[String, SecretReference] = values.flatMap { case (key, text) =>
    Option.when(
      Options.isSensitive(key.toLowerCase(Locale.ROOT))
    )(SecretReference.of(text)).flatten.map(Options.written(key) -> _)
  }

  def isSet(entry: ConfigEntry[_]): Boolean = values.contains(entry.lowerKey)

  /** Returns the value of the option as the user wrote it; hidden if it is sensitive. */
  def written(entry: ConfigEntry[_]): Option[String] =
    values.get(entry.lowerKey).map(Options.shown(entry, _))

  /** Returns the text of the option's value or default, also if it is a secret. */
  private[config] def textOf[T](entry: ConfigEntry[T]): Option[String] = get(entry).map(entry.kind.render)

  /** Returns what the user set of an entry: several settings if its key ends in `.*`. */
  private[config] def settingsOf(entry: ConfigEntry[_]): Seq[Options.SettingOf] = {
    val keys = if (entry.isPrefix) values.keys.filter(_.startsWith(entry.prefix)).toSeq.sorted
    else Seq(entry.lowerKey).filter(values.contains)
    keys.map { key =>
      val shown = shownNames.getOrElse(key, entry.key)
      val isForeign = !entry.isPrefix && !shown.equalsIgnoreCase(entry.key)
      Options.SettingOf(shown, isOwn = !ofTable(key), isForeign, isDefault(entry))
    }
  }

  private def isDefault[T](entry: ConfigEntry[T]): Boolean =
    entry.defaultValue.nonEmpty && get(entry) == entry.defaultValue

  /**
   * Returns the values of an entry whose key ends in `.*`, by the rest of the key after the prefix. Names of streams
   * have the case in which Spark passes them; other names are in lower case.
   */
  def withPrefix[T](entry: ConfigEntry[T]): Map[String, T] = values.collect {
    case (key, text) if key.startsWith(entry.prefix) => key.stripPrefix(entry.prefix) -> parse(entry, key, text)
  }

  /**
   * Returns the value for `stream` of an entry whose key ends in `.*`. The ARN of the stream takes precedence over its
   * name. A name in another case counts if it is not that of another stream of the query.
   */
  def ofStream[T](entry: ConfigEntry[T], stream: StreamRef): Option[T] = {
    val all = withPrefix(entry)
    def inOtherCase(name: String): Option[T] = all.collectFirst {
      case (other, value) if other.equalsIgnoreCase(name) && !listedNames(other) => value
    }
    val names = stream.arn.toSeq :+ stream.name
    names.flatMap(all.get).headOption.orElse(names.flatMap(inOtherCase).headOption)
  }

  /** Names and ARNs of the streams that the options list. */
  private def listedNames: Set[String] =
    ConnectionOptions.namedStreams(this).flatMap(stream => stream.arn.toSeq :+ stream.name).toSet

  /**
   * Checks that every option for one of several streams belongs to exactly one of them.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_UNKNOWN, KINESIS_OPTION_CONFLICT
   */
  def checkStreams(entries: Seq[ConfigEntry[_]], streams: Iterable[StreamRef]): Unit = {
    val names = streams.flatMap(stream => stream.arn.toSeq :+ stream.name).toSeq.distinct
    for (entry <- entries; all = withPrefix(entry).keySet; name <- all) {
      val option = s"${entry.key.stripSuffix("*")}$name"
      val alike = names.filter(_.equalsIgnoreCase(name))
      if (alike.isEmpty) throw OptionErrors.unknown(
        option = option,
        suggestion = NearestName.of(name, names).fold("No stream of this name is used.")(nearest =>
          s"No stream of this name is used. Did you mean '${entry.key.stripSuffix("*")}$nearest'?"
        )
      )
      // Where the names are kept, the option is that of the stream with exactly this name.
      val isExact = keepsCase && alike.contains(name) && listedNames(name)
      if (alike.size > 1 && !isExact && !alike.forall(all)) throw OptionErrors.conflict(
        options = alike.map(one => s"'${entry.key.stripSuffix("*")}$one'").mkString(" and "),
        reason =
          s"The streams ${alike.mkString("'", "' and '", "'")} differ only in case, and Spark Connect and some " +
            "catalogs pass the names of options in lower case, so the stream is not known.",
        fix = s"Set '${entry.key.stripSuffix(".*")}' for all streams, or read the streams in separate queries."
      )
      val same = all.filter(other => other != name && other.equalsIgnoreCase(name) && !names.contains(other))
      if (same.nonEmpty) throw OptionErrors.conflict(
        options = (same.toSeq :+ name).sorted.map(one => s"'${entry.key.stripSuffix("*")}$one'").mkString(" and "),
        reason = "They are names of the same option.",
        fix = s"Keep only '${entry.key.stripSuffix("*")}${alike.head}'."
      )
    }
  }

  override def toString: String =
    Options.redact(values).toSeq.sorted.map { case (k, v) => s"$k=$v" }.mkString("Options(", ", ", ")")
}

object Options {

  /** Options with default values only. */
  lazy val defaults: Options = read(Map.empty)

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

  /**
   * What is known about a setting, without its value.
   *
   * @param isOwn
   *   whether the read or write itself sets it, and not the table
   * @param isForeign
   *   whether its name is that of another connector
   */
  final private[config] case class SettingOf(shown: String, isOwn: Boolean, isForeign: Boolean, isDefault: Boolean)

  /** One option as set by the user. `shown` is its name in messages. */
  final private case class Setting(
      entry: ConfigEntry[_],
      key: String,
      shown: String,
      value: String,
      written: String
  )

  /**
   * Validates the names and values of all options.
   *
   * @param foreign
   *   returns the option of another connector with this name in lower case
   * @param secrets
   *   resolves references to secrets, when an option is used
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_UNKNOWN with the nearest name, KINESIS_OPTION_INVALID, KINESIS_OPTION_UNSUPPORTED, or
   *   KINESIS_OPTION_CONFLICT if one option is set under two names
   */
  def read(
      raw: Map[String, String],
      declared: Seq[ConfigEntry[_]] = ConnectorOptions.all,
      foreign: String => Option[ForeignOption] = ForeignOptions.find,
      secrets: SecretResolver = SecretResolver.OfProcess
  ): Options = overTable(Map.empty, raw, declared, foreign, secrets)

  /**
   * Does the same for the options of a read or write that override those of a table.
   *
   * @param table
   *   options of the table
   */
  def overTable(
      table: Map[String, String],
      own: Map[String, String],
      declared: Seq[ConfigEntry[_]] = ConnectorOptions.all,
      foreign: String => Option[ForeignOption] = ForeignOptions.find,
      secrets: SecretResolver = SecretResolver.OfProcess
  ): Options = {
    val ownKeys = own.keySet.map(keyOf(_, declared))
    val raw = table.filterNot { case (name, _) => ownKeys(keyOf(name, declared)) } ++ own
    val (settings, warnings) =
      raw.toSeq.map { case (written, value) => setting(written, value, declared, foreign) }.unzip
    val named = settings.flatten
    val set = named ++ implied(raw, declared, foreign).filterNot(one => named.exists(_.key == one.key))
    set.groupBy(_.key).values.filter(_.map(_.value).distinct.size > 1).foreach { same =>
      throw OptionErrors.conflict(
        options = same.map(_.shown).mkString("'", "' and '", "'"),
        reason = "They are names of the same option, with different values.",
        fix = s"Keep only '${same.head.entry.key}'."
      )
    }
    set.foreach(check)
    new Options(
      set.map(setting => setting.key -> setting.value).toMap,
      warnings.flatten.distinct,
      set.map(setting => setting.key -> setting.shown).toMap,
      set.filterNot(setting => own.contains(setting.written)).map(_.key).toSet,
      raw.keysIterator.exists(name => name != name.toLowerCase(Locale.ROOT)),
      secrets
    )
  }

  /**
   * Returns the settings that options of other connectors imply.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_MISSING if one refers to another option that is not set
   */
  private def implied(
      raw: Map[String, String],
      declared: Seq[ConfigEntry[_]],
      foreign: String => Option[ForeignOption]
  ): Seq[Setting] = {
    val names = raw.keySet.map(_.toLowerCase(Locale.ROOT))
    raw.toSeq.flatMap { case (written, value) =>
      val key = written.toLowerCase(Locale.ROOT)
      foreign(key).filterNot(_ => declared.exists(_.lowerKey == key)).toSeq.collect { case option: Renamed =>
        option.elsewhere(value).filterNot(other => names(other.toLowerCase(Locale.ROOT))).foreach { other =>
          throw OptionErrors.missing(
            required = s"'$other'",
            reason = s"'${option.name}' is $value, so that option has the time.",
            fix = s"Set '$other', or set '${option.to(value).key}' to the time."
          )
        }
        option.implied.map { case (entry, text) => Setting(entry, entry.lowerKey, option.name, text, written) }
      }.flatten
    }
  }

  /** Returns the name by which two settings are the same: in lower case, except for the name of a stream. */
  private def keyOf(written: String, declared: Seq[ConfigEntry[_]]): String = {
    val key = written.toLowerCase(Locale.ROOT)
    declared.find(entry => entry.namesStream && key.startsWith(entry.prefix))
      .fold(key)(entry => entry.prefix + written.drop(entry.prefix.length))
  }

  /** Whether there is an option of this name, also one of another connector. Names may be in any case. */
  def isOption(
      name: String,
      declared: Seq[ConfigEntry[_]] = ConnectorOptions.all,
      foreign: String => Option[ForeignOption] = ForeignOptions.find
  ): Boolean = {
    val key = name.toLowerCase(Locale.ROOT)
    declared.exists(entry => if (entry.isPrefix) key.startsWith(entry.prefix) else entry.lowerKey == key) ||
    foreign(key).nonEmpty
  }

  /** Checks a value. That of a reference is checked when the option is used. */
  private def check(setting: Setting): Unit = {
    val isSensitive = setting.entry.sensitive
    if (isSensitive && SecretReference.isMalformed(setting.value))
      throw OptionErrors.invalid(
        option = setting.shown,
        value = Redaction.Hidden,
        reason = "It begins like a reference to a secret and has not the form of one.",
        expected = SecretReference.Expected
      )
    if (!isSensitive || !SecretReference.isReference(setting.value)) {
      if (isSensitive) Redaction.remember(setting.value) else Redaction.rememberQuery(setting.value)
      parse(setting.entry, setting.shown, setting.value): Unit
    }
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
      case Some(entry) => (Some(Setting(entry, key, entry.key, value, written)), None)
      case None => foreign(key) match {
          case Some(option: Renamed) if option.elsewhere(value).isDefined =>
            (
              None,
              Some(s"Option '${option.name}' (${option.titles}) has no effect here. The value is that of " +
                s"'${option.elsewhere(value).get}'.")
            )
          case Some(option: Renamed) =>
            val entry = option.to(value)
            (
              Some(Setting(entry, entry.lowerKey, option.name, option.translate(value), written)),
              Some(option.warning(value))
            )
          case Some(option: Ignored) => (None, Some(option.warning))
          case Some(option: Refused) => throw unsupported(option)
          case None =>
            declared.find(entry => entry.isPrefix && key.startsWith(entry.prefix) && key != entry.prefix) match {
              case Some(entry) => (Some(Setting(entry, keyOf(written, Seq(entry)), written, value, written)), None)
              case None if isSparkOption(key) => (None, None)
              case None => throw unknown(written, declared)
            }
        }
    }
  }

  /** Returns the same map with the value of each sensitive option hidden. Names may be in any case. */
  def redact(raw: Map[String, String]): Map[String, String] = raw.map { case (key, value) =>
    key -> Redaction.ofOption(isSensitive(key.toLowerCase(Locale.ROOT)), value)
  }

  /** Returns the key as its declaration writes it. */
  private def written(key: String): String = ConnectorOptions.all.find { entry =>
    if (entry.isPrefix) key.startsWith(entry.prefix) else entry.lowerKey == key
  }.fold(key)(entry => entry.key.stripSuffix("*") + key.drop(entry.key.stripSuffix("*").length))

  private def isLiteralSecret(key: String, value: String): Boolean =
    if (isSensitive(key.toLowerCase(Locale.ROOT))) !SecretReference.isReference(value)
    else Redaction.ofOption(isSensitive = false, value) != value

  private def isSensitive(lowerKey: String): Boolean =
    sensitiveKeys(lowerKey) || sensitivePrefixes.exists(lowerKey.startsWith)

  /** Prefixes of the sensitive options that concern one of several streams. */
  lazy val sensitivePrefixes: Seq[String] =
    ConnectorOptions.all.filter(entry => entry.sensitive && entry.isPrefix).map(_.prefix)

  /** Names in lower case of the sensitive options, with those of other connectors. */
  lazy val sensitiveKeys: Set[String] = ConnectorOptions.all
    .filter(_.sensitive)
    .map(_.lowerKey)
    .toSet ++ ForeignOptions.all.filter(_.isSensitive).map(_.lowerName)

  private def parse[T](entry: ConfigEntry[T], written: String, text: String): T = entry.kind.parse(text) match {
    case Right(value) => value
    case Left(why) =>
      throw OptionErrors.invalid(
        option = written,
        value = shown(entry, text),
        reason = why,
        expected = entry.kind.expected
      )
  }

  /** Returns the text on one line and without secrets. */
  private def shown(entry: ConfigEntry[_], text: String): String =
    if (entry.sensitive) Redaction.Hidden
    else Redaction.ofOption(isSensitive = false, text).replace("\r", "\\r").replace("\n", "\\n")

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
