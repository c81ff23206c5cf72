package org.sparkkinesis.bench.scale

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan._
import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph

/**
 * Measures the driver's time for a micro-batch with very many shards that all have new records: planning its end and
 * its tasks, and encoding its offset: `ScaleBenchmark [--seconds N] [--shards N]`. The last line is one JSON object,
 * with percentiles in milliseconds.
 */
object ScaleBenchmark {
  private val Arn = "arn:aws:kinesis:us-east-1:123456789012:stream/bench"
  private val First = BigInt("49674026002850188218576229259473476449429298564223254594")

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val count = arguments.number("shards", 10000)
    val seconds = arguments.seconds(20)
    val shards = HashKeyRange.uniform(count).zipWithIndex.map { case (range, i) =>
      Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber(First.toString), None)
    }
    val graph = ShardGraph.of(shards)
    val start =
      SourceOffset(Seq(StreamOffset("bench", Arn, 1, shards.map(_.id -> ShardPosition.Horizon).to(SortedMap))))
    val rounds = new Rounds(graph, shards.map(_.id))

    rounds.run(start, seconds / 2)
    val measured = rounds.run(start, seconds)
    val offset = OffsetCodec.encode(measured.last)
    println(
      (Seq(
        s""""shards": $count""",
        s""""rounds": ${measured.planMillis.size}""",
        s""""offset_bytes_per_shard": ${offset.length / count}"""
      ) ++ percentiles("plan", measured.planMillis) ++ percentiles("encode", measured.encodeMillis)).mkString(
        "{",
        ", ",
        "}"
      )
    )
  }

  private def percentiles(name: String, millis: Vector[Double]): Seq[String] = {
    val sorted = millis.sorted
    Seq(50, 99).map(p => f""""${name}_p${p}_ms": ${sorted((sorted.size - 1) * p / 100)}%.2f""")
  }

  private val owners = (0 until 10).map(i => Option(s"executor_host_$i"))

  private val Prepared = 32

  final private case class Measured(planMillis: Vector[Double], encodeMillis: Vector[Double], last: SourceOffset)

  final private class Rounds(graph: ShardGraph, ids: Seq[ShardId]) {

    /** Created in advance, so that the work of the consumers and its garbage are not measured. */
    private val news = (1 to Prepared).map(chunks)

    def run(start: SourceOffset, seconds: Int): Measured = {
      val until = System.nanoTime() + seconds * 1000000000L
      val plans, encodes = Vector.newBuilder[Double]
      var at = start
      var round = 0
      while (System.nanoTime() < until) {
        if (round % Prepared == 0) at = start
        val available = news(round % Prepared)
        val began = System.nanoTime()
        val end = BatchPlanner.plan(at, _ => graph, shard => available.get(shard), ReadLimits.Unlimited).get.end
        val ranges = TaskPlanner.ranges(at, end, Map.empty, shard => graph.range(shard.shard))
        val tasks = TaskPlanner.tasks(ranges, shard => owners(shard.shard.value.last - '0'), None, 16)
        val planned = System.nanoTime()
        val text = OffsetCodec.encode(end)
        encodes += (System.nanoTime() - planned) / 1e6
        plans += (planned - began) / 1e6
        require(tasks.map(_.ranges.size).sum == ids.size && text.nonEmpty)
        at = end
        round += 1
      }
      Measured(plans.result(), encodes.result(), at)
    }

    private def chunks(round: Int): Map[StreamShard, ShardAvailability] =
      ids.iterator.zipWithIndex.map { case (id, i) =>
        val number = SequenceNumber.trusted((First + BigInt(i) * 16 + BigInt(round) * (BigInt(1) << 80)).toString)
        val arrival = 1777320018123L + round * 200
        StreamShard(Arn, id) ->
          ShardAvailability(Vector(ChunkSummary(number, 100, 20000, arrival, arrival, arrival, 0)), ended = false)
      }.toMap
  }
}
