package org.sparkkinesis.simulation.write

import org.sparkkinesis.simulation.model.{ModelSettings, ServiceFault}

/** What happens to the streams and to the query that writes to them. Indexes are taken modulo what there is. */
sealed trait WriteAction

object WriteAction {

  /** Lets time pass; everything else takes none. */
  final case class Advance(millis: Long) extends WriteAction

  /**
   * Adds a micro-batch, which the query writes when those before it are committed.
   *
   * @param keys
   *   distinct partition keys
   * @param bytes
   *   largest payload
   */
  final case class Batch(rows: Int, keys: Int, bytes: Int) extends WriteAction
  final case class Split(account: Int, shard: Int) extends WriteAction
  final case class Merge(account: Int, shard: Int) extends WriteAction

  /** Deletes the stream of an account, and creates it again after a while. */
  final case class Recreate(account: Int, shards: Int, downMillis: Long) extends WriteAction

  /** Interrupts a task, as Spark does when it kills one. */
  final case class KillTask(task: Int) extends WriteAction

  /** Ends an executor with everything that runs on it; another one takes its place. */
  final case class LoseExecutor(executor: Int) extends WriteAction

  /** Stops the query; it starts again after a second and writes the batch again that was not committed. */
  case object Restart extends WriteAction
  final case class Fault(fault: ServiceFault, millis: Long) extends WriteAction

  /** The user's rate limiting strategy throws an exception in one of so many calls. */
  final case class BreakStrategy(oneOf: Int, millis: Long) extends WriteAction
}

/** How a row names its stream. */
sealed trait WriteTarget {

  /** Index of the account that the stream belongs to. */
  def account: Int
}

object WriteTarget {

  /** By name, in the first account. */
  case object Name extends WriteTarget {
    override def account: Int = 0
  }

  /** By ARN, in this account. */
  final case class Arn(account: Int) extends WriteTarget
}

/**
 * @param shards
 *   of the stream of each account; all streams have the same name
 * @param targets
 *   where rows go, in turn
 * @param rowPauseMillis
 *   longest time between two rows of a task
 * @param failPercent
 *   tasks that fail by themselves, in the middle
 * @param speculationPercent
 *   tasks of which a second attempt is started
 * @param hashKeyPercent
 *   rows that have an explicit hash key
 * @param options
 *   of the sink
 */
final case class WriteSetup(
    shards: Vector[Int] = Vector(1),
    targets: Vector[WriteTarget] = Vector(WriteTarget.Name),
    executors: Int = 1,
    tasks: Int = 1,
    rowPauseMillis: Int = 0,
    failPercent: Int = 0,
    speculationPercent: Int = 0,
    hashKeyPercent: Int = 0,
    model: ModelSettings = ModelSettings(),
    options: Map[String, String] = Map.empty
) {
  def ordered: Boolean = options.get("ordering").contains("key")
}

/** One run, which the same seed repeats exactly. */
final case class WriteScenario(seed: Long, setup: WriteSetup, actions: Vector[WriteAction])
