package org.sparkkinesis.kit.stream

import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.util.Try

import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorRemoved}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Dataset, Row}

import org.sparkkinesis.error.KinesisConnectorException

/**
 * Starts the query, again with the same checkpoint when it ran before.
 *
 * @param options
 *   options of this start, which override those of the test
 * @param onBatch
 *   what each batch does before its rows are collected
 * @param query
 *   the query on the rows of the stream
 */
final case class StartStream(
    trigger: Trigger = Trigger.ProcessingTime(0),
    options: Map[String, String] = Map.empty,
    onBatch: (Dataset[Row], Long) => Unit = (_, _) => (),
    query: DataFrame => DataFrame = identity
) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val batch: (Dataset[Row], Long) => Unit = (rows, id) => {
      onBatch(rows, id)
      in.collected.sink(rows, id)
    }
    val rows = in.spark.readStream.format("kinesis").options(in.options ++ options).load()
    in.started(query(rows).writeStream.option("checkpointLocation", in.checkpoint).trigger(trigger)
      .foreachBatch(batch).start())
  }

  override def toString: String = s"StartStream($trigger, $options)"
}

/**
 * Starts the query with a `ForeachWriter`, again with the same checkpoint when it ran before. Its rows are collected
 * one by one, as tasks in this JVM hand them over. Real-time mode needs this sink.
 *
 * @param options
 *   options of this start, which override those of the test
 * @param beforeRow
 *   what the task does before it hands over a row
 * @param afterRow
 *   what the task does after it handed over the row with this number
 */
final case class StartForeach(
    trigger: Trigger = StartForeach.LongBatch,
    options: Map[String, String] = Map.empty,
    beforeRow: () => Unit = () => (),
    afterRow: Int => Unit = _ => ()
) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val writer = HandedOver.writer(in.checkpoint) { (batch, row) =>
      beforeRow()
      in.collected.add(batch, row)
      afterRow(Collected.number(row))
    }
    val rows = in.spark.readStream.format("kinesis").options(in.options ++ options).load()
    in.started(rows.writeStream.option("checkpointLocation", in.checkpoint).outputMode("update").trigger(trigger)
      .foreach(writer).start())
  }

  override def toString: String = s"StartForeach($trigger, $options)"
}

object StartForeach {

  /** Real-time mode with a batch that does not end by its duration within a test. */
  val LongBatch: Trigger = Trigger.RealTime("1 hour")
}

/** Stops the query. Its batch may be stopped between its output and its commit, and then runs again. */
case object StopStream extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.query.stop()
}

/** Waits until everything that the stream held when this was called is processed. */
case object ProcessAllAvailable extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.query.processAllAvailable()
}

/** Waits until this number of further batches is in the query's progress. */
final case class AwaitBatches(count: Int) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val first = Option(in.query.lastProgress).fold(-1L)(_.batchId)
    in.await(s"$count further batches")(Option(in.query.lastProgress).exists(_.batchId >= first + count))
  }
}

/** Waits until the query ends by itself, as with the trigger AvailableNow. */
case object AwaitEnd extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit =
    in.expect(in.query.awaitTermination(60000), "the query did not end within 60 s")
}

/** Waits until the query fails with the connector's error of this condition. */
final case class ExpectFailure(condition: String) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val ended = Try(in.query.awaitTermination(60000))
    in.expect(ended.isFailure, s"the query did not fail within 60 s")
    val found = Iterator.iterate(ended.failed.get)(_.getCause).takeWhile(_ != null).collectFirst {
      case error: KinesisConnectorException => error.condition
    }
    in.expect(found.contains(condition), s"the query failed with ${found.getOrElse(ended.failed.get)}")
  }
}

/** Kills the executor with the lowest id, and waits until Spark knows that it is lost. Needs a cluster. */
case object KillExecutor extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val cluster = in.cluster.getOrElse(throw new IllegalStateException("KillExecutor needs a suite with a cluster"))
    val (id, victim) = cluster.executors.head
    val removed = new CountDownLatch(1)
    val listener = new SparkListener {
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
        if (event.executorId == id.toString) removed.countDown()
    }
    in.spark.sparkContext.addSparkListener(listener)
    try {
      victim.destroyForcibly()
      in.expect(removed.await(60, TimeUnit.SECONDS), s"Spark did not remove executor $id within 60 s")
    } finally in.spark.sparkContext.removeSparkListener(listener)
  }
}
