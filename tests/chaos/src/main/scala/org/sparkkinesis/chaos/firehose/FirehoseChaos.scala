package org.sparkkinesis.chaos.firehose

import scala.concurrent.duration._

import org.sparkkinesis.chaos.writing.KilledQuery
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/**
 * Writes to a delivery stream under faults and counts the delivered records: `--seconds N --seed S`. Writers run under
 * refusals, partial failures, lost and late answers, and one outage. Then a Spark query runs on a cluster whose driver
 * and executors are repeatedly killed, while a tenth of the records is refused. Prints one JSON object on the last
 * line. Exits with 1 when a record is lost, or duplicated without a reason.
 */
object FirehoseChaos {
  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seed = arguments.seed()
    val half = arguments.number("seconds", 60).seconds / 2
    val verdicts =
      Seq(new FirehoseRound(seed, half).run(), new KilledQuery(seed, half, DeliveryStreamDestination).run())
    println(Json.render(Json.obj(
      "chaos" -> Json.Str("firehose"),
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
