package org.sparkkinesis.bench.dynamic

import scala.collection.immutable.SortedMap

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
 * for the new streams and phases, and `plan` for a batch with records of all shards.
 */
object ManyStreams {
  private val First = BigInt("49674026002850188218576229259473476449429298564223254594")

  def measure(streams: Int, shards: Int, seconds: Int): Seq[(String, Json)] = {
    val listed = HashKeyRange.uniform(shards).zipWithIndex.map { case (range, i) =>
      Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber(First.toString), None)
    }
    val rounds = new Rounds(streams, listed)
    rounds.run(seconds / 2)
    val found = rounds.run(seconds)
    Seq[(String, Json)](
      "streams" -> Json.num(streams.toLong),
      "shards_per_stream" -> Json.num(shards.toLong),
      "offset_bytes_per_shard" -> Json.num((found.offsetBytes / (streams * shards)).toLong)
    ) ++ Seq("answer" -> found.answers, "take_in" -> found.takeIns, "plan" -> found.plans).flatMap {
      case (name, millis) => DynamicBenchmark.percentiles(name, millis)
    }
  }

  final private case class Found(
      answers: Vector[Double],
      takeIns: Vector[Double],
      plans: Vector[Double],
      offsetBytes: Int
  )

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

    def run(seconds: Int): Found = {
      val until = System.nanoTime() + seconds * 1000000000L
      val answers, takeIns, plans = Vector.newBuilder[Double]
      val history = new MembershipHistory(None, OnStreamRemoved.Park, 1, retentionMillis = 0)
      var at = SourceOffset(Nil)
      var round = 0
      var bytes = 0
      while (System.nanoTime() < until) {
        val named = document(round)
        val joins = history.toPrepare(named).map(arn => join(named.physical(arn)))
        val began = System.nanoTime()
        val entry = history.next(named, history.removed(named), joins, round.toLong).get
        val text = EntryCodec.encode(entry)
        history.note(entry)
        val answered = System.nanoTime()
        val moved = Membership.takeIn(at, Seq(entry))
        val parked = Membership.park(moved, round.toLong, 0, 0, (_, _) => true)
        val waiting = Membership.waiting(parked, entry.document)
        val taken = System.nanoTime()
        val available = chunks(parked, round)
        val planning = System.nanoTime()
        val batch = BatchPlanner.plan(parked, _ => graph, available.get, ReadLimits.Unlimited, waiting).get
        val ranges = TaskPlanner.ranges(parked, batch.end, _ => None, shard => graph.range(shard.shard))
        val tasks = TaskPlanner.tasks(ranges, _ => Some("executor"), None, 16)
        val planned = System.nanoTime()
        require(text.nonEmpty && tasks.map(_.ranges.size).sum == available.size)
        // The first version has every stream, and later ones only a change.
        if (round > 0) {
          answers += (answered - began) / 1e6
          takeIns += (taken - answered) / 1e6
          plans += (planned - planning) / 1e6
        }
        at = batch.end
        bytes = OffsetCodec.encode(at).length
        round += 1
      }
      Found(answers.result(), takeIns.result(), plans.result(), bytes)
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
