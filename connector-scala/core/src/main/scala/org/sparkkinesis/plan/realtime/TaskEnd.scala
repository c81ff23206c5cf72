package org.sparkkinesis.plan.realtime

/**
 * Report of an attempt of a task of a real-time batch at its end.
 *
 * @param childrenBegun
 *   number of child shards that the task began within the batch
 * @param handOver
 *   times from a record's arrival to its hand-over
 */
final case class TaskEnd(outcomes: Vector[ShardOutcome], rows: Long, childrenBegun: Int, handOver: LatencyCounts) {

  /** Returns the end of an attempt that read the shards of two tasks, as after `coalesce`. */
  def +(that: TaskEnd): TaskEnd =
    TaskEnd(outcomes ++ that.outcomes, rows + that.rows, childrenBegun + that.childrenBegun, handOver + that.handOver)
}
