package org.sparkkinesis.chaos.writing

import scala.concurrent.duration._

import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/**
 * Writes under faults and counts the stored records: `--seconds N --seed S`. It runs rounds of writers under faults
 * and reshards in all four combinations of ordering and aggregation, then an outage under full load (of one minute if
 * there is time), then a Spark query on a cluster whose driver and executors are repeatedly killed. Prints one JSON
 * object on the last line. Exits with 1 when a record is lost, duplicated without a reason, or out of its key's
 * order, or when the buffers exceed their limits.
 */
object WritingChaos {
  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seed = arguments.seed()
    val total = arguments.number("seconds", 60).seconds
    val forKills = total / 2
    val forOutage = (total / 6).min(1.minute)

    val rounds = for {
      (aggregated, i) <- Seq(false, true).zipWithIndex
      (ordered, j) <- Seq(false, true).zipWithIndex
    } yield new FaultRound(ordered, aggregated, seed * 10 + i * 2L + j, (total - forKills - forOutage) / 4).run()
    val verdicts = rounds :+ new OutageRound(seed, forOutage).run() :+
      new KilledQuery(seed, forKills, CopyDestination.Stream).run()
    println(Json.render(Json.obj(
      "chaos" -> Json.Str("writing"),
      "seed" -> Json.num(seed),
      "ok" -> Json.Bool(verdicts.forall(_.ok)),
      "written" -> Json.num(verdicts.map(_.written).sum),
      "lost" -> Json.num(verdicts.map(_.lost).sum),
      "doubled" -> Json.num(verdicts.map(_.doubled).sum),
      "rounds" -> Json.Arr(verdicts.map(_.toJson).toVector)
    )))
    sys.exit(if (verdicts.forall(_.ok)) 0 else 1)
  }
}

/**
 * The result of a round.
 *
 * @param doubled
 *   number of repeated arrivals
 * @param excused
 *   number of possible duplicates that the sink reported
 * @param overtaken
 *   number of first arrivals before that of an earlier record of their key, if order was promised
 * @param overrun
 *   number of accepted records above the stored records and the limits of the buffers
 */
final case class Verdict(
    name: String,
    written: Long,
    lost: Long,
    doubled: Long,
    excused: Long,
    overtaken: Long,
    facts: Seq[(String, Long)],
    overrun: Long = 0
) {
  def ok: Boolean = written > 0 && lost == 0 && doubled <= excused && overtaken == 0 && overrun == 0

  def toJson: Json = Json.obj(
    Seq[(String, Json)](
      "round" -> Json.Str(name),
      "ok" -> Json.Bool(ok),
      "written" -> Json.num(written),
      "lost" -> Json.num(lost),
      "doubled" -> Json.num(doubled),
      "possibleDuplicates" -> Json.num(excused),
      "overtaken" -> Json.num(overtaken),
      "overrun" -> Json.num(overrun)
    ) ++ facts.map { case (name, value) => name -> Json.num(value) }: _*
  )
}
