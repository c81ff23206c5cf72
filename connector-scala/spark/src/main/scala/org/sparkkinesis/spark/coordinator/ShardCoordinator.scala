package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.event.ExecutorFailed
import org.sparkkinesis.model.Shard
import org.sparkkinesis.plan.SourceOffset
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.protocol.{Broken, DriverHandler, Peer, ProtocolCodec, Register, Report, StopAll}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Keeps, on the driver, the shards of one running source read by the executors' consumers: [[ShardPlacement]] gives them owners,
 * [[ShardProgress]] takes in how far they are, [[PrefetchView]] answers the query from that. This class has the threads and the wires.
 *
 * Reports come on RPC threads, planning on the query's. Listing shards, starting consumers and giving shards their owners have a
 * thread each ([[BackgroundLoop]]): a slow listing, or a batch that leaves no slot free, never keeps a lost executor's shards waiting.
 *
 * @param listShards
 *   all shards of the stream with this ARN; may block
 * @param discoveryMillis
 *   how often shards are listed when nothing else asks for it
 * @param graceMillis
 *   how long the first executor's consumers wait for those of the others before any shard is given an owner
 */
final class ShardCoordinator(
    cluster: ExecutorCluster,
    sourceId: String,
    settings: ReadSettings,
    streams: Seq[String],
    listShards: String => Seq[Shard],
    discoveryMillis: Long,
    graceMillis: Long = ShardCoordinator.GraceMillis,
    environment: Environment = Environment.OfJvm
) extends AutoCloseable {
  import ShardCoordinator._

  private val events = environment.events(settings.query)
  private val state = new CoordinatorState(streams, environment.clock, environment.waiting, events)
  private val progress = new ShardProgress(state, environment.losses(settings.failOnDataLoss))
  private val placement = new ShardPlacement(state, graceMillis)
  val prefetched = new PrefetchView(state, cluster.location)

  /** How often an executor's consumers failed. Used on the RPC's thread only. */
  private var breakdowns = 0

  private val endpoint = cluster.open(ConsumerHosts.coordinatorName(sourceId), Rpc)
  private val discovery = loop("discovery")(discover)
  private val starter =
    new ConsumerStarter(cluster, sourceId, settings, environment, discoveryMillis, placement.isKnown, state.fail)
  private val placing = loop("placement")(_ => place())
  private val listening = cluster.listen(() => starter.wake(), lose)

  /**
   * Where planning has got to: everything before is dropped wherever it is held, and what must be read next is read.
   *
   * @throws Throwable
   *   what ended the reading, if something did
   */
  def advance(to: SourceOffset): Unit = {
    val advanced = progress.advance(to)
    if (advanced.isFirst) {
      discovery.wake()
      starter.wake()
    }
    if (advanced.concernsPlacement) placing.wake()
  }

  /** Takes in shards that were listed before; a later listing may lack some of them. */
  def know(stream: String, shards: Seq[Shard]): Unit = progress.know(stream, shards)

  override def close(): Unit = {
    val told = state.close()
    listening.close()
    discovery.close()
    starter.close()
    placing.close()
    // Consumers stop before the endpoint that they report to does.
    told.foreach(_.tell(StopAll))
    endpoint.close()
  }

  private def loop(name: String)(round: Boolean => Unit): BackgroundLoop =
    new BackgroundLoop(environment.scheduler(s"kinesis-$name-$sourceId", 1), discoveryMillis, state.fail)(round)

  /** One round of discovery: lists what is due, or what an end has left open. May block. */
  private def discover(isDue: Boolean): Unit = {
    progress.toList(isDue).foreach(stream => progress.list(stream, listShards(stream)))
    if (progress.mustListAgain) discovery.wakeIn(ListAgainMillis)
    placing.wake()
  }

  private def place(): Unit = {
    // Which executors there are is asked of Spark, which may have its hands full just when one was lost.
    val grace = if (placement.isBegun) 0 else placement.graceLeftMillis(cluster.executors.map(_.id))
    if (grace > 0) placing.wakeIn(grace) else if (placement.assign()) placing.wakeIn(MovesPeriodMillis)
  }

  private def lose(executorId: String): Unit = {
    val (wasThere, othersAreThere) = placement.lose(executorId)
    if (wasThere) { if (othersAreThere) placing.wake() else starter.wake() }
  }

  /** The executor's consumers have stopped. They are started again, unless this goes on. */
  private def breakDown(broken: Broken): Unit = if (placement.isThere(broken.executorId, broken.instance)) {
    events.emit(ExecutorFailed(broken.executorId, broken.reason))
    breakdowns += 1
    if (breakdowns >= BreakdownsToGiveUp) state.fail(consumersFailed(broken))
    lose(broken.executorId)
    starter.wake()
  }

  private object Rpc extends DriverHandler {
    override def onRegister(message: Array[Byte], peer: Peer, address: String): Unit =
      ProtocolCodec.decodeToDriver(message) match {
        case introduction: Register =>
          val isClosed = placement.introduce(introduction, ConsumerPeer(introduction, peer, address))
          if (isClosed) peer.send(ProtocolCodec.encode(StopAll)) else placing.wake()
        case _: Report | _: Broken => ()
      }

    override def onMessage(message: Array[Byte]): Unit = ProtocolCodec.decodeToDriver(message) match {
      case report: Report =>
        val heard = progress.accept(report)
        if (heard.concernsDiscovery) discovery.wake() else if (heard.concernsPlacement) placing.wake()
      case broken: Broken => breakDown(broken)
      case _: Register => ()
    }

    override def onDisconnected(address: String): Unit = placement.at(address).foreach(lose)
  }
}

private object ShardCoordinator {

  /** A class that is missing fails at once on every executor; memory that was used up once may suffice the next time. */
  private val BreakdownsToGiveUp = 4

  private def consumersFailed(broken: Broken) = ReadErrors.consumersFailed(
    executor = broken.executorId,
    times = BreakdownsToGiveUp,
    reason = broken.reason
  )

  /** Between the few moves of a round and those of the next one. */
  private val MovesPeriodMillis = 200L

  /** A listing that is older than what a shard's end has told. */
  private val ListAgainMillis = 1000L

  /** Executors that start together bring their consumers up within some hundred milliseconds of each other. */
  private val GraceMillis = 1000L
}
