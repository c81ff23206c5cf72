package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.model.{ModelSettings, ServiceFault}
import org.sparkkinesis.simulation.spark.{QueryTrigger, TaskSettings}

/** What happens to a stream and to the query that reads it. Indexes are taken modulo what there is. */
sealed trait ReadAction

object ReadAction {

  /** Lets time pass; everything else takes none. */
  final case class Advance(millis: Long) extends ReadAction

  /** Puts records of random keys. */
  final case class Put(count: Int) extends ReadAction

  /** Puts records of keys that belong to one shard, so that the others stay idle. */
  final case class PutTo(shard: Int, count: Int) extends ReadAction

  /**
   * Puts one KPL aggregate.
   *
   * @param strays
   *   user records whose keys belong to other shards, beside those that belong to the shard
   */
  final case class PutAggregate(count: Int, strays: Int) extends ReadAction
  final case class Split(shard: Int) extends ReadAction
  final case class Merge(shard: Int) extends ReadAction

  /** Deletes the stream, and creates it again after a while. */
  final case class Recreate(shards: Int, downMillis: Long) extends ReadAction

  /** Starts the query from its checkpoint, unless it runs. */
  final case class Start(trigger: QueryTrigger, efo: Boolean, failOnDataLoss: Boolean) extends ReadAction
  case object Stop extends ReadAction

  /** Kills the driver when it has made so many steps more, and all executors with it. */
  final case class Kill(steps: Int) extends ReadAction
  final case class LoseExecutor(executor: Int) extends ReadAction
  case object AddExecutor extends ReadAction
  final case class Fault(fault: ServiceFault, millis: Long) extends ReadAction
  final case class LoseMessages(percent: Int, millis: Long) extends ReadAction

  /** Sets the driver's clock ahead of the service's, or behind it. */
  final case class Skew(millis: Long) extends ReadAction
}

/**
 * @param positionAgeMillis
 *   how far `initialPosition` lies before the first start, when it is a time
 * @param options
 *   of the source
 */
final case class ReadSetup(
    shards: Int = 1,
    retentionHours: Int = 24,
    initialPosition: String = "trim_horizon",
    positionAgeMillis: Long = 0,
    executors: Int = 1,
    model: ModelSettings = ModelSettings(),
    tasks: TaskSettings = TaskSettings(),
    options: Map[String, String] = Map.empty
)

/** One run, which the same seed repeats exactly. */
final case class ReadScenario(seed: Long, setup: ReadSetup, actions: Vector[ReadAction])
