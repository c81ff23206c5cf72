package org.sparkkinesis.spark.protocol

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{ChildShard, HashKeyRange, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/** What the driver tells an executor's consumers. */
sealed trait ToExecutor

/** Read this shard ahead, from here on. */
final case class Assigned(shard: StreamShard, position: StartingPosition, epoch: Long, range: Option[HashKeyRange])
final case class Assign(shards: Seq[Assigned]) extends ToExecutor

/** What lies at or before these numbers is finished: drop it. */
final case class Release(upTo: Seq[(StreamShard, SequenceNumber)]) extends ToExecutor

/** Stop reading these. */
final case class Unassign(shards: Seq[StreamShard]) extends ToExecutor

/** A report was lost: tell everything. */
case object SendFullReport extends ToExecutor

/** The query has ended. */
case object StopAll extends ToExecutor

/** What an executor's consumers tell the driver. */
sealed trait ToDriver

/**
 * @param instance
 *   tells two lives of one executor's consumers apart
 */
final case class Register(executorId: String, host: String, instance: Long) extends ToDriver

/**
 * The consumers of an executor failed at something that is no answer of the service, and have stopped.
 *
 * @param reason
 *   class and message of the error
 */
final case class Broken(executorId: String, instance: Long, reason: String) extends ToDriver

/**
 * What changed since the report before.
 *
 * @param number
 *   counts up by one with each report of an instance; a gap means that one was lost
 * @param full
 *   it says everything there is, in place of what changed
 * @param bufferIsFull
 *   some shard waits for room
 * @param metrics
 *   totals of the consumers' counters, with `bufferedBytes`
 */
final case class Report(
    executorId: String,
    instance: Long,
    number: Long,
    full: Boolean,
    bufferIsFull: Boolean,
    shards: Seq[ShardReport],
    metrics: Map[String, Long]
) extends ToDriver

/**
 * @param chunks
 *   new ones, or all with a full report
 * @param readUpToMillis
 *   everything that arrived until then is held, or was before; 0 when unknown
 * @param end
 *   the children, once the shard has ended
 */
final case class ShardReport(
    shard: StreamShard,
    epoch: Long,
    chunks: IndexedSeq[ChunkSummary],
    readUpToMillis: Long,
    millisBehindLatest: Long,
    end: Option[Seq[ChildShard]],
    failure: Option[ServiceException]
)
