package org.sparkkinesis.spark.read.realtime

import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.plan.BatchPlanner
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.plan.realtime.{RealTimeMerge, ShardOutcome}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.coordinator.state.GivenUpShards
import org.sparkkinesis.spark.read.query.SourceQuery
import org.sparkkinesis.spark.session.StreamShards

/**
 * The lineage of the streams of a real-time query. It is completed between two batches, also if shards expired with
 * their children while the query was running. For the query's thread; may block.
 */
final private[realtime] class LiveLineage(query: SourceQuery) {
  import LiveLineage._

  private var known = Map.empty[String, ShardGraph]

  /** The creation times of the streams, in epoch milliseconds. */
  private var created = Map.empty[String, Long]
  private val givenUp = new GivenUpShards

  /**
   * Streams with such shards, or with listings or ends of shards that contradict what is known, until it is known
   * whether they were recreated.
   */
  private var doubtful = Set.empty[String]

  /** The batches before which streams with positions without a sequence number were described. */
  private var described = Map.empty[String, Long]
  private var rounds = 1L

  /** The finished shards whose children are searched for. */
  private var childless = Set.empty[StreamShard]

  def graphs: String => ShardGraph = known

  /** Adds the children that the end of a shard reported. */
  def add(stream: String, children: Seq[ChildShard]): Unit = {
    if (known(stream).contradictsChildren(children)) doubtful += stream
    known += stream -> known(stream).withChildren(children)
  }

  /**
   * Returns the start of the next batch: finished shards are replaced by their children or, if these have expired as
   * well, by what is left of their descendants. That loss is reported. Returns `None` if a stream was recreated, so
   * that `from` has changed.
   *
   * @param start
   *   the end of the last batch
   * @param from
   *   its position as the streams are now
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def settled(start: SourceOffset, from: SourceOffset): Option[SourceOffset] = {
    forgetRecreated(from)
    from.streams.values.foreach(complete)
    val settled = BatchPlanner.settle(from, graphs, _ => None)
    search(settled)
    // A batch that finds the first records of a recreated stream fails, so such streams are described before it begins.
    val next = settled.read.filterNot(hasNumbers).map(_.arn).toVector.sortBy(described.getOrElse(_, 0L)).take(AtOnce)
    described ++= next.map(_ -> rounds)
    rounds += 1
    val found = query.positions.checkRecreated(doubtful ++ next)
    doubtful = found.unknown & doubtful
    val lost = settled.read.flatMap(stream => givenUp.lostLineage(stream, known(stream.arn)).map(stream -> _)).toVector
    if (found.recreated.nonEmpty) None else query.positions.relinked(query.positions.mend(start), settled, lost)
  }

  /**
   * Checks the ends of a batch that began at this offset. If records were read from a position without a sequence
   * number, it waits until their stream is described.
   *
   * @throws KinesisConnectorException
   *   KINESIS_REAL_TIME_STREAM_RECREATED if records of a recreated stream are in the batch; KINESIS_ACCESS_DENIED
   */
  def requireSame(begin: SourceOffset, outcomes: Seq[ShardOutcome]): Unit = {
    val unproven = RealTimeMerge.unproven(begin, outcomes)
    if (unproven.nonEmpty) query.positions.recreated(unproven).foreach { arn =>
      val now = query.session.streams(arn)
      // Every record of the old stream arrived before the new one was created.
      val isRead = outcomes.exists(outcome =>
        outcome.shard.stream == arn && outcome.lastArrivalMillis.exists(_ >= now.creationMillis)
      )
      if (isRead) throw RealTimeErrors.streamRecreated(now.name)
    }
  }

  /** A recreated stream may have other shards of the same names. */
  private def forgetRecreated(from: SourceOffset): Unit = {
    val now = from.streams.map { case (arn, stream) => arn -> stream.creationMillis }
    known = known.removedAll(now.keysIterator.filter(arn => created.get(arn).exists(_ != now(arn))))
    created = now
  }

  /**
   * Lists a stream at first, and again when the children of a finished shard are unknown, or when it has a shard that
   * was not looked at yet: an old listing would not show that the shard is still open.
   */
  private def complete(stream: StreamOffset): Unit = {
    val isNew = !known.contains(stream.arn)
    if (isNew) known += stream.arn -> ShardGraph.of(query.session.shards.seen(stream.arn))
    if (isNew || !stream.isTimed || known(stream.arn).unconfirmed.nonEmpty || childlessOf(stream).nonEmpty)
      list(stream.arn)
  }

  /**
   * Lists the streams several times that have a finished shard without children, a shard with an unknown parent, or a
   * shard whose records are filtered by its unknown hash key range, because a listing may lack shards. The parent may
   * be unknown for longer, and is searched for after each batch.
   */
  private def search(offset: SourceOffset): Unit = {
    val now = offset.read.flatMap(childlessOf).toSet
    givenUp.remove(childless -- now)
    (now -- childless).foreach(givenUp.add)
    doubtful ++= (now -- childless).map(_.stream)
    childless = now
    var rounds = 0
    def toList =
      givenUp.streamsToList(graphs) ++ (if (rounds < ShardGraph.Omissions) unconfirmed(offset) else Nil) ++
        (if (query.readSettings.decode.hashRangeFilter) withoutRange(offset) else Nil)
    var left = toList
    while (left.nonEmpty) {
      left.foreach(list)
      rounds += 1
      left = toList
      if (left.nonEmpty) query.environment.waiting.sleep(StreamShards.ListingPause)
    }
  }

  private def unconfirmed(offset: SourceOffset): Seq[String] =
    offset.read.map(_.arn).filter(known(_).unconfirmed.nonEmpty).toVector

  private def withoutRange(offset: SourceOffset): Seq[String] =
    offset.read.filter(_.unfinished.exists(one => known(one.stream).mayBeOmitted(one.shard))).map(_.arn).toVector

  private def list(stream: String): Unit = {
    val shards = query.session.shards.all(stream)
    if (known(stream).contradicts(shards)) doubtful += stream
    known += stream -> known(stream).withListing(shards)
    givenUp.list(stream, shards)
  }

  private def hasNumbers(stream: StreamOffset): Boolean = stream.shards.valuesIterator.forall(_.hasNumber)

  private def childlessOf(stream: StreamOffset): Iterable[StreamShard] = stream.shards.collect {
    case (shard, ShardPosition.ShardEnd) if !known(stream.arn).hasAllChildren(shard) => StreamShard(stream.arn, shard)
  }
}

private object LiveLineage {
  /** The number of streams that are described before a batch, in turn, because no record is read meanwhile. */
  val AtOnce = 4
}
