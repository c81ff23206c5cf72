package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.chunk.SummaryBounds
import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors}
import org.sparkkinesis.event.ExecutorFailed
import org.sparkkinesis.model.Shard
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.coordinator.cluster.{BackgroundLoop, ConsumerStarter, ExecutorCluster}
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.coordinator.state.{ConsumerPeer, CoordinatorState}
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.protocol.{
  Broken, DriverHandler, OtherVersion, ParentFinished, Peer, ProtocolCodec, Register, Report, StopAll, TaskEnded,
  ToDriver
}
import org.sparkkinesis.spark.settings.{ReadSettings, StreamConnection}

/**
 * Coordinates, on the driver, how the executors' consumers read the shards of one running source. [[ShardPlacement]]
 * assigns shards to executors, [[ShardProgress]] records the progress, and [[PrefetchView]] answers the query. This
 * class owns the threads and connections.
 *
 * Reports arrive on RPC threads; planning runs on the query's thread. Listing shards, starting consumers and
 * assigning shards have one thread each ([[BackgroundLoop]]), so that a slow listing or a batch that uses every task
 * slot does not delay the reassignment of a lost executor's shards.
 *
 * @param listShards
 *   returns all shards of the stream with this ARN; may block
 * @param discoveryMillis
 *   interval between listings, in milliseconds, unless something requires an earlier listing
 * @param serviceMillis
 *   returns a time, in epoch milliseconds, that is not later than the service's current time
 * @param latestMillis
 *   returns a time, in epoch milliseconds, that is not earlier than the service's current time; it may be too late
 *   until the service confirms it
 * @param graceMillis
 *   maximum time, in milliseconds, that the first executor waits for the other executors before any shard is assigned
 * @param streamsMayLeave
 *   whether the query goes on without a stream that does not exist any more; see [[PrefetchView.missing]]
 */
