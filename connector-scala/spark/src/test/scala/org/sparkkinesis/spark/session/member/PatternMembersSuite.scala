package org.sparkkinesis.spark.session.member

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{MetadataChanged, StreamDraining, StreamParked, StreamPending, StreamReturned}
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}
import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.service.{ShardPage, StreamNamePage}
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.metadata.PatternMetadataService
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles
import org.sparkkinesis.suite.TimedSuite

/** The streams whose names match a pattern. */
class PatternMembersSuite extends TimedSuite {

  /** One run of a query with a pattern, and the streams that exist. */
  final private class Run(
      files: MemoryFiles,
      existing: Seq[String],
      pattern: String = "web-.*",
      more: Map[String, String] = Map.empty
  ) {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    service.listings += ShardPage(shards(1), None)
    exist(existing: _*)
    val environment = new VirtualEnvironment(time, service)
    val session = new StreamSession(
      Options.read(Map(
        "streamPattern" -> pattern,
        "region" -> "us-east-1",
        "awsAccessKey" -> "test",
        "awsSecretKey" -> "test",
        "metadataRefreshInterval" -> "10s",
        "drainGrace" -> "1s"
      ) ++ more),
      QueryContext.Unknown,
      environment
    )
    val members = new StreamMembers(
      session,
      known => new PatternMetadataService(StreamMembers.Listed, known, () => session.matching()),
      files,
      environment,
      _ => (),
      _ => (PositionOption(StartingPosition.AtTimestamp(time.currentMillis)), time.currentMillis)
    )

    def exist(names: String*): Unit = {
      service.names.clear()
      service.names += StreamNamePage(names, hasMore = false)
      service.streams.clear()
      names.foreach(service.add(_))
    }

    /** Lists the streams once more. */
    def refresh(): Unit = time.advance(12.seconds)

    /** Returns the streams as the next batch after `start` sees them. */
    def next(start: SourceOffset, isDrained: Boolean = false): SourceOffset = {
      members.check(start)
      members.open(start)
      members.evolve(start, start, (_, _) => isDrained, session.initialOffsets.withOldestTime)
    }
  }

  private def read(name: String): StreamOffset =
    StreamOffset(name, arn(name), 1000, SortedMap(ShardId.ofIndex(0) -> ShardPosition.After(SequenceNumber("7"), 5)))

  private def fresh(name: String): StreamOffset =
    StreamOffset(name, arn(name), 1000, SortedMap(ShardId.ofIndex(0) -> ShardPosition.Horizon))

  private def offset(streams: StreamOffset*): SourceOffset = SourceOffset(streams)
  private def phase(offset: SourceOffset, name: String): StreamPhase = offset.streams(arn(name)).phase

  test("a query whose streams do not change has offsets of version 1, as with a list") {
    val run = new Run(new MemoryFiles, Seq("web-a", "web-b", "other"))
    val initial = run.members.initialOffset
    assert(initial.streams.keySet == Set(arn("web-a"), arn("web-b")))
    val now = run.next(initial)
    run.refresh()
    assert((now eq initial) && (run.next(initial) eq initial))
    assert(OffsetCodec.encode(now).startsWith("""{"v":1,"""))
  }

  test("a stream that matches later joins from its oldest record, and the same again after a restart") {
    val files = new MemoryFiles
    val run = new Run(files, Seq("web-a"))
    run.members.initialOffset
    val start = offset(read("web-a"))
    assert(run.next(start) eq start)
    run.exist("web-a", "web-b")
    run.refresh()
    val joined = run.next(start)
    assert(joined.streams == offset(read("web-a"), fresh("web-b")).streams && joined.version == 2)
    run.members.close()
    val again = new Run(files, Seq("web-a", "web-b"))
    assert(again.next(start) == joined)
    assert(again.members.withJoined(start, joined).streams == joined.streams)
  }

  test("a checkpoint of listed streams is read on, and the other streams that match join") {
    val files = new MemoryFiles
    val run = new Run(files, Seq("web-a", "web-b"))
    val start = offset(read("web-a"))
    run.next(start)
    run.refresh()
    assert(run.next(start).streams == offset(read("web-a"), fresh("web-b")).streams)
  }

  test("a stream that does not match another pattern leaves, and without any of the streams that is an error") {
    val files = new MemoryFiles
    val first = new Run(files, Seq("web-a", "web-b"))
    first.members.initialOffset
    first.members.close()
    val start = offset(read("web-a"), read("web-b"))
    val narrow = new Run(files, Seq("web-a", "web-b"), pattern = "web-a")
    assert(narrow.next(start).streams == offset(read("web-a")).streams)
    narrow.members.close()
    val other = new Run(files, Seq("app", "web-a"), pattern = "app")
    val error = intercept[KinesisConnectorException](other.next(start))
    assert(error.condition == "KINESIS_CHECKPOINT_OTHER_STREAM")
  }

