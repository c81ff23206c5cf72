package org.sparkkinesis.simulation.read.schedule

import org.sparkkinesis.simulation.common.Scenario
import org.sparkkinesis.simulation.metadata.{MetadataFault, NamedState}
import org.sparkkinesis.simulation.model.{ModelSettings, ServiceFault}
import org.sparkkinesis.simulation.spark.{QueryTrigger, TaskSettings}

/** An action on the stream or on the query that reads it. Indexes are taken modulo the number of targets. */
sealed trait ReadAction

object ReadAction {

  /** Advances time; all other actions take no time. */
  final case class Advance(millis: Long) extends ReadAction

  /** Puts records with random keys. */
  final case class Put(count: Int) extends ReadAction

  /** Puts records with keys of one shard, so that the others stay idle. */
  final case class PutTo(shard: Int, count: Int) extends ReadAction

  /**
   * Puts one KPL aggregate.
   *
   * @param strays
   *   number of further user records whose keys belong to other shards
   */
  final case class PutAggregate(count: Int, strays: Int) extends ReadAction
  final case class Split(shard: Int) extends ReadAction
  final case class Merge(shard: Int) extends ReadAction

  /** Deletes the stream and creates it again later. */
  final case class Recreate(shards: Int, downMillis: Long) extends ReadAction

  /** Changes the retention period. Records that are older are gone at once. */
  final case class Retain(hours: Int) extends ReadAction

  /** Starts the query from its checkpoint unless it is running. */
  final case class Start(trigger: QueryTrigger, efo: Boolean, failOnDataLoss: Boolean) extends ReadAction
  case object Stop extends ReadAction

  /** Kills the driver after this number of further steps, with all executors. */
  final case class Kill(steps: Int) extends ReadAction
  final case class LoseExecutor(executor: Int) extends ReadAction

  /** Kills an executor after this number of further steps. */
  final case class KillExecutor(executor: Int, steps: Int) extends ReadAction

  /** Stops the work of an executor for this time, while everything else goes on. */
  final case class Freeze(executor: Int, millis: Long) extends ReadAction
  case object AddExecutor extends ReadAction
  final case class Fault(fault: ServiceFault, millis: Long) extends ReadAction
  final case class LoseMessages(percent: Int, millis: Long) extends ReadAction

  /** Sets the difference between the driver's clock and the service's. */
  final case class Skew(millis: Long) extends ReadAction

  /** Sets the difference between the clocks of all executors and the service's. */
  final case class SkewExecutors(millis: Long) extends ReadAction

  /** Suspends all machines for this time: every clock moves, and nothing runs. */
  final case class Suspend(millis: Long) extends ReadAction

  /** Changes what the metadata document says about a stream. */
  final case class Name(stream: Int, state: NamedState) extends ReadAction

  /** Lets one stream drain, and another one follow it. */
  final case class Migrate(from: Int, to: Int) extends ReadAction
  final case class FailMetadata(fault: MetadataFault, millis: Long) extends ReadAction
}

/**
 * @param streams
 *   number of streams that the query reads, in different accounts. They have the same name, unless they form a logical
 *   stream.
 * @param recordBytes
 *   minimum size of a record
 * @param positionAgeMillis
 *   age of `initialPosition` in milliseconds at the first start, if it is a time
 * @param options
 *   options of the source
 * @param logical
 *   what the first metadata document says about each stream, if the query reads a logical stream
 * @param heapBytes
 *   size of each executor's heap. With a small one, records are kept in local files.
 */
final case class ReadSetup(
    shards: Int = 1,
    retentionHours: Int = 24,
    initialPosition: String = "trim_horizon",
    positionAgeMillis: Long = 0,
    executors: Int = 1,
    model: ModelSettings = ModelSettings(),
    tasks: TaskSettings = TaskSettings(),
    options: Map[String, String] = Map.empty,
    streams: Int = 1,
    recordBytes: Int = 1,
    logical: Vector[NamedState] = Vector.empty,
    heapBytes: Long = 1L << 30
) {
  def isLogical: Boolean = logical.nonEmpty
}

/** One run. The same seed repeats it exactly. */
final case class ReadScenario(seed: Long, setup: ReadSetup, actions: Vector[ReadAction]) extends Scenario[ReadAction]
