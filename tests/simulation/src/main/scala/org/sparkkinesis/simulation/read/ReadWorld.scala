package org.sparkkinesis.simulation.read

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.config.{MetadataOptions, Options}
import org.sparkkinesis.model.{KinesisRecord, SequenceNumber, StartingPosition}
import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.simulation.common.SimulatedTime
import org.sparkkinesis.simulation.metadata.LogicalStream
import org.sparkkinesis.simulation.model.{ModelKinesis, ModelShard}
import org.sparkkinesis.simulation.read.member.MemberVerdict
import org.sparkkinesis.simulation.read.schedule.ReadScenario
import org.sparkkinesis.simulation.spark.{BatchSink, CheckpointFolder, WireFaults}

/**
 * What outlives the runs of a query: time, the service, the checkpoint, and what is known about the records.
 *
 * @param spoil
 *   returns the sink that a broken product would have, to show that its faults are found
 */
final private[read] class ReadWorld(
    scenario: ReadScenario,
    trace: String => Unit,
    val spoil: BatchSink => BatchSink = identity[BatchSink] _
) {
  val setup = scenario.setup
  val random = new Random(scenario.seed)

  /** Decides which operations on local files fail. It is separate, so that these do not change what else happens. */
  val diskRandom = new Random(scenario.seed)
  val time = new SimulatedTime(ReadSimulation.StartMillis)
  val service = new ModelKinesis(time.scheduler, random, setup.model)
  val wireFaults = new WireFaults(random, () => time.nowMillis)
  val checkpoint = new CheckpointFolder
  private val retentionMillis = setup.retentionHours * 3600000L
  val ledger = new ReadLedger(() => time.nowMillis, retentionMillis)
  val streams = new AllStreams(service, ledger, setup, random)

  /** The logical stream that the query reads, if it reads one. */
  val logical: Option[LogicalStream] =
    Option.when(setup.isLogical)(new LogicalStream(streams.arns, setup.logical, () => time.nowMillis, random))

  val members: Option[MemberVerdict] = logical.map { _ =>
    ledger.expectJoins()
    new MemberVerdict(
      checkpoint.read,
      ledger,
      () => time.nowMillis,
      Options.read(setup.options)(MetadataOptions.drainGrace).toMillis,
      Options.read(setup.options)(MetadataOptions.removedStreamRetention).toMillis
    )
  }

  val verdict = new ReadVerdict(
    time,
    ledger,
    retentionMillis,
    hasExpiredSince,
    () => Option.when(setup.initialPosition == "at_timestamp")(initialTime),
    isUnseen,
    streams.ancestors,
    streams.expiredSiblings(_, _, time.nowMillis),
    stream => logical.fold(0L)(_.longestInactiveMillis(LossReport.isNamed(_, stream))),
    () => time.nowMillis < calmAtMillis
  )

  /** The difference between the driver's clock and the service's. */
  var skewMillis = 0L

  /** The difference between the clocks of all executors and the service's. */
  var executorSkewMillis = 0L
  private var troubledUntilMillis = 0L

  /** The time until which a query may end because it missed a stream that was deleted for a while. */
  private var missedUntilMillis = 0L
  private var executors = 0
  private var readsFromService = 0
  private var moved = 0
  private var movedUnheard = 0

  def tell(what: => String): Unit = trace(s"${Instant.ofEpochMilli(time.nowMillis)} $what")

  /** The number of executors so far. */
  def executorsSoFar: Int = executors

  /** The number of ranges that tasks of micro-batches have read from the service. */
  def directReads: Int = readsFromService
  def noteDirectRead(): Unit = readsFromService += 1

  /** The number of shards of real-time tasks that did not run in the executor that read these shards before. */
  def moves: Int = moved
  def noteMove(shards: Int): Unit = {
    moved += shards
    if (wireFaults.isActive) movedUnheard += shards
  }

  /** The number of such shards while messages were lost, so that the executor that read them before may read on. */
  def unheardMoves: Int = movedUnheard

  /** Returns a name that no executor has had. */
  def nextExecutor(): String = {
    executors += 1
    s"executor-$executors"
  }

  /** Records that the service or a connection fails until this time. */
  def trouble(untilMillis: Long): Unit = troubledUntilMillis = math.max(troubledUntilMillis, untilMillis)

  /**
   * Records that a stream is deleted and returns after this time. A slow query may notice later that the stream was
   * missing, also when all faults have ended.
   */
  def deleted(downMillis: Long): Unit = {
    trouble(time.nowMillis + downMillis)
    missedUntilMillis = math.max(missedUntilMillis, time.nowMillis + downMillis + ReadWorld.NoticedMillis)
  }

  /** Suspends all machines. What takes a while in their running times ends later by the clock. */
  def suspend(millis: Long): Unit = {
    time.scheduler.suspend(millis.millis)
    troubledUntilMillis += millis
    missedUntilMillis += millis
  }

  private def calmAtMillis: Long = math.max(troubledUntilMillis + ReadWorld.AftermathMillis, missedUntilMillis)

  /** Returns whether a query that started at this time was sure to read a stream. */
  def isReadSince(millis: Long): String => Boolean = logical.fold[String => Boolean](_ => true) { named =>
    if (millis < calmAtMillis) _ => false else named.readSince(millis)
  }

  /** Ends all faults. */
  def heal(): Unit = {
    troubledUntilMillis = math.min(troubledUntilMillis, time.nowMillis)
    service.faults.clear()
    wireFaults.clear()
    streams.heal()
    logical.foreach(_.heal())
  }

  /** The arrival time of the first record that must be read; the first start of the query fixes it. */
  lazy val positionMillis: Long = setup.initialPosition match {
    case "trim_horizon" => 0L
    // A record that arrives in the millisecond of the start may have arrived before it.
    case "latest" => time.nowMillis + 1
    case _ => initialTime
  }

  /** The value of `initialPosition` if it is a time. */
  lazy val initialTime: Long = time.nowMillis - setup.positionAgeMillis

  /**
   * Whether the last batch was planned although some shard could not be fetched, or left an old position in a closed
   * shard. That position stays old until the end of the shard is reported, and longer if no listing of the run has
   * shown the shard as open, because the children may be as old. A shard with records that no batch has taken, because
   * they were not fetched or because of a limit, has the arrival of the last one that a batch has.
   *
   * @param startMillis
   *   when the run started that planned the batch
   * @param storedMillis
   *   when the newest positions in the checkpoint were stored
   * @param isRunning
   *   whether that run goes on, which waits for the first answer of such a shard before it reports losses
   */
  private def isUnseen(startMillis: Long, storedMillis: Long, isRunning: Boolean): Boolean =
    stored.exists(_.streams.values.exists(stream =>
      stream.since.exists { case (shard, since) =>
        val takesLong = time.nowMillis - since > retentionMillis + ReadWorld.FirstAnswerMillis
        (!isRunning || takesLong || since == stream.creationMillis) &&
        stream.shards.get(shard).exists(_.isInstanceOf[ShardPosition.Start])
      } || {
        val listedMillis = ledger.listedSince(stream.arn).fold(startMillis)(math.max(startMillis, _))
        service.stream(stream.arn).exists(_.shards.exists(shard =>
          if (shard.isOpen) hadMore(stream, shard, storedMillis) && isPast(stream, shard)
          else isOld(stream, shard, listedMillis)
        ))
      }
    ))

  /**
   * Returns the end of the last batch, or the initial offset, and how far the query has read beyond it, if it has
   * stored that.
   */
  private def stored: Seq[SourceOffset] =
    checkpoint.latest("offsets").map(_._2).orElse(checkpoint.read("initial-offset")).toSeq.flatMap { end =>
      (end +: readUpTo.collect { case (`end`, beyond) => beyond }.toSeq).map(OffsetCodec.decode)
    }

  /** The last offset beyond which the query has stored how far it has read, and that position. */
  def readUpTo: Option[(String, String)] =
    checkpoint.read("read-up-to").map(_.linesIterator.toSeq).collect { case offset +: beyond +: _ => (offset, beyond) }

  private def isOld(stream: StreamOffset, shard: ModelShard, listedMillis: Long): Boolean =
    stream.shards.get(shard.id).exists { position =>
      position != ShardPosition.ShardEnd || shard.closedMillis.exists(_ <= listedMillis + ReadWorld.AftermathMillis)
    } && isPast(stream, shard)

  private def isPast(stream: StreamOffset, shard: ModelShard): Boolean =
    stream.readUntil(shard.id).exists(time.nowMillis - _ > retentionMillis - ReadVerdict.UncertainMillis)

  /** Whether a shard had records at a time that come after its position. */
  private def hadMore(stream: StreamOffset, shard: ModelShard, atMillis: Long): Boolean = {
    def has(isAfter: KinesisRecord => Boolean) =
      shard.records.map(_.record).exists(record => record.arrivalMillis <= atMillis && isAfter(record))
    stream.shards.get(shard.id).exists {
      case ShardPosition.After(number, _) => has(record => SequenceNumber.trusted(record.sequenceNumber) > number)
      case ShardPosition.Start(StartingPosition.AtTimestamp(millis)) => has(_.arrivalMillis >= millis)
      case _ => false
    }
  }

  private def hasExpiredSince(millis: Long): Boolean = streams.arns.flatMap(service.stream).exists { stream =>
    stream.shards.exists(shard => stream.isExpired(shard, time.nowMillis) && !stream.isExpired(shard, millis))
  }
}

private object ReadWorld {

  /** The time within which a call gives up that has received no answer, and a stale answer is replaced. */
  val AftermathMillis: Long = 15 * 60 * 1000L

  /** The time within which records may expire before the first answer of a shard, with a tolerance for clocks. */
  private val FirstAnswerMillis: Long = 55 * 60 * 1000L

  /** The time within which a slow query asks the service for each shard again. */
  private val NoticedMillis = 2 * 3600000L
}
