package org.sparkkinesis.kit.stream

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.kit.process.StandaloneCluster

/** Runs stream tests that are written as lists of actions, in the manner of Spark's `StreamTest`. */
trait StreamTests {
  protected def spark: SparkSession
  protected def kinesis: KinesisEmulator

  /** Returns the options that a query on this stream needs, without those of the test. */
  protected def readOptions(stream: String): Map[String, String]

  /** Returns the options that a query which writes to this stream needs, without those of the test. */
  protected def writeOptions(stream: String): Map[String, String]

  /** Creates a folder for a checkpoint. */
  protected def checkpoint(): String

  /** The cluster of the Spark session, if it does not run in this process. */
  protected def cluster: Option[StandaloneCluster] = None

  /**
   * Creates the stream, and runs the actions one after another up to the first that fails.
   *
   * @param options
   *   options of the queries that read the stream
   * @throws StreamTestFailure
   *   with the failed action, those before and after it, and the query's report
   */
  protected def testStream(
      stream: String,
      shards: Int,
      options: (String, String)*
  )(actions: StreamAction*): StreamRun = {
    val arn = kinesis.admin.createStream(stream, shards)
    val (reading, writing) = (readOptions(stream) ++ options, writeOptions(stream))
    val run = new StreamRun(spark, kinesis, stream, arn, checkpoint(), reading, writing, cluster)
    actions.zipWithIndex.foreach { case (action, index) =>
      try action.run(run)
      catch {
        case NonFatal(failure) =>
          throw new StreamTestFailure(StreamTests.describe(run, actions, index, failure), failure)
      }
    }
    run.clearFaults()
    run
  }
}

private object StreamTests {
  def describe(run: StreamRun, actions: Seq[StreamAction], failed: Int, failure: Throwable): String = {
    val steps = actions.zipWithIndex.map { case (action, index) =>
      val state = if (index < failed) "done" else if (index == failed) "FAILED" else "not run"
      f"  $state%-8s ${index + 1}. $action"
    }
    val head = s"Action ${failed + 1} of ${actions.size} on stream ${run.stream} failed, ${actions(failed)}: $failure"
    (Seq(head) ++ steps ++ Seq(run.report)).mkString("\n")
  }
}
