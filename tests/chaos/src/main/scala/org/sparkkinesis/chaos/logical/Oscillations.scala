package org.sparkkinesis.chaos.logical

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.chaos.query.{LogicalVersion, QueryProcess}
import org.sparkkinesis.kit.process.StandaloneCluster

/**
 * Lets streams leave and return, and kills processes of the query at random moments. For one thread.
 *
 * @param tick
 *   called at least every [[Oscillations.Tick]], for the producers
 */
final private[logical] class Oscillations(
    document: StreamsDocument,
    query: QueryProcess,
    cluster: Option[StandaloneCluster],
    random: Random,
    changing: Vector[String],
    tick: () => Unit
) {
  import Oscillations._

  private var happened = Map.empty[String, Long]

  /** The number of events by kind. */
  def counts: Map[String, Long] = happened

  /** Waits until the query reads all streams. A stream that leaves before is never parked, because it never joined. */
  def awaitAll(): Unit = awaitStreams("all streams are read")(_.active == changing.size + 1)

  /**
   * Lets one stream leave and return.
   *
   * @param kills
   *   how many processes are killed meanwhile
   */
  def oscillate(number: Int, kills: Int): Unit = {
    val stream = changing(random.nextInt(changing.size))
    val departure = Departures(random.nextInt(Departures.size))
    val killsAway = if (kills == 0) 0 else random.nextInt(kills + 1)
    change(departure.getOrElse("removed"), stream, departure, killsAway)
    // Every second stream returns while it may still be drained.
    if (random.nextBoolean()) awaitStreams(s"$stream is parked")(_.parked > 0)
    change("returned", stream, Some("active"), kills - killsAway)
    println(s"oscillation $number: $stream, ${departure.getOrElse("removed")}; ${query.rows} rows so far")
  }

  private def change(name: String, stream: String, state: Option[String], kills: Int): Unit = {
    if (random.nextInt(4) == 0) damage()
    document.set(stream, state)
    count(name)
    (0 until kills).foreach { _ =>
      // Up to and beyond the moment at which the query takes the new version.
      pass(random.nextInt(2500).millis)
      kill()
    }
    awaitStreams(s"version ${document.version} of the document")(_.version >= document.version)
  }

  private def damage(): Unit = {
    document.damage(Damage.All(random.nextInt(Damage.All.size)))
    count("damaged")
    pass(random.nextInt(1500).millis)
  }

  private def kill(): Unit = {
    val executors = cluster.toSeq.flatMap(_.executors)
    if (executors.nonEmpty && random.nextBoolean()) {
      if (executors(random.nextInt(executors.size))._2.destroyForcibly()) count("killedExecutor")
    } else {
      query.kill()
      query.start()
      count("killedDriver")
    }
  }

  private def pass(time: FiniteDuration): Unit = {
    val end = time.fromNow
    while (end.hasTimeLeft()) {
      tick()
      query.letRun(Tick.min(end.timeLeft.max(1.milli)))
    }
  }

  private def awaitStreams(what: String)(wanted: LogicalVersion => Boolean): Unit = {
    val deadline = Patience.fromNow
    while (!query.awaitStreams(Tick)(wanted)) {
      tick()
      if (deadline.isOverdue())
        throw new IllegalStateException(s"not within $Patience: $what; see ${query.log}")
    }
  }

  private def count(name: String): Unit = happened += name -> (happened.getOrElse(name, 0L) + 1)
}

private[logical] object Oscillations {

  /** How a stream leaves: another state, or a document without it. */
  val Departures: Vector[Option[String]] = Vector(None, Some("draining"), Some("standby"))
  val Tick: FiniteDuration = 50.millis
  val Patience: FiniteDuration = 3.minutes
}