  test("a stream that was deleted while the query was stopped is lost data, and the others are read") {
    val start = offset(read("web-a"), read("web-b"))
    def restarted(failOnDataLoss: Boolean): Run = {
      val files = new MemoryFiles
      val first = new Run(files, Seq("web-a", "web-b"))
      first.members.initialOffset
      first.members.close()
      new Run(files, Seq("web-a"), more = Map("failOnDataLoss" -> failOnDataLoss.toString))
    }
    val error = intercept[KinesisConnectorException](restarted(failOnDataLoss = true).next(start))
    assert(error.condition == "KINESIS_DATA_LOSS" && error.parameters("stream") == "web-b")
    val run = restarted(failOnDataLoss = false)
    val now = run.next(start)
    assert(phase(now, "web-a") == StreamPhase.Active)
    assert(phase(now, "web-b").isInstanceOf[StreamPhase.Parked])
    assert(run.environment.losses.map(_.condition) == Seq("KINESIS_DATA_LOSS"))
    run.refresh()
    run.refresh()
    assert(phase(run.next(start), "web-a") == StreamPhase.Active)
    assert(run.environment.losses.size == 1, "it is reported once")
  }

  test("a stream that is deleted after its last record leaves without a loss, and comes back when it is recreated") {
    val files = new MemoryFiles
    val run = new Run(files, Seq("web-a", "web-b"))
    run.members.initialOffset
    val start = offset(read("web-a"), read("web-b"))
    val before = run.next(start)
    run.exist("web-a")
    val gone = intercept[KinesisConnectorException](run.session.describe(arn("web-b")))
    run.members.leave(before, arn("web-b"), gone, isDrained = true)
    assert(run.members.wasDrained(arn("web-b")) && !run.members.wasDrained(arn("web-a")))
    val held = run.next(start)
    assert(phase(held, "web-b") == StreamPhase.Parked(run.session.serviceClock.atLeast, isDrained = true))
    run.refresh()
    run.refresh()
    assert(run.next(start).read.map(_.arn).toSeq == Seq(arn("web-a")))
    val restarted = new Run(files, Seq("web-a"))
    assert(restarted.next(held).read.map(_.arn).toSeq == Seq(arn("web-a")))
    assert(restarted.environment.losses.isEmpty)
    restarted.members.close()
    run.exist("web-a", "web-b")
    run.service.add("web-b", creationMillis = 2000)
    run.refresh()
    assert(phase(run.members.last(start, start), "web-b").isInstanceOf[StreamPhase.Parked])
    assert(phase(run.next(start), "web-b") == StreamPhase.Active)
    assert(run.environment.losses.isEmpty && run.members.wasDrained(arn("web-b")))
    val events = run.environment.recorded
    assert(events.of[StreamPending].map(_.streamName).distinct == Vector(arn("web-b")))
    assert(events.of[StreamParked].distinct == Vector(StreamParked(arn("web-b"), isDrained = true)))
    assert(events.of[StreamReturned] == Vector(StreamReturned(arn("web-b"))))
    // What is known of the first stream says nothing about the records of the second one.
    run.service.add("web-b", creationMillis = 3000)
    run.session.refresh(arn("web-b"))
    assert(!run.members.wasDrained(arn("web-b")))
  }

  test("a stream that was held back and is the same stream when it returns may get more records") {
    val run = new Run(new MemoryFiles, Seq("web-a", "web-b"))
    run.members.initialOffset
    val start = offset(read("web-a"), read("web-b"))
    val gone = ServiceErrors.streamNotFound(stream = "web-b", where = "here", serviceMessage = "gone")
    run.members.leave(run.next(start), arn("web-b"), gone, isDrained = true)
    assert(run.members.wasDrained(arn("web-b")))
    run.refresh()
    assert(phase(run.next(start), "web-b") == StreamPhase.Active && !run.members.wasDrained(arn("web-b")))
  }

  test("whether every record of a stream was read is known anew each time it is recreated") {
    val run = new Run(new MemoryFiles, Seq("web-a", "web-b"))
    run.members.initialOffset
    Seq(true, false, true).foreach { isDrained =>
      run.members.noteRecreated(arn("web-b"), isDrained)
      assert(run.members.wasDrained(arn("web-b")) == isDrained && !run.members.isHeld(arn("web-b")))
    }
  }

  test("a stream that the service does not list any more is drained") {
    val run = new Run(new MemoryFiles, Seq("web-a", "web-b"))
    run.members.initialOffset
    val start = offset(read("web-a"), read("web-b"))
    run.next(start)
    run.service.names.clear()
    run.service.names += StreamNamePage(Seq("web-a"), hasMore = false)
    (1 to 5).foreach(_ => run.refresh())
    assert(phase(run.next(start), "web-b").isInstanceOf[StreamPhase.Draining])
    val events = run.environment.recorded
    assert(events.of[StreamDraining] == Vector(StreamDraining(arn("web-b"))))
    assert(events.of[MetadataChanged].map(_.version).distinct == Vector(1L, 2L))
  }

  test("the deletion of the only stream ends the query") {
    val run = new Run(new MemoryFiles, Seq("web-a"))
    run.members.initialOffset
    val start = run.next(offset(read("web-a")))
    val gone = ServiceErrors.streamNotFound(stream = "web-a", where = "here", serviceMessage = "gone")
    assert(intercept[KinesisConnectorException](run.members.leave(start, arn("web-a"), gone, isDrained = true)) eq gone)
  }

  test("a run that ends keeps the streams that match when it starts") {
    val run = new Run(new MemoryFiles, Seq("web-a"))
    run.members.pin()
    run.members.initialOffset
    val start = offset(read("web-a"))
    assert(run.next(start) eq start)
    run.exist("web-a", "web-b")
    run.refresh()
    assert(run.next(start) eq start)
  }
}
