package org.sparkkinesis.config

import org.sparkkinesis.error.OptionErrors

/**
 * A use of options.
 *
 * @param query
 *   type of the query; empty for a write of a streaming query, and while Spark has not told it
 */
final case class Situation(side: Side, streams: StreamSelection, query: Option[QueryType] = None)

/**
 * Finds the options that a user set and that have no effect, from the declarations. An option of the other side is an
 * error if the read or write itself sets it, and a warning if a table sets it, because a table serves several uses.
 */
object EffectCheck {

  /**
   * An option without an effect.
   *
   * @param reason
   *   a sentence that says where it has an effect
   */
  final private case class Finding(option: String, reason: String, fix: String, isMistake: Boolean)

  /**
   * Returns one text for each option without an effect.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_WITHOUT_EFFECT for an option that is certainly a mistake
   */
  def warnings(
      options: Options,
      situation: Situation,
      declared: Seq[ConfigEntry[_]] = ConnectorOptions.all
  ): Seq[String] = {
    val found = declared.flatMap(entry => options.settingsOf(entry).flatMap(of(entry, _, options, situation, declared)))
    found.find(_.isMistake).foreach { mistake =>
      throw OptionErrors.withoutEffect(option = mistake.option, reason = mistake.reason, fix = mistake.fix)
    }
    found.map(one => s"Option '${one.option}' has no effect here. ${one.reason}").distinct
  }

  private def of(
      entry: ConfigEntry[_],
      setting: Options.SettingOf,
      options: Options,
      situation: Situation,
      declared: Seq[ConfigEntry[_]]
  ): Option[Finding] = {
    val effect = entry.effect
    def finding(reason: String, fix: String = "", isMistake: Boolean = false) =
      Some(Finding(setting.shown, reason, if (fix.isEmpty) s"Remove '${setting.shown}'." else fix, isMistake))
    if (!effect.sides(situation.side)) {
      val (own, here) = if (situation.side == Side.Write) ("reads", "write") else ("writes", "read")
      finding(
        s"It is an option of $own, and this is a $here.",
        isMistake = setting.isOwn && !setting.isForeign
      )
    } else if (setting.isDefault) None
    else
      situation.query.filterNot(effect.queries).map { query =>
        s"It applies to ${EffectText.queries(effect.queries)}, and this is ${query.title}."
      }.orElse(Option.unless(effect.streams(situation.streams)) {
        s"It applies to ${EffectText.streams(effect.streams)}, and this query has ${situation.streams.title}."
      }).orElse(Option.unless(situation.side == Side.Write || effect.modes(options(ReadOptions.consumerMode))) {
        s"It applies with consumerMode=${effect.modes.map(_.word).mkString(" or ")}, and consumerMode is " +
          s"${options(ReadOptions.consumerMode).word}."
      }).flatMap(finding(_)).orElse(Option.unless(effect.needs.isEmpty ||
        effect.needs.exists(isMet(_, options, declared))) {
        val wanted = effect.needs.map(_.text).mkString(" or ")
        finding(
          s"It applies with $wanted only.",
          s"Set $wanted, or remove '${setting.shown}'.",
          effect.isMistakeWithout
        )
      }.flatten)
  }

  private def isMet(need: Need, options: Options, declared: Seq[ConfigEntry[_]]): Boolean =
    declared.find(_.key == need.key).exists { entry =>
      if (need.values.isEmpty && need.not.isEmpty) options.settingsOf(entry).nonEmpty
      else options.textOf(entry).exists { text =>
        (need.values.isEmpty || need.values.exists(_.equalsIgnoreCase(text))) &&
        !need.not.exists(_.equalsIgnoreCase(text))
      }
    }
}

/** The words of declared effects, for messages and for the reference. */
object EffectText {
  import QueryType._

  def queries(of: Set[QueryType]): String = of match {
    case every if every == QueryType.all.toSet => "streaming and batch queries"
    case QueryType.streaming => "streaming queries"
    case QueryType.microBatch => "streaming queries that are not in real-time mode"
    case some if some == Set(Batch) => "batch queries"
    case some if some == Set(RealTime) => "streaming queries in real-time mode"
    case some if some == Set(ProcessingTime) => "streaming queries with a processing-time trigger"
    case some if some == Set(ProcessingTime, AvailableNow) =>
      "streaming queries with a processing-time trigger or Trigger.AvailableNow"
    case some => some.map(_.title).toSeq.sorted.mkString(", ")
  }

  /** The types of queries as the column of a table. */
  def queryType(of: Set[QueryType]): String = of match {
    case every if every == QueryType.all.toSet => "streaming and batch"
    case QueryType.streaming => "streaming"
    case QueryType.microBatch => "streaming, not real-time"
    case some if some == Set(Batch) => "batch"
    case some if some == Set(RealTime) => "real-time"
    case some if some == Set(ProcessingTime) => "streaming with a processing-time trigger"
    case some if some == Set(ProcessingTime, AvailableNow) => "streaming, not real-time, not `Trigger.Once`"
    case some => queries(some)
  }

  /** Everything else that an option needs, as the column of a table; empty if it needs nothing. */
  def requirements(of: Effect): String = {
    val mode = of.modes.toSeq match {
      case Seq(one) => Seq(s"`consumerMode=${one.word}`")
      case _ => Nil
    }
    val selection = Option.when(of.streams != StreamSelection.all.toSet)(streams(of.streams))
    val settings = Option.when(of.needs.nonEmpty)(of.needs.map(need => s"`${need.text}`").mkString(" or "))
    (mode ++ selection ++ settings).mkString(", ")
  }

  def streams(of: Set[StreamSelection]): String =
    StreamSelection.all.filter(of).map(_.title).mkString(" or ")
}
