package org.apache.spark.sparkkinesis

import org.apache.spark.executor.CoarseGrainedExecutorBackend
import org.apache.spark.{SparkEnv, TaskContext}

/** The task that the calling thread runs. */
object RunningTask {

  /**
   * Throws the exception with which Spark ends a killed task, if the task was killed. Spark interrupts a task that is
   * killed only if its job asks for that.
   */
  def endIfKilled(task: TaskContext): Unit = task.killTaskIfInterrupted()

  /**
   * Returns a function that kills the task and gives Spark the reason; any thread may call it. Spark runs a killed task
   * again, possibly in another executor, and does not count it as a failure. Returns nothing outside of a task, and in
   * local mode, which has no other executor.
   */
  def killer(): Option[String => Unit] = for {
    task <- Option(TaskContext.get())
    backend <- SparkEnv.get.executorBackend.collect { case cluster: CoarseGrainedExecutorBackend => cluster }
  } yield reason => backend.executor.killTask(task.taskAttemptId(), interruptThread = true, reason)
}
