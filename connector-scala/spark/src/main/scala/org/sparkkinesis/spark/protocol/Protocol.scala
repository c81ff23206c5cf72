package org.sparkkinesis.spark.protocol

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.event.ConsumerHealth
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.plan.realtime.TaskEnd
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.settings.StreamConnection

/** A message from the driver to an executor's consumers. */
sealed trait ToExecutor

/**
 * A shard to prefetch, starting at `position`.
 *
 * @param creationMillis
 *   creation time of the stream, in epoch milliseconds
 */
final case class Assigned(
    shard: StreamShard,
    position: StartingPosition,
    epoch: Long,
    range: Option[HashKeyRange],
    creationMillis: Long
)

/**
 * Starts reading these shards.
 *
 * @param serviceMillis
 *   a time, in epoch milliseconds, that was not later than the service's time when the message was sent
 * @param connections
 *   the connections of those streams, by ARN, that joined or whose connections changed since the query started; never
 *   the query's own credentials. Messages can be lost, so an assignment does not rely on an earlier one.
 */
final case class Assign(
    shards: Seq[Assigned],
    serviceMillis: Long,
    connections: Seq[(String, StreamConnection)] = Nil
) extends ToExecutor

/** Drops the chunks at or before these sequence numbers; they are planned. */
final case class Release(upTo: Seq[(StreamShard, SequenceNumber)]) extends ToExecutor

/** Stops reading these shards. */
final case class Unassign(shards: Seq[StreamShard]) extends ToExecutor

/**
 * Tells the service's time. Consumers add their running time to it, which stands still while a machine is suspended.
 *
 * @param millis
 *   a time, in epoch milliseconds, that was not later than the service's time when the message was sent
 */
final case class ServiceTime(millis: Long) extends ToExecutor

/** Requests a full report, because an earlier report was lost. */
case object SendFullReport extends ToExecutor

/** Ends the tasks of the current real-time batch before its time. The consumers continue. */
case object EndTasks extends ToExecutor

/** Stops all consumers, because the query has ended. */
case object StopAll extends ToExecutor

/**
 * A question of an executor that writes to a logical stream, because a stream of its routes is in trouble.
 *
 * @param epoch
 *   the micro-batch; empty for a batch write
 * @param revision
 *   the revision of the routes that the executor has
 */
final case class RoutesWanted(epoch: Option[Long], revision: Long)

/**
 * The driver's answer with newer routes.
 *
 * @param document
 *   the text of the metadata document
 * @param connections
 *   how each stream of the routes is reached, by ARN; never the query's own credentials
 * @param mustBeOwn
 *   ARNs of the streams that must belong to the account of the query's own credentials
 */
final case class NewerRoutes(
    revision: Long,
    document: String,
    connections: Seq[(String, StreamConnection)],
    mustBeOwn: Seq[String]
)

/** A message from an executor's consumers to the driver. */
sealed trait ToDriver

/**
 * @param instance
 *   distinguishes two instances of one executor's consumers
 */
final case class Register(executorId: String, host: String, instance: Long) extends ToDriver

/**
 * Reports that an executor's consumers have stopped after an error that is not a service response.
 *
 * @param reason
 *   class and message of the error
 */
final case class Broken(executorId: String, instance: Long, reason: String) extends ToDriver

/**
 * Reports that a task of a real-time batch has handed over every record of a shard, and that some children wait for
 * other parents.
 *
 * @param waiting
 *   the children that the task did not begin
 */
final case class ParentFinished(shard: StreamShard, waiting: Seq[ChildShard]) extends ToDriver

/**
 * Reports the end of an attempt of a task of a real-time batch. Only if the attempt succeeds, its end counts.
 *
 * @param epoch
 *   the epoch in which the attempt reads its shards, which no other attempt of the query has
 */
final case class TaskEnded(executorId: String, host: String, epoch: Long, end: TaskEnd) extends ToDriver

/**
 * Reports the changes since the previous report.
 *
 * @param number
 *   increases by one with each report of an instance; a gap means that a report was lost
 * @param full
 *   whether the report contains the whole state instead of changes
 * @param bufferIsFull
 *   whether some shard waits for room in the buffer
 * @param unreachable
 *   the streams for which the executor's calls have received no answer for some time
 * @param metrics
 *   totals of the consumers' counters, and `bufferedBytes`
 */
final case class Report(
    executorId: String,
    instance: Long,
    number: Long,
    full: Boolean,
    bufferIsFull: Boolean,
    unreachable: Set[String],
    shards: Seq[ShardReport],
    metrics: Map[String, Long],
    health: ConsumerHealth = ConsumerHealth()
) extends ToDriver

/**
 * @param chunks
 *   new chunks, or all chunks in a full report
 * @param reads
 *   number of responses or pushed events, also empty ones, since the last report of the shard
 * @param readUpToMillis
 *   every record that arrived up to this time, in epoch milliseconds, is or was in the buffer; 0 when unknown
 * @param end
 *   the shard's children, once the shard has ended
 * @param openUpToMillis
 *   time of the last answer at the tip without records, in epoch milliseconds: such an answer of a closed shard reports
 *   its end; 0 if there is none since the last report
 * @param startEpoch
 *   the epoch under which the consumer started; under a later one, it continues with what it has fetched. 0 if unknown
 */
final case class ShardReport(
    shard: StreamShard,
    epoch: Long,
    chunks: IndexedSeq[ChunkSummary],
    reads: Int,
    readUpToMillis: Long,
    millisBehindLatest: Long,
    end: Option[Seq[ChildShard]],
    failure: Option[ServiceException],
    openUpToMillis: Long = 0,
    startEpoch: Long = 0
)
