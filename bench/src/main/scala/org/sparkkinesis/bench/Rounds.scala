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

  /** Whether each round begins with a minute of preparation, so that only one warm-up and two counted rounds run. */
  def isSlowToStart: Boolean = false
}

/**
 * Loops that are compared with each other, and run in turn.
 *
 * @param pause
 *   pause before every loop
 */
final case class LoopGroup(loops: Seq[MeasuredLoop], pause: Duration = Duration.Zero)

/**
 * Rounds of the benchmarks of throughput. The loops of a group run in turn in each round, so that other load on the
 * machine affects them equally.
 *
 * Rounds are counted when all loops are warm: [[warmUp]] runs rounds until the CPU time per record of no loop is below
 * its lowest so far by more than five percent.
 *
 * The argument `--only NAME,NAME` runs only these loops, `--tls off` leaves out the loops over TLS, whose names end
 * with `_tls`, and `--tls on` leaves out the others. With `--rounds N`, there are exactly that many warm-ups and
 * counted rounds.
 */
object Rounds {
  private val MinRounds = 5
  private val MinWarmUps = 3
  private val MaxWarmUps = 10
  private val WarmImprovement = 0.05
  private val SlowWarmUps = 1
  private val SlowRounds = 2

  /** The end of the names of loops over TLS. */
  val OverTls = "_tls"

  /** Whether the arguments ask for loops over TLS. */
  def withTls(arguments: Arguments): Boolean = arguments.text("tls", "both") != "off"

  /**
   * Warms up each group and then measures it.
   *
   * @param seconds
   *   time for the counted rounds of all groups
   * @param afterWarmUp
   *   called once, when all groups are warm
   */
  def run(arguments: Arguments, groups: Seq[LoopGroup], records: Long, seconds: Int)(
      afterWarmUp: => Unit
  ): Seq[(String, Seq[Measured])] = {
    val chosen = groups.map(group => group.copy(loops = this.chosen(arguments, group.loops))).filter(_.loops.nonEmpty)
    if (chosen.isEmpty) throw new IllegalArgumentException("the arguments leave no loop to run")
    val fixed = Some(arguments.number("rounds", 0)).filter(_ > 0)
    chosen.foreach(group => warmUp(group.loops, records, group.pause, fixed))
    afterWarmUp
    chosen.flatMap(group => measure(group.loops, records, seconds / chosen.size, group.pause, fixed))
  }

  private def warmUp(loops: Seq[MeasuredLoop], records: Long, pause: Duration, fixed: Option[Int]): Unit = {
    val lowest = mutable.Map.empty[String, Double]
    var rounds = 0
    var isWarm = false
    while (!isWarm && rounds < MaxWarmUps) {
      val running = loops.filter(loop => !loop.isSlowToStart || rounds < SlowWarmUps)
      val cpu = round("warm-up", running, records, pause).map { case (name, found) => name -> found.cpuMicros }
      rounds += 1
      val isSteady = cpu.forall { case (name, micros) => lowest.get(name).exists(micros > _ * (1 - WarmImprovement)) }
      isWarm = fixed.fold(rounds >= MinWarmUps && isSteady)(rounds >= _)
      cpu.foreach { case (name, micros) => lowest(name) = math.min(micros, lowest.getOrElse(name, micros)) }
    }
    if (!isWarm) println(s"not warm after $rounds rounds")
  }

  /** Runs at least five counted rounds, and starts further rounds within `seconds`. */
  private def measure(
      loops: Seq[MeasuredLoop],
      records: Long,
      seconds: Int,
      pause: Duration,
      fixed: Option[Int]
  ): Seq[(String, Seq[Measured])] = {
    val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds.toLong)
    val rounds = Iterator
      .from(1)
      .takeWhile(number => number <= SlowRounds || loops.exists(!_.isSlowToStart))
      .takeWhile(number => fixed.fold(number <= MinRounds || System.nanoTime < end)(number <= _))
      .map { number =>
        val running = loops.filter(loop => !loop.isSlowToStart || number <= SlowRounds)
        round(s"round $number", running, records, pause)
      }
      .toVector
    loops.map(loop => loop.name -> rounds.flatMap(_.get(loop.name)))
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
   * highest median rate. Names begin with their kind, such as `polling`, those of bare clients contain `_sdk`, and
   * those of loops over TLS, which are compared with each other only, end with `_tls`.
   */
  def json(measured: Seq[(String, Seq[Measured])]): Seq[(String, Json)] = {
    def ofSdk(name: String) = name.contains("_sdk")
    val ratios = for {
      (name, rounds) <- measured if !ofSdk(name) && !name.endsWith("_socket")
      bare = measured.filter { case (other, _) => ofSdk(other) && kindOf(other) == kindOf(name) }
      (_, best) <- bare.maxByOption { case (_, rounds) => rate(rounds) }.toSeq
      (plain, suffix) = split(name)
      ratio <- Seq(
        s"${plain}_vs_bare$suffix" -> number(rate(rounds) / rate(best), 3),
        s"${plain}_cpu_vs_bare$suffix" -> number(cpu(rounds) / cpu(best), 3)
      )
    } yield ratio
    ratios ++ figures(measured)
  }

  /** Returns the number of rounds of each loop, and their rates, CPU times and allocations. */
  def figures(measured: Seq[(String, Seq[Measured])]): Seq[(String, Json)] = measured.map { case (name, rounds) =>
    name -> Json.obj(
      "rounds" -> Json.num(rounds.size.toLong),
      "perSecond" -> spread(rounds.map(_.perSecond), 0),
      "cpuMicros" -> spread(rounds.map(_.cpuMicros), 3),
      "allocatedBytes" -> spread(rounds.map(_.allocatedBytes), 0)
    )
  }

  def rate(rounds: Seq[Measured]): Double = Meter.median(rounds.map(_.perSecond))
  def cpu(rounds: Seq[Measured]): Double = Meter.median(rounds.map(_.cpuMicros))

  /** Splits a name into the part without TLS, and `_tls` or an empty text. */
  def split(name: String): (String, String) =
    if (name.endsWith(OverTls)) (name.stripSuffix(OverTls), OverTls) else (name, "")

  private def kindOf(name: String): (String, String) = (name.takeWhile(_ != '_'), split(name)._2)

  private def spread(values: Seq[Double], decimals: Int): Json = Json.obj(
    "min" -> number(values.min, decimals),
    "median" -> number(Meter.median(values), decimals),
    "max" -> number(values.max, decimals)
  )

  def number(value: Double, decimals: Int): Json.Num =
    Json.Num(BigDecimal(value).setScale(decimals, BigDecimal.RoundingMode.HALF_UP))

  private def chosen(arguments: Arguments, loops: Seq[MeasuredLoop]): Seq[MeasuredLoop] = {
    val names = arguments.text("only", "").split(',').filter(_.nonEmpty).toSet
    val tls = arguments.text("tls", "both")
    require(Set("on", "off", "both")(tls), s"--tls is on, off or both, but was '$tls'")
    loops.filter(loop => tls == "both" || loop.name.endsWith(OverTls) == (tls == "on"))
      .filter(loop => names.isEmpty || names(loop.name))
  }
}
