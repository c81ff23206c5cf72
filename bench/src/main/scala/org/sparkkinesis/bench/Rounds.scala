package org.sparkkinesis.bench

import java.util.concurrent.TimeUnit

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/** One of the alternatives that a benchmark compares: reads or writes `records` records. */
trait MeasuredLoop {
  def name: String
  def run(records: Long): Measured
}

/**
 * Rounds of the benchmarks of throughput. The loops run in turn in each round, so that other load on the machine
 * affects them equally.
 *
 * Rounds are counted when all loops are warm: [[warmUp]] runs rounds until the CPU time per record of no loop is below
 * its lowest so far by more than five percent.
 */
object Rounds {
  private val MinRounds = 5
  private val MinWarmUps = 3
  private val MaxWarmUps = 10
  private val WarmImprovement = 0.05

  /**
   * @param pause
   *   pause before every loop
   */
  def warmUp(loops: Seq[MeasuredLoop], records: Long, pause: Duration): Unit = {
    val lowest = mutable.Map.empty[String, Double]
    var rounds = 0
    var isWarm = false
    while (!isWarm && rounds < MaxWarmUps) {
      val cpu = round("warm-up", loops, records, pause).map { case (name, found) => name -> found.cpuMicros }
      rounds += 1
      isWarm = rounds >= MinWarmUps && cpu.forall { case (name, micros) =>
        micros > lowest(name) * (1 - WarmImprovement)
      }
      cpu.foreach { case (name, micros) => lowest(name) = math.min(micros, lowest.getOrElse(name, micros)) }
    }
    if (!isWarm) println(s"not warm after $rounds rounds")
  }

  /** Runs at least five counted rounds, and starts further rounds within `seconds`. */
  def measure(loops: Seq[MeasuredLoop], records: Long, seconds: Int, pause: Duration): Seq[(String, Seq[Measured])] = {
    val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds.toLong)
    val rounds = Iterator
      .from(1)
      .takeWhile(number => number <= MinRounds || System.nanoTime < end)
      .map(number => round(s"round $number", loops, records, pause))
      .toVector
    loops.map(loop => loop.name -> rounds.map(_(loop.name)))
  }

  private def round(
      title: String,
      loops: Seq[MeasuredLoop],
      records: Long,
      pause: Duration
  ): Map[String, Measured] = loops.map { loop =>
    TimeUnit.MILLISECONDS.sleep(pause.toMillis)
    val found = loop.run(records)
    println(
      f"$title%-8s  ${loop.name}%-20s ${found.perSecond}%,12.0f records/s  ${found.cpuMicros}%6.2f µs CPU and " +
        f"${found.allocatedBytes}%,.0f bytes per record"
    )
    loop.name -> found
  }.toMap

  /**
   * Returns the figures of each loop, and its ratios of rates and of CPU time to the bare client of the SDK with the
   * highest median rate. Names begin with their kind, such as `polling`, and those of bare clients contain `_sdk`.
   */
  def json(measured: Seq[(String, Seq[Measured])]): Seq[(String, Json)] = {
    def ofSdk(name: String) = name.contains("_sdk")
    def rate(rounds: Seq[Measured]) = Meter.median(rounds.map(_.perSecond))
    def cpu(rounds: Seq[Measured]) = Meter.median(rounds.map(_.cpuMicros))
    val ratios = for {
      (name, rounds) <- measured if !ofSdk(name) && !name.endsWith("_socket")
      kind = name.takeWhile(_ != '_')
      (_, best) <- measured.filter { case (bare, _) => bare.startsWith(kind) && ofSdk(bare) }.maxByOption {
        case (_, bare) => rate(bare)
      }.toSeq
      ratio <- Seq(
        s"${name}_vs_bare" -> number(rate(rounds) / rate(best), 3),
        s"${name}_cpu_vs_bare" -> number(cpu(rounds) / cpu(best), 3)
      )
    } yield ratio
    val figures = measured.map { case (name, rounds) =>
      name -> Json.obj(
        "perSecond" -> spread(rounds.map(_.perSecond), 0),
        "cpuMicros" -> spread(rounds.map(_.cpuMicros), 3),
        "allocatedBytes" -> spread(rounds.map(_.allocatedBytes), 0)
      )
    }
    (ratios ++ figures)
  }

  private def spread(values: Seq[Double], decimals: Int): Json = Json.obj(
    "min" -> number(values.min, decimals),
    "median" -> number(Meter.median(values), decimals),
    "max" -> number(values.max, decimals)
  )

  def number(value: Double, decimals: Int): Json.Num =
    Json.Num(BigDecimal(value).setScale(decimals, BigDecimal.RoundingMode.HALF_UP))

  /** Returns the loops that the argument `--only NAME,NAME` names, or all of them without it. */
  def chosen(arguments: Arguments, loops: Seq[MeasuredLoop]): Seq[MeasuredLoop] = {
    val names = arguments.text("only", "").split(',').filter(_.nonEmpty).toSet
    if (names.isEmpty) loops else loops.filter(loop => names(loop.name))
  }
}
