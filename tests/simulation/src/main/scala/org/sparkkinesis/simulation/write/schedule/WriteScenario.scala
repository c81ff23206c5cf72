package org.sparkkinesis.simulation.write.schedule

import org.sparkkinesis.simulation.common.Scenario
import org.sparkkinesis.simulation.metadata.{MetadataFault, NamedState}
import org.sparkkinesis.simulation.model.{ModelKinesis, ModelSettings, ServiceFault}

/** An action on the streams or on the query that writes to them. Indexes are taken modulo the number of targets. */
sealed trait WriteAction

object WriteAction {

  /** Advances time; all other actions take no time. */
  final case class Advance(millis: Long) extends WriteAction

  /**
   * Adds a micro-batch, which the query writes after the previous ones are committed.
   *
   * @param keys
   *   number of distinct partition keys
   * @param bytes
   *   maximum size of a payload in bytes
   */
  final case class Batch(rows: Int, keys: Int, bytes: Int) extends WriteAction
  final case class Split(account: Int, shard: Int) extends WriteAction
  final case class Merge(account: Int, shard: Int) extends WriteAction

  /** Deletes the stream of an account and creates it again later. */
  final case class Recreate(account: Int, shards: Int, downMillis: Long) extends WriteAction

  /** Interrupts a task, as Spark does when it kills one. */
  final case class KillTask(task: Int) extends WriteAction

  /** Ends an executor with all of its tasks; another one replaces it. */
  final case class LoseExecutor(executor: Int) extends WriteAction

  /** Stops the query. It restarts after a second and writes the uncommitted batch again. */
  case object Restart extends WriteAction
  final case class Fault(fault: ServiceFault, millis: Long) extends WriteAction

  /** Changes what the metadata document says about the stream of an account. */
  final case class NameStream(account: Int, state: NamedState) extends WriteAction

  /** Lets the stream of one account drain, and that of another one take its place. */
  final case class Migrate(from: Int, to: Int) extends WriteAction
  final case class FailMetadata(fault: MetadataFault, millis: Long) extends WriteAction

  /** Kills the driver of a query that writes to a logical stream, after this number of further steps of it. */
  final case class KillDriver(steps: Int) extends WriteAction

  /** Lets the custom rate limiting strategy throw an exception in one of this number of calls. */
  final case class BreakStrategy(oneOf: Int, millis: Long) extends WriteAction
}

/** The way in which a row names its stream. */
sealed trait WriteTarget {

  /** The index of the account that owns the stream. */
  def account: Int
}

object WriteTarget {

  /** The name of the stream, in the first account. */
  case object Name extends WriteTarget {
    override def account: Int = 0
  }

  /** The logical stream that the streams of all accounts form. */
  case object Logical extends WriteTarget {
    override def account: Int = 0
  }

  /** The ARN of the stream, in this account. */
  final case class Arn(account: Int) extends WriteTarget
}

/**
 * @param shards
 *   number of shards of the stream of each account; all streams have the same name
 * @param targets
 *   the targets of the rows, in turn
 * @param rowPauseMillis
 *   maximum time between two rows of a task, in milliseconds
 * @param failPercent
 *   percentage of tasks that fail in the middle
 * @param speculationPercent
 *   percentage of tasks with a speculative attempt
 * @param hashKeyPercent
 *   percentage of rows with an explicit hash key
 * @param options
 *   options of the sink
 * @param logical
 *   what the first metadata document says about the stream of each account, if the rows go to a logical stream
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
    options: Map[String, String] = Map.empty,
    logical: Vector[NamedState] = Vector.empty
) {
  def isLogical: Boolean = logical.nonEmpty

  /** Whether the rows of a key are stored in their order. Other routers than `hash` use several streams for a key. */
  def ordered: Boolean =
    options.get("ordering").contains("key") && (!isLogical || options.get("router").contains("hash"))
}

object WriteSetup {

  /** Returns the accounts of the streams; the first one is the caller's. */
  def accounts(count: Int): Vector[String] =
    Vector.tabulate(count)(account => f"${ModelKinesis.Account.toLong + account}%012d")
}

/** One run. The same seed repeats it exactly. */
final case class WriteScenario(seed: Long, setup: WriteSetup, actions: Vector[WriteAction])
    extends Scenario[WriteAction]
