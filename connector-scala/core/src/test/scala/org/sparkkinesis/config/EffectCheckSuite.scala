package org.sparkkinesis.config

import org.sparkkinesis.config.EffectMatrix._
import org.sparkkinesis.config.QueryType._
import org.sparkkinesis.config.StreamSelection._
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.suite.TimedSuite

class EffectCheckSuite extends TimedSuite {
  private val all = ConnectorOptions.all

  /** What the check says about one option: nothing, a warning, or an error. */
  private def outcome(
      options: Options,
      situation: Situation,
      shown: String,
      declared: Seq[ConfigEntry[_]] = ConnectorOptions.all
  ): Option[String] =
    try EffectCheck.warnings(options, situation, declared).find(_.startsWith(s"Option '$shown' has no effect"))
    catch {
      case error: KinesisConnectorException if error.parameters.get("option").contains(shown) =>
        assert(error.condition == "KINESIS_OPTION_WITHOUT_EFFECT")
        Some(s"error: ${error.parameters("reason")}")
    }

  test("every option has an effect exactly where it is declared, in a direct read or write and in a table") {
    info(EffectMatrix.text)
    for (entry <- all; situation <- reads ++ writes) {
      val raw = EffectMatrix.options(entry, situation)
      val direct = outcome(Options.read(raw), situation, name(entry))
      val ofTable = outcome(Options.overTable(raw, Map.empty), situation, name(entry))
      val clue = s"${entry.key}: $situation"
      val isOtherSide = !entry.effect.sides(situation.side)
      if (isDeclared(entry, situation)) assert((direct, ofTable) == ((None, None)), clue)
      else {
        assert(direct.exists(_.startsWith("error: ")) == isOtherSide, clue)
        assert(direct.nonEmpty, clue)
        assert(ofTable.exists(_.startsWith(s"Option '${name(entry)}' has no effect here. It ")), clue)
      }
    }
  }

  test("every option has an effect somewhere on each of its sides") {
    for (entry <- all; side <- entry.effect.sides)
      assert((reads ++ writes).exists(one => one.side == side && isDeclared(entry, one)), s"${entry.key}: $side")
  }

  test("an option without what it needs is reported, and with any of it is not") {
    for (entry <- all if entry.effect.needs.nonEmpty) {
      val situation = (reads ++ writes).find(isDeclared(entry, _)).get
      val complete = EffectMatrix.options(entry, situation)
      entry.effect.needs.foreach { need =>
        val raw = complete - met(entry.effect.needs.head)._1 + met(need)
        assert(outcome(Options.read(raw), situation, name(entry)) == None, s"${entry.key} with ${need.text}")
      }
      // The needed value may be the default, and then another value takes it away.
      val other = all.find(_.key == entry.effect.needs.head.key).get
      val without = complete - met(entry.effect.needs.head)._1 ++
        Option.when(entry.effect.needs.head.values.contains(other.default.orNull))(name(other) -> value(other))
      val said = outcome(Options.read(without), situation, name(entry))
      assert(said.exists(_.contains("It applies with ")), s"${entry.key}: $said")
      assert(said.exists(_.startsWith("error: ")) == entry.effect.isMistakeWithout, entry.key)
    }
  }

  test("an option of one mode is reported in the other mode, except if it has its default") {
    for (entry <- all if entry.effect.modes.size == 1) {
      val situation = reads.find(isDeclared(entry, _)).get
      val raw = EffectMatrix.options(entry, situation) - ReadOptions.consumerMode.key
      assert(
        outcome(Options.read(raw), situation, name(entry)).exists(_.contains("consumerMode is polling")),
        entry.key
      )
    }
    val default = Options.read(Map("streamName" -> "orders", "registration" -> "lazy"))
    assert(EffectCheck.warnings(default, Situation(Side.Read, One, Some(ProcessingTime))) == Nil)
  }