final class ShardCoordinator(
    cluster: ExecutorCluster,
    sourceId: String,
    settings: ReadSettings,
    streams: Seq[String],
    listShards: String => Seq[Shard],
    discoveryMillis: Long,
    serviceMillis: () => Long,
    latestMillis: () => Long,
    graceMillis: Long = ShardCoordinator.GraceMillis,
    environment: Environment = Environment.OfJvm,
    streamsMayLeave: Boolean = false
) extends AutoCloseable {
  import ShardCoordinator._

  private val events = environment.events(settings.query)
  private val state = new CoordinatorState(
    streams,
    SummaryBounds.of(settings.decode),
    environment.clock,
    environment.waiting,
    events,
    settings.decode.hashRangeFilter
  )
  private val progress =
    new ShardProgress(state, environment.losses(settings.failOnDataLoss, events), latestMillis, streamsMayLeave)
  private val placement = new ShardPlacement(state, graceMillis, serviceMillis)
  val prefetched = new PrefetchView(state, cluster.location, () => discovery.wake())

  /** Counts failures of an executor's consumers. Used on the RPC's thread only. */
  private var breakdowns = 0

  private val endpoint = cluster.open(ConsumerHosts.coordinatorName(sourceId), Rpc)
  private val discovery = loop("discovery")(discover)
  private val starter =
    new ConsumerStarter(cluster, sourceId, settings, environment, discoveryMillis, placement.isKnown, state.fail)
  private val placing = loop("placement")(_ => place())
  private val listening = cluster.listen(() => starter.wake(), lose)

  /**
   * Sets the position that planning has reached. Records before it are dropped everywhere, and the next shards are
   * read.
   *
   * @param waiting
   *   streams of which no record is planned for now, because other streams must be read before them
   * @throws Throwable
   *   the error that ended reading, if there is one
   */
  def advance(to: SourceOffset, waiting: Set[String] = Set.empty): Unit = {
    val advanced = progress.advance(to, waiting)
    if (advanced.concernsDiscovery) discovery.wake()
    if (advanced.isFirst) starter.wake()
    if (advanced.concernsPlacement) placing.wake()
  }

  /**
   * Records the end of a planned batch. Its records stay in the executors until [[advance]] is called with it, but a
   * shard that the batch reads to its end needs no other owner.
   */
  def notePlanned(end: SourceOffset): Unit = progress.notePlanned(end)

  /** Whether a stream of this position is not the one of the last call of [[advance]], but was created again. */
  def knowsOther(to: SourceOffset): Boolean = progress.recreated(to).nonEmpty

  /** Sets how streams are reached that joined. Shards of streams whose connections changed are assigned again. */
  def connect(connections: Map[String, StreamConnection]): Unit = if (progress.connect(connections)) placing.wake()

  /** Tells the executors the service's time, which they hear with each regular listing as well. */
  def tellTime(): Unit = placement.tellTime()

  /** Adds shards of an earlier listing; a later listing may lack some of them. */
  def know(stream: String, shards: Seq[Shard]): Unit = progress.listings.know(stream, shards)

  /** Stops the consumers for good, before [[close]]. May be called from any thread. */
  def stopConsumers(): Unit = state.close().foreach(_.tell(StopAll))

  override def close(): Unit = {
    val told = state.close()
    listening.close()
    discovery.close()
    starter.close()
    placing.close()
    // Consumers must stop before the endpoint that receives their reports is closed.
    told.foreach(_.tell(StopAll))
    endpoint.close()
  }

  private def loop(name: String)(round: Boolean => Unit): BackgroundLoop =
    new BackgroundLoop(environment.scheduler(s"kinesis-$name-$sourceId", 1), discoveryMillis, state.fail)(round)

  /** Runs one round of discovery: lists the streams that are due, or whose lineage is incomplete. May block. */
  private def discover(isDue: Boolean): Unit = {
    progress.listings.toList(isDue).foreach { stream =>
      val begun = ListingTime(environment.clock.nanoTime, serviceMillis())
      try progress.listings.list(stream, listShards(stream), begun)
      catch { case failure: KinesisConnectorException => progress.listings.notListed(stream, failure, begun) }
      placing.wake() // The shards of this stream do not wait for the listing of the next stream.
    }
    if (isDue) placement.tellTime()
    if (progress.listings.mustListAgain) discovery.wakeIn(ListAgainMillis)
    placing.wake()
  }

  private def place(): Unit = {
    // Ask Spark for its executors only before the first assignment: the call can be slow just after an executor was
    // lost.
    val grace = if (placement.isBegun) 0 else placement.graceLeftMillis(cluster.executors.map(_.id))
    if (grace > 0) placing.wakeIn(grace) else if (placement.assign()) placing.wakeIn(MovesPeriodMillis)
  }

  private def lose(executorId: String): Unit = {
    val (wasThere, othersAreThere) = placement.lose(executorId)
    if (wasThere) { if (othersAreThere) placing.wake() else starter.wake() }
  }

  /** Handles the failure of an executor's consumers: they are started again, unless failures persist. */
  private def breakDown(broken: Broken): Unit = if (placement.isThere(broken.executorId, broken.instance)) {
    events.emit(ExecutorFailed(broken.executorId, broken.reason))
    breakdowns += 1
    if (breakdowns >= BreakdownsToGiveUp) state.fail(consumersFailed(broken))
    lose(broken.executorId)
    starter.wake()
  }

  private object Rpc extends DriverHandler {
    override def onRegister(message: Array[Byte], peer: Peer, address: String): Unit = read(message, address) {
      case introduction: Register =>
        val isClosed = placement.introduce(introduction, ConsumerPeer(introduction, peer, address))
        if (isClosed) peer.send(ProtocolCodec.encode(StopAll)) else placing.wake()
      case _: Report | _: Broken | _: ParentFinished | _: TaskEnded => ()
    }

    override def onMessage(message: Array[Byte]): Unit = read(message, "an executor") {
      case report: Report =>
        val heard = progress.accept(report)
        if (heard.concernsDiscovery) discovery.wake() else if (heard.concernsPlacement) placing.wake()
      case broken: Broken => breakDown(broken)
      case _: Register | _: ParentFinished | _: TaskEnded => ()
    }

    /** Handles a message. One of another version of the connector ends the query. */
    private def read(message: Array[Byte], from: String)(handle: ToDriver => Unit): Unit =
      OtherVersion.of(message, from).fold(state.fail, handle)

    override def onDisconnected(address: String): Unit = placement.at(address).foreach(lose)
  }
}

private object ShardCoordinator {

  /**
   * Maximum number of failures before the query ends. A missing class fails on every executor at once; an exhausted
   * heap may recover.
   */
  private val BreakdownsToGiveUp = 4

  private def consumersFailed(broken: Broken) = ReadErrors.consumersFailed(
    executor = broken.executorId,
    times = BreakdownsToGiveUp,
    reason = broken.reason
  )

  /** Pause between two rounds that move shards, in milliseconds. */
  private val MovesPeriodMillis = 200L

  /** Pause before another listing, in milliseconds, when the last one was older than the end of a shard. */
  private val ListAgainMillis = 1000L

  /** Executors that start together have their consumers ready within a few hundred milliseconds of each other. */
  private val GraceMillis = 1000L
}
