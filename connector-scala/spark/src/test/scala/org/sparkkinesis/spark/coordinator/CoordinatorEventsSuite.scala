package org.sparkkinesis.spark.coordinator

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.SummaryBounds
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event._
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.coordinator.state.{ConsumerPeer, CoordinatorState}
import org.sparkkinesis.spark.protocol.{Register, Report, ShardReport}
import org.sparkkinesis.suite.TimedSuite

/** The events about executors and shards that only an executor's report, or the query's progress, causes. */
class CoordinatorEventsSuite extends TimedSuite {
  private val orders = arn("orders")
  private def shard(index: Int): ShardId = ShardId.ofIndex(index.toLong)

  /** One executor, which is assigned both shards of a stream. */
  final private class Rig(losses: Losses = Losses.Strict) {
    val events = new RecordedEvents
    val state = new CoordinatorState(Seq(orders), SummaryBounds(1, 1, 1), events = events)
    val progress = new ShardProgress(state, losses, () => 0L)
    val placement = new ShardPlacement(state, 0, () => 0L)
    private var reports = 0L
    advanceTo(0 -> ShardPosition.Horizon, 1 -> ShardPosition.Horizon)
    progress.listings.list(orders, shards(2), ListingTime(0, 0))
    placement.introduce(Register("1", "host", 1), new ConsumerPeer("1", "host", 1, "1:1", _ => ()))
    placement.assign()

    def advanceTo(positions: (Int, ShardPosition)*): Unit = {
      val of = positions.map { case (index, position) => shard(index) -> position }.to(SortedMap)
      progress.advance(SourceOffset(Seq(StreamOffset("orders", orders, 1, of))), Set.empty)
      ()
    }

    def report(bufferIsFull: Boolean, told: ShardReport*): Unit = {
      reports += 1
      progress.accept(Report("1", 1, reports, full = false, bufferIsFull, Set.empty, told, Map.empty))
      ()
    }

    /** The executor reports that a shard cannot be read. */
    def fail(index: Int, failure: ServiceException): Unit = {
      val track = state.tracks(StreamShard(orders, shard(index)))
      report(
        bufferIsFull = false,
        ShardReport(track.shard, track.epoch, Vector.empty, 0, 0, 0, None, Some(failure))
      )
    }
  }

  test("a buffer that is full and has room again causes one event each") {
    val rig = new Rig
    Seq(false, true, true, false, false).foreach(rig.report(_))
    assert(rig.events.of[BufferFilled] == Vector(BufferFilled("1")))
    assert(rig.events.of[BufferFreed] == Vector(BufferFreed("1")))
  }

  test("a shard that leaves the offset is finished") {
    val rig = new Rig
    rig.placement.assign()
    assert(rig.events.of[ShardFinished].isEmpty)
    rig.advanceTo(1 -> ShardPosition.Horizon)
    rig.placement.assign()
    assert(rig.events.of[ShardFinished] == Vector(ShardFinished(orders, shard(0))))
  }

  test("a shard that cannot be read ends the query, with the reason of the service") {
    val rig = new Rig
    val refused =
      new ServiceException(ServiceErrorKind.AccessDenied, Operation.GetRecords, "AccessDeniedException", "not allowed")
    rig.fail(1, refused)
    assert(rig.events.of[ReadFailed] == Vector(ReadFailed(orders, shard(1), refused.getMessage)))
    assert(intercept[ShardFailed](rig.state.throwFailure()).getCause eq refused)
  }

  test("a shard that expired is lost data, or is skipped with a warning if the query may lose data") {
    val gone = new ServiceException(
      ServiceErrorKind.ResourceNotFound,
      Operation.GetShardIterator,
      "ResourceNotFoundException",
      "no such shard"
    )
    val strict = new Rig
    strict.fail(1, gone)
    assert(strict.events.of[DataLost].map(event => event.shard -> event.endsQuery) == Vector(Some(shard(1)) -> true))
    assert(intercept[KinesisConnectorException](strict.state.throwFailure()).condition == "KINESIS_DATA_LOSS")
    var told = 0
    val lenient = new Rig(new Losses(endsQuery = false, _ => (), _ => told += 1))
    lenient.fail(1, gone)
    assert(lenient.events.of[DataLost].map(event => event.shard -> event.endsQuery) == Vector(Some(shard(1)) -> false))
    lenient.state.throwFailure()
    // A full report repeats the failure.
    (1 to 3).foreach(_ => lenient.fail(1, gone))
    assert(lenient.events.of[DataLost].size == 1 && told == 1)
    assert(lenient.state.tracks(StreamShard(orders, shard(1))).failure.isEmpty)
  }
}
