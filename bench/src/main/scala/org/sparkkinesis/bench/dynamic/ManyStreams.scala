package org.sparkkinesis.bench.dynamic

import scala.collection.immutable.SortedMap

import org.sparkkinesis.bench.Meter
import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.config.value.OnStreamRemoved
import org.sparkkinesis.json.Json
import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId, StreamRef, StreamShard}
import org.sparkkinesis.plan.member.{EntryCodec, Membership, MembershipHistory}
import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.plan.{BatchPlanner, ReadLimits, ShardAvailability, TaskPlanner}
import org.sparkkinesis.shard.ShardGraph

/**
 * The driver's time for a logical stream of many physical streams, one of which leaves and one of which joins in each
 * version of the document: `answer` for handling the answer of the service and encoding the entry of the log, `take_in`
 * for the new streams and phases, and `plan` for a batch with records of all shards. `…_cpu` is the CPU time of the
 * thread, which other work on the machine and pauses of the garbage collector do not change.
 */
object ManyStreams {

  /** After this many rounds, the CPU time of a round does not fall any more. */
  private val WarmUps = 600
  private val First = BigInt("49674026002850188218576229259473476449429298564223254594")

  def measure(streams: Int, shards: Int, seconds: Int): Seq[(String, Json)] = {
    val listed = HashKeyRange.uniform(shards).zipWithIndex.map { case (range, i) =>
      Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber(First.toString), None)
    }
    val rounds = new Rounds(streams, listed)
    rounds.run(0, WarmUps)
    val found = rounds.run(seconds)
    Seq[(String, Json)](
      "streams" -> Json.num(streams.toLong),
      "shards_per_stream" -> Json.num(shards.toLong),
      "offset_bytes_per_shard" -> Json.num((found.offsetBytes / (streams * shards)).toLong)
    ) ++ found.times.flatMap { times =>
      DynamicBenchmark.percentiles(times.name, times.millis.result()) ++
        DynamicBenchmark.percentiles(s"${times.name}_cpu", times.cpuMillis.result())
    }
  }

  /** How long the rounds took for one kind of work, and the CPU time of their thread, in milliseconds. */
  final private class Times(val name: String) {
    val millis, cpuMillis = Vector.newBuilder[Double]

    def measure[A](isCounted: Boolean)(work: => A): A = {
      val (began, cpu) = (System.nanoTime(), Meter.threadCpuNanos)
      val result = work
      if (isCounted) {
        cpuMillis += (Meter.threadCpuNanos - cpu) / 1e6
        millis += (System.nanoTime() - began) / 1e6
      }
      result
    }
  }

  final private case class Found(times: Seq[Times], offsetBytes: Int)

  final private class Rounds(streams: Int, listed: Seq[Shard]) {
    private val graph = ShardGraph.of(listed)

    private def physical(index: Int): PhysicalStream = {
      val name = s"stream-$index"
      PhysicalStream(
        StreamRef.ByArn(s"arn:aws:kinesis:us-east-1:123456789012:stream/$name", "us-east-1", "123456789012", name)
      )
    }

    private def document(round: Int): MetadataDocument =
      MetadataDocument(round + 1L, SortedMap("bench" -> (round until round + streams).map(physical).toVector))

    private def join(stream: PhysicalStream): StreamOffset =
      StreamOffset(stream.stream.name, stream.arn, 1, listed.map(_.id -> ShardPosition.Horizon).to(SortedMap))

    def run(seconds: Int, minRounds: Int = 0): Found = {
      val until = System.nanoTime() + seconds * 1000000000L
      val (answers, takeIns, plans) = (new Times("answer"), new Times("take_in"), new Times("plan"))
      val history = new MembershipHistory(Nil, OnStreamRemoved.Park, 1, retentionMillis = 0)
      var at = SourceOffset(Nil)
      var round = 0
      var bytes = 0
      while (System.nanoTime() < until || round < minRounds) {
        val named = document(round)
        val joins = history.toPrepare(named).map(arn => join(named.physical(arn)))
        // The first version has every stream, and later ones only a change.
        val isCounted = round > 0
        val (entry, text) = answers.measure(isCounted) {
          val next = history.next(named, history.removed(named), joins, round.toLong).get
          next -> EntryCodec.encode(next)
        }
        history.note(entry)
        val (parked, waiting) = takeIns.measure(isCounted) {
          val moved = Membership.takeIn(at, Seq(entry))
          val next = Membership.park(moved, round.toLong, 0, 0, (_, _) => true)
          next -> Membership.waiting(next, Seq(entry))
        }
        val available = chunks(parked, round)
        val (batch, tasks) = plans.measure(isCounted) {
          val planned = BatchPlanner.plan(parked, _ => graph, available.get, ReadLimits.Unlimited, waiting).get
          val ranges = TaskPlanner.ranges(parked, planned.end, Map.empty, shard => graph.range(shard.shard))
          planned -> TaskPlanner.tasks(ranges, _ => Some("executor"), None, 16)
        }
        require(text.nonEmpty && tasks.map(_.ranges.size).sum == available.size)
        at = batch.end
        bytes = OffsetCodec.encode(at).length
        round += 1
      }
      Found(Seq(answers, takeIns, plans), bytes)
    }

    private def chunks(offset: SourceOffset, round: Int): Map[StreamShard, ShardAvailability] = {
      val number = SequenceNumber.trusted((First + BigInt(round) * (BigInt(1) << 80)).toString)
      val arrival = 1777320018123L + round * 200
      val chunk = Vector(ChunkSummary(number, 100, 20000, arrival, arrival, arrival, 0))
      offset.read.flatMap(stream =>
        stream.shards.keysIterator.map(shard =>
          StreamShard(stream.arn, shard) -> ShardAvailability(chunk, ended = false)
        )
      ).toMap
    }
  }
}
