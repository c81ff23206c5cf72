package org.sparkkinesis.kit.stream

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}

/** Puts these numbers as text, each under one of [[StreamRun.Keys]] partition keys. */
final case class PutRecords(numbers: Seq[Int], explicitHashKey: Option[String] = None) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.put(numbers, explicitHashKey)
}

/**
 * Puts these numbers as the user records of one aggregated record, each under its partition key as with
 * [[PutRecords]]. Without an explicit hash key, the partition key of the first number determines the shard.
 */
final case class PutAggregate(numbers: Seq[Int], explicitHashKey: Option[String] = None) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val container = new Aggregator(1 << 20)
    numbers.foreach { n =>
      in.expect(container.tryAdd(StreamRun.partitionKey(n), None, n.toString.getBytes(UTF_8)), "the aggregate is full")
    }
    val key = StreamRun.partitionKey(numbers.head)
    in.kinesis.admin.putRecord(in.stream, key, explicitHashKey.orNull, container.result())
    ()
  }
}

/** Splits the shard with this number in the middle of its range. */
final case class Split(shard: Int) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit =
    in.kinesis.admin.splitShard(in.stream, StreamRun.shardId(shard))
}

/** Merges two adjacent shards. */
final case class Merge(shard: Int, adjacent: Int) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit =
    in.kinesis.admin.mergeShards(in.stream, StreamRun.shardId(shard), StreamRun.shardId(adjacent))
}

/** Advances the service's clock, which the emulator's timers and quotas follow. */
final case class AdvanceClock(by: FiniteDuration) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.kinesis.admin.clock.advance(by)
}

/** Adds a fault for calls on this stream, restricted to an operation and a shard if they are given. */
final case class AddFault(
    effect: FaultEffect,
    operation: String = "",
    shard: Option[Int] = None,
    count: Int = Int.MaxValue
) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit =
    in.addFault(FaultRule(effect, operation, in.stream, shard.fold("")(StreamRun.shardId), count = count))
}

/** Removes all faults of this test. */
case object ClearFaults extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.clearFaults()
}

/** Waits until a fault has affected this number of calls; `fault` is its position among the added faults. */
final case class AwaitFault(hits: Int, fault: Int = 0) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit =
    in.await(s"$hits calls that fault $fault affects")(in.hits(fault) >= hits)
}

/** Waits until an operation was called this number of times on this stream. */
final case class AwaitCalls(operation: String, count: Long) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.await(s"$count calls of $operation")(
    in.calls(operation) >= count
  )
}

/** Checks the number of calls of each operation on this stream since it was created. */
final case class CheckCalls(expected: (String, Long)*) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = expected.foreach { case (operation, count) =>
    in.expect(in.calls(operation) == count, s"$operation was called ${in.calls(operation)} times, not $count")
  }
}
