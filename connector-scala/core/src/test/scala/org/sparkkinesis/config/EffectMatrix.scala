package org.sparkkinesis.config

import org.sparkkinesis.config.value.{Choice, OptionType}

/**
 * Every option in every situation: the side, how the streams are selected, and the type of the query. The options are
 * walked from their declarations, so a new option has a row.
 */
object EffectMatrix {

  val reads: Seq[Situation] =
    for (selection <- StreamSelection.ofReads; query <- QueryType.all)
      yield Situation(Side.Read, selection, Some(query))
  val writes: Seq[Situation] = StreamSelection.ofWrites.map(Situation(Side.Write, _))

  /** The options that put a query in a situation. */
  def base(situation: Situation): Map[String, String] = situation.streams match {
    case StreamSelection.One => Map("streamName" -> "orders")
    case StreamSelection.Several => Map("streamName" -> "orders,clicks")
    case StreamSelection.Pattern => Map("streamPattern" -> "orders.*")
    case StreamSelection.Logical => Map("streamId" -> "orders", "metadataService" -> "file:/streams.json")
    case StreamSelection.ByRow => Map("streamColumn" -> "target")
  }

  private val candidates = Seq(
    "orders",
    "arn:aws:kinesis:eu-central-1:123456789012:stream/orders",
    "arn:aws:kinesis:eu-central-1:123456789012:stream/orders/consumer/etl:1790000000",
    "arn:aws:iam::123456789012:role/reader",
    "eu-central-1",
    "https://kinesis.example.com",
    "123456789012",
    "2026-11-20T12:00:00Z",
    "file:/streams.json",
    "class:example.Router",
    "example.Class"
  )

  /** Returns a valid value of an option that is not its default. */
  def value[T](entry: ConfigEntry[T]): String = {
    val ofKind = (entry.kind: OptionType[_]) match {
      case OptionType.Flag => Seq("true", "false")
      case OptionType.OneOf(values) => values.collect { case choice: Choice => choice.word }
      case OptionType.Whole(min, max) => Seq(min, min + 1, max).map(_.toString)
      case OptionType.Real(min, max) => Seq(min, max).map(_.toString)
      case OptionType.Bytes(min, max) => Seq(min, max).map(_.toString)
      case OptionType.Duration(min, max) => Seq(min, max).map(time => s"${time.toMillis}ms")
      case OptionType.DurationOrInfinite(_) => Seq("infinite")
      case _ => candidates
    }
    ofKind.find(text => entry.kind.parse(text).exists(parsed => !entry.defaultValue.contains(parsed))).getOrElse(
      throw new NoSuchElementException(s"no candidate is a value of ${entry.key}; add one to EffectMatrix.candidates")
    )
  }

  def name(entry: ConfigEntry[_]): String = entry.key.replace(".*", ".orders")

  /** Returns a setting that meets a need. */
  def met(need: Need): (String, String) = {
    val other = ConnectorOptions.all.find(_.key == need.key).get
    name(other) -> need.values.headOption.getOrElse(if (need.not.nonEmpty) "example.Class" else value(other))
  }

  /** Returns the option with everything that it needs in a situation. */
  def options(entry: ConfigEntry[_], situation: Situation): Map[String, String] = {
    val isOnSide = entry.effect.sides(situation.side)
    val needed = entry.effect.needs.headOption.filter(_ => isOnSide).map(met)
    val mode = Option.when(isOnSide && entry.effect.modes.size == 1)(
      ReadOptions.consumerMode.key -> entry.effect.modes.head.word
    )
    base(situation) ++ mode ++ needed + (name(entry) -> value(entry))
  }

  /** Whether the declaration says that the option has an effect. */
  def isDeclared(entry: ConfigEntry[_], situation: Situation): Boolean =
    entry.effect.sides(situation.side) && situation.query.forall(entry.effect.queries) &&
      entry.effect.streams(situation.streams)

  /** The matrix as a text: one row for each option. */
  def text: String = {
    val width = ConnectorOptions.all.map(name(_).length).max
    def cells(entry: ConfigEntry[_], situations: Seq[Situation]): String = situations.map { one =>
      if (isDeclared(entry, one)) '+' else if (!entry.effect.sides(one.side)) 'x' else '.'
    }.mkString
    val rows = ConnectorOptions.all.map { entry =>
      val parts = reads.grouped(QueryType.all.size).map(cells(entry, _)).toSeq :+ cells(entry, writes)
      val needs =
        (entry.effect.modes.toSeq match {
          case Seq(mode) => Seq(s"consumerMode=${mode.word}")
          case _ => Nil
        }) ++ Option.when(entry.effect.needs.nonEmpty)(entry.effect.needs.map(_.text).mkString(" or "))
      (name(entry).padTo(width, ' ') + parts.mkString("  ", "  ", "  ") + needs.mkString(", ")).stripTrailing
    }
    s"""# Where each option has an effect; renew with: ./dev generate
       |# + effect, . warning, x option of the other side: an error in a direct read or write, a warning in a table
       |# Columns: a read of one stream, a list, a pattern, a logical stream, each as batch, processing time,
       |# AvailableNow, Once, real-time; a write to one stream, to a logical stream, to those of the rows; its needs
       |${rows.mkString("\n")}
       |""".stripMargin
  }
}
