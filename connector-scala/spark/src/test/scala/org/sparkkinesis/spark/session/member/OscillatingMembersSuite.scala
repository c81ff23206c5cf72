package org.sparkkinesis.spark.session.member

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.event.StreamJoined
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.metadata._
import org.sparkkinesis.model.{SequenceNumber, StartingPosition, StreamRef}
import org.sparkkinesis.plan.offset.{OffsetCodec, Retention, ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.service.ShardPage
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles
import org.sparkkinesis.suite.TimedSuite

/** A metadata service that names a stream, forgets it and names it again, many times and over restarts. */
class OscillatingMembersSuite extends TimedSuite {
  private val Oscillations = 200

  /** Answers with the streams that the test sets. */
  final private class Service extends StreamMetadataService {
    private var document = MetadataDocument(0, SortedMap.empty[String, Vector[PhysicalStream]])

    def set(names: String*): Unit = set(names, endpoint = None)

    def set(names: Seq[String], endpoint: Option[String], after: Map[String, String] = Map.empty): Unit = {
      val streams = names.map(arn).flatMap(StreamRef.parse(_)).collect { case ref: StreamRef.ByArn =>
        PhysicalStream(ref, endpoint = endpoint, after = after.get(ref.name).map(arn).toSet)
      }
      document = MetadataDocument(document.version + 1, SortedMap("orders" -> streams.toVector))
    }
    override def address: String = "test"
    override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer = MetadataAnswer.Found(document, None)
    override def close(): Unit = ()
  }

  final private class Run(
      files: MemoryFiles,
      service: Service,
      onRemoved: String = "park",
      existing: Seq[String] = Seq("steady", "flapping")
  ) {
    val time = new VirtualScheduler
    private val directory = new FakeDirectory(time)
    existing.foreach(directory.add(_))
    directory.listings += ShardPage(shards(1), None)
    val environment = new VirtualEnvironment(time, directory)
    private val session = new StreamSession(
      Options.read(Map(
        "streamId" -> "orders",
        "metadataService" -> "file:/none",
        "metadataRefreshInterval" -> "1s",
        "removalConfirmations" -> "1",
        "onStreamRemoved" -> onRemoved,
        "metadataAllowedEndpoints" -> "https://kinesis.test",
        "region" -> "us-east-1",
        "failOnDataLoss" -> "false",
        "awsAccessKey" -> "test",
        "awsSecretKey" -> "test"
      )),
      QueryContext.Unknown,
      environment
    )
    val members = new StreamMembers(
      session,
      _ => service,
      files,
      environment,
      _ => (),
      _ => (PositionOption(StartingPosition.TrimHorizon), 0L)
    )

    /** Plans a batch that reads one record of each stream that is read. Returns its end, as the checkpoint has it. */
    def batch(start: SourceOffset): SourceOffset = {
      members.check(start)
      members.open(start)
      val from = members.evolve(start, start, (_, _) => false, session.initialOffsets.withOldestTime)
      val end = from.copy(streams = from.streams.map { case (arn, stream) =>
        arn ->
          (if (stream.isParked) stream
           else stream.copy(shards = stream.shards.map { case (shard, position) =>
             shard -> ShardPosition.After(SequenceNumber((records(position) + 1).toString), time.currentMillis)
           }))
      })
      members.note(end)
      members.committed(end)
      OffsetCodec.decode(OffsetCodec.encode(end))
    }
  }

  private val both = Seq("steady", "flapping")

  private def records(position: ShardPosition): Int = position match {
    case ShardPosition.After(number, _) => number.value.toInt
    case _ => 0
  }

  private def read(offset: SourceOffset, name: String): Int =
    offset.streams.get(arn(name)).map((stream: StreamOffset) => records(stream.shards.values.head)).getOrElse(0)

  test("the stream is read on from its position each time, is never joined again, and the other one is not disturbed") {
    val (files, service) = (new MemoryFiles, new Service)
    service.set("steady", "flapping")
    var run = new Run(files, service)
    var offset = run.batch(run.members.initialOffset)
    var (batches, active, joined) = (1, 1, 0)
    (1 to Oscillations).foreach { round =>
      Seq(Seq("steady"), Seq("steady", "flapping")).foreach { names =>
        service.set(names: _*)
        run.time.advance(2.seconds)
        offset = run.batch(offset)
        batches += 1
        if (names.contains("flapping")) active += 1
      }
      if (round % 20 == 0) {
        joined += run.environment.recorded.all.count(_.isInstanceOf[StreamJoined])
        run.members.close()
        run = new Run(files, service)
      }
    }
    assert(read(offset, "steady") == batches && read(offset, "flapping") == active)
    assert(joined == 0, "the streams of the start are the only ones that joined")
    assert(offset.streams.size == 2)
    assert(files.texts.size < 300, "the metadata log does not grow without a limit")
  }

  test("a stream that could not be read in one run is read on in the next one, although the document is the same") {
    Seq("park", "drain").foreach { onRemoved =>
      val (files, service) = (new MemoryFiles, new Service)
      service.set(both: _*)
      val first = new Run(files, service, onRemoved)
      var offset = first.batch(first.members.initialOffset)
      if (onRemoved == "drain") {
        service.set("steady")
        first.time.advance(2.seconds)
        offset = first.batch(offset)
      }
      first.members.close()
      val was = offset.streams(arn("flapping"))
      val cut = new Run(files, service, onRemoved, existing = Seq("steady"))
      offset = cut.batch(offset)
      assert(offset.streams(arn("flapping")).isParked, onRemoved)
      cut.members.close()
      val again = new Run(files, service, onRemoved)
      offset = again.batch(offset)
      assert(offset.streams(arn("flapping")).phase == was.phase, onRemoved)
      assert(read(offset, "flapping") == records(was.shards.values.head) + 1, onRemoved)
    }
  }

  test("a stream that is parked before it is read has a time, from which expired records are noticed") {
    val (files, service) = (new MemoryFiles, new Service)
    service.set(both: _*)
    val run = new Run(files, service)
    val initial = run.members.initialOffset
    assert(!initial.isTimed && initial.streams.values.forall(_.since.isEmpty))
    val joinMillis = run.time.currentMillis
    def timeOf(offset: SourceOffset): Option[Long] = offset.streams(arn("flapping")).since.values.headOption
    service.set("steady")
    run.members.check(initial)
    run.members.open(initial)
    run.time.advance(2.hours)
    val parked = run.batch(initial)
    assert(parked.streams(arn("flapping")).isParked)
    val oldest = run.time.currentMillis - (24.hours - Retention.FirstFetch).toMillis
    assert(
      timeOf(parked).exists(time => time > oldest - 1.minute.toMillis && time <= oldest),
      "at the time of the park"
    )
    run.members.close()
    // A run that never opens the stream has the time of the join.
    val unopened = new Run(files, service, existing = Seq("steady")).batch(initial)
    assert(unopened.streams(arn("flapping")).isParked)
    assert(timeOf(unopened).exists(_ <= joinMillis - (24.hours - Retention.FirstFetch).toMillis), timeOf(unopened))
  }

  test("a drained stream that is named again before it exists is held back, so that nothing of it is lost until then") {
    val (files, service) = (new MemoryFiles, new Service)
    service.set(both: _*)
    val first = new Run(files, service)
    val initial = first.batch(first.members.initialOffset)
    service.set("steady")
    first.time.advance(2.seconds)
    val parked = first.batch(initial)
    first.members.close()
    val at = first.time.currentMillis - 1
    val flapping = parked.streams(arn("flapping")).copy(phase = StreamPhase.Parked(at, isDrained = true))
    val run = new Run(files, service, existing = Seq("steady"))
    val drained = run.batch(parked.copy(streams = parked.streams.updated(arn("flapping"), flapping)))
    assert(!run.members.isHeld(arn("flapping")))
    service.set(both: _*)
    run.time.advance(2.seconds)
    assert(run.members.isHeld(arn("flapping")) && run.members.wasDrained(arn("flapping")))
    val held = run.batch(drained)
    assert(held.streams(arn("flapping")).phase == flapping.phase && held.version > drained.version)
    assert(run.members.wantedSince(held, held.streams(arn("flapping"))).contains(at), "not since it was named")
    assert(run.environment.losses.isEmpty)
  }

  test("a stream that drains while many versions follow keeps its logical stream, its order and how it is reached") {
    val (files, service) = (new MemoryFiles, new Service)
    val endpoint = Some("https://kinesis.test")
    service.set(Seq("steady", "flapping"), endpoint, after = Map("flapping" -> "steady"))
    var run = new Run(files, service, onRemoved = "drain")
    var offset = run.batch(run.members.initialOffset)
    (1 to Oscillations).foreach { version =>
      service.set("steady")
      run.time.advance(2.seconds)
      offset = run.batch(offset)
      if (version % 50 == 0) {
        run.members.close()
        run = new Run(files, service, onRemoved = "drain")
      }
      assert(run.members.idOf(arn("flapping"), offset).contains("orders"), s"version $version")
      assert(run.members.known(arn("flapping")).flatMap(_.endpoint) == endpoint, s"version $version")
      assert(run.members.waiting(offset) == Set(arn("flapping")), s"version $version")
    }
    assert(read(offset, "flapping") == Oscillations + 1, "it is read on")
    assert(files.texts.size < 300)
  }
}
