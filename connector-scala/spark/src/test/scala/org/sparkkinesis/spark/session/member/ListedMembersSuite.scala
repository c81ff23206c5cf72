package org.sparkkinesis.spark.session.member

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{DataLost, StreamDropped, StreamJoined}
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.service.ShardPage
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles
import org.sparkkinesis.spark.session.{InitialOffsets, StreamSession}
import org.sparkkinesis.suite.TimedSuite

class ListedMembersSuite extends TimedSuite {

  /** One run of a query that lists these streams, of three that exist. */
  final private class Run(
      files: MemoryFiles,
      time: VirtualScheduler,
      listed: Seq[String],
      position: StartingPosition = StartingPosition.Latest,
      deleted: Set[String] = Set.empty,
      failOnDataLoss: Boolean = true
  ) {
    private val service = new FakeDirectory(time)
    (Seq("a", "b", "c").filterNot(deleted)).foreach(name => service.add(name))
    service.listings += ShardPage(shards(2), None)
    val environment = new VirtualEnvironment(time, service)
    val session = new StreamSession(
      Options.read(Map(
        "streamName" -> listed.mkString(","),
        "region" -> "us-east-1",
        "awsAccessKey" -> "test",
        "awsSecretKey" -> "test",
        "failOnDataLoss" -> failOnDataLoss.toString
      )),
      QueryContext.Unknown,
      environment
    )
    val latestMillis: Long = session.serviceClock.atLeast - InitialOffsets.ArrivalTolerance.toMillis
    val members = new ListedMembers(session, files, (_, _) => PositionOption(position))
    def events: Seq[Any] = environment.recorded.all.filter {
      case _: StreamJoined | _: StreamDropped | _: DataLost => true
      case _ => false
    }
  }

  private def stream(name: String, positions: ShardPosition*): StreamOffset = StreamOffset(
    name,
    arn(name),
    1000,
    positions.zipWithIndex.map { case (position, index) => ShardId.ofIndex(index.toLong) -> position }.to(SortedMap)
  )

  private def read(name: String, number: String = "7"): StreamOffset =
    stream(name, ShardPosition.After(SequenceNumber(number), 5), ShardPosition.After(SequenceNumber("8"), 5))

  private def from(name: String, position: StartingPosition): StreamOffset =
    stream(name, ShardPosition.Start(position), ShardPosition.Start(position))

  test("an added stream joins at its position, which stays the same in later runs until an offset has the stream") {
    val (files, time) = (new MemoryFiles, new VirtualScheduler)
    val start = SourceOffset(Seq(read("a")))
    val first = new Run(files, time, Seq("a", "b"))
    val expected = SourceOffset(Seq(read("a"), from("b", StartingPosition.AtTimestamp(first.latestMillis))))
    assert(first.members.current(start, start) == expected)
    assert(
      first.members.current(start, start) eq first.members.current(start, start),
      "the planner compares references"
    )
    assert(first.events == Seq(StreamJoined(arn("b"), 2)))

    time.advance(1.hour)
    val again = new Run(files, time, Seq("a", "b"))
    assert(again.members.current(start, start) == expected)
    assert(again.members.withJoined(start, SourceOffset(Seq(read("a"), read("b")))) == expected)
    assert(again.events.isEmpty)

    val end = SourceOffset(Seq(read("a"), read("b")))
    assert(again.members.current(end, end) eq end)
    val third = new Run(files, time, Seq("a", "b"))
    assert(third.members.withJoined(start, end) == expected, "the batch in which it joined may run again")
    assert(third.members.current(end, end) eq end)
    files.delete("joined-streams")
    val unknown = new Run(files, time, Seq("a", "b"))
    val lost = intercept[KinesisConnectorException](unknown.members.withJoined(start, end))
    assert(lost.condition == "KINESIS_OFFSET_INVALID")
  }

  test("a removed stream leaves, and joins anew when it is listed again") {
    val (files, time) = (new MemoryFiles, new VirtualScheduler)
    val both = SourceOffset(Seq(read("a"), read("b")))
    val without = new Run(files, time, Seq("a"))
    assert(without.members.current(both, both) == SourceOffset(Seq(read("a"))))
    assert(without.events == Seq(StreamDropped(arn("b"))))
    val start = SourceOffset(Seq(read("a")))
    val back = new Run(files, time, Seq("a", "b"), StartingPosition.TrimHorizon)
    assert(back.members.current(start, start) == SourceOffset(Seq(read("a"), from("b", StartingPosition.TrimHorizon))))
  }

  test("the position of a stream that is read while it has no records is not moved back") {
    val (files, time) = (new MemoryFiles, new VirtualScheduler)
    val run = new Run(files, time, Seq("a", "b"), StartingPosition.TrimHorizon)
    val (start, settled) = (SourceOffset(Seq(read("a"))), SourceOffset(Seq(read("a"), read("b"))))
    assert(run.members.current(start, settled) eq settled)
  }

  test("a batch that runs again opens the removed streams that it reads, and no others") {
    val (files, time) = (new MemoryFiles, new VirtualScheduler)
    val run = new Run(files, time, Seq("a"))
    val start = SourceOffset(Seq(read("a"), read("b"), read("c")))
    run.members.openForBatch(start, SourceOffset(Seq(read("a", "9"), read("b", "9"), read("c"))))
    assert(run.session.streams.keySet == Set(arn("a"), arn("b")))
    assert(run.members.current(start, start) == SourceOffset(Seq(read("a"))), "it leaves all the same")
  }

  test("a removed stream that a batch reads again and that does not exist any more is lost data") {
    val (files, time) = (new MemoryFiles, new VirtualScheduler)
    val (start, end) = (SourceOffset(Seq(read("a"), read("b"))), SourceOffset(Seq(read("a"), read("b", "9"))))
    val strict = new Run(files, time, Seq("a"), deleted = Set("b"))
    assert(intercept[KinesisConnectorException](strict.members.openForBatch(start, end)).condition ==
      "KINESIS_DATA_LOSS")
    val lenient = new Run(files, time, Seq("a"), deleted = Set("b"), failOnDataLoss = false)
    lenient.members.openForBatch(start, end)
    assert(lenient.events.collect { case lost: DataLost => lost.stream } == Seq(Some(arn("b"))))
  }
}