  test("the options that were once accepted without an effect are reported") {
    val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders/consumer/etl:1790000000"
    def read(query: QueryType, streams: StreamSelection = One) = Situation(Side.Read, streams, Some(query))
    val write = Situation(Side.Write, One)
    val stream = ProcessingTime
    val table = Seq(
      (Seq("endingPosition" -> "2026-11-20T12:00:00Z"), read(stream), "It applies to batch queries"),
      (Seq("consumerName" -> "etl"), read(stream), "consumerMode is polling"),
      (Seq("consumerARN" -> arn), read(stream), "consumerMode is polling"),
      (Seq("consumerMode" -> "efo"), read(Batch), "It applies to streaming queries"),
      (Seq("maxRecordsPerTrigger" -> "5"), read(Batch), "a batch query"),
      (Seq("minRecordsPerTrigger" -> "5"), read(Batch), "a batch query"),
      (Seq("minRecordsPerTrigger" -> "5"), read(AvailableNow), "with Trigger.AvailableNow"),
      (Seq("maxRecordsPerTrigger" -> "5"), read(Once), "with Trigger.Once"),
      (Seq("maxTriggerDelay" -> "5s"), read(stream), "It applies with minRecordsPerTrigger only."),
      (Seq("roleExternalId" -> "7"), read(stream), "It applies with roleArn or roleArn.* only."),
      (Seq("drainGrace" -> "5s"), read(stream), "a pattern or a logical stream"),
      (Seq("newStreamPosition" -> "latest"), read(stream), "a pattern or a logical stream"),
      (Seq("newStreamPosition" -> "latest"), read(stream, Several), "this query has a list of streams"),
      (Seq("deadLetterStream" -> "dead"), write, "error: It applies with onInvalidRecord=deadLetter only."),
      (Seq("deadLetterTable" -> "dead"), write, "error: It applies with onInvalidRecord=deadLetter only."),
      (Seq("aggregation" -> "true"), read(stream), "error: It is an option of writes, and this is a read."),
      (Seq("initialPosition" -> "latest"), write, "error: It is an option of reads, and this is a write."),
      (Seq("consumerMode" -> "efo"), write, "error: It is an option of reads"),
      (Seq("rateLimiting.batchAndDelay.growth" -> "2"), write, "It applies with rateLimiting=batchAndDelay only."),
      (Seq("rateLimiting.param.x" -> "2"), write, "rateLimiting=<name of a class>"),
      (Seq("endBatchEarly" -> "false"), read(stream), "in real-time mode"),
      (Seq("maxBufferedRecords" -> "7", "aggregation" -> "true"), write, "It applies with aggregation=false only.")
    )
    table.foreach { case (set, situation, said) =>
      val found = outcome(Options.read(set.toMap ++ base(situation)), situation, set.head._1)
      assert(found.exists(_.contains(said)), s"$set: $found")
    }
  }

  test("an option of another connector is a warning on the other side, under the name that the user wrote") {
    val options = Options.read(Map("streamName" -> "orders", "kinesis.sink.aggregationEnabled" -> "true"))
    assert(EffectCheck.warnings(options, Situation(Side.Read, One)) == Seq(
      "Option 'kinesis.sink.aggregationEnabled' has no effect here. It is an option of writes, and this is a read."
    ))
  }

  test("an option of a read or write that a table also sets counts as that of the read or write") {
    val options = Options.overTable(Map("AGGREGATION" -> "true"), Map("aggregation" -> "false"))
    assert(!options(WriteOptions.aggregation))
    assert(outcome(options, Situation(Side.Read, One), "aggregation").exists(_.startsWith("error: ")))
  }

  test("the options of the Firehose sink are checked alike") {
    val dead = Map("deliveryStreamName" -> "logs", "deadLetterTable" -> "dead")
    val write = Situation(Side.Write, One)
    assert(outcome(FirehoseOptions.read(dead), write, "deadLetterTable", FirehoseOptions.all).nonEmpty)
    val complete = FirehoseOptions.read(dead + ("onInvalidRecord" -> "deadLetter"))
    assert(EffectCheck.warnings(complete, write, FirehoseOptions.all) == Nil)
  }

  test("every setting that an option needs is an option") {
    for (entry <- all; need <- entry.effect.needs) {
      val other = all.find(_.key == need.key)
      assert(other.nonEmpty, s"${entry.key} needs ${need.key}")
      need.values.foreach(text => assert(other.get.kind.parse(text).isRight, s"${need.key}=$text"))
    }
  }
}
