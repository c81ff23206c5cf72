package org.sparkkinesis.integration.write

import java.util.concurrent.{CompletableFuture, TimeUnit}

import org.apache.spark.sql.execution.{QueryExecution, SparkPlan}
import org.apache.spark.sql.util.QueryExecutionListener
import org.apache.spark.sql.{DataFrame, DataFrameWriter, Row}

import org.sparkkinesis.aggregate.Deaggregator
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.model.KinesisRecord

/** Shared parts of the sink's suites: writers, and the records of a stream. */
abstract class SinkFixture extends SparkSuite {
  protected val format: String = "kinesis"

  protected def target: Map[String, String] = connection("none") - "streamName"

  protected def writer(rows: DataFrame, set: (String, String)*): DataFrameWriter[Row] =
    rows.write.format(format).mode("append").options(target).options(set.toMap)

  /** Returns the user records of a stream, shard by shard, with aggregates unpacked. */
  protected def read(stream: String): Seq[(String, String)] =
    kinesis.admin.records(stream).flatMap { (record: KinesisRecord) =>
      Option(Deaggregator.open(record.data)) match {
        case Some(users) => (0 until users.count).map(i => users.partitionKey(i) -> new String(users.data(i), "UTF-8"))
        case None => Seq(record.partitionKey -> new String(record.data, "UTF-8"))
      }
    }

  /** Runs a write, and returns the plan with which Spark has executed it. */
  protected def planOf(write: => Unit): SparkPlan = {
    val executed = new CompletableFuture[SparkPlan]
    // Spark tells listeners later, so the listener may still hear of executions of earlier tests.
    val before = spark.emptyDataFrame.queryExecution.id
    val listener = new QueryExecutionListener {
      override def onSuccess(name: String, execution: QueryExecution, nanos: Long): Unit =
        if (execution.id > before) executed.complete(execution.executedPlan): Unit
      override def onFailure(name: String, execution: QueryExecution, error: Exception): Unit =
        if (execution.id > before) executed.completeExceptionally(error): Unit
    }
    spark.listenerManager.register(listener)
    try {
      write
      executed.get(1, TimeUnit.MINUTES)
    } finally spark.listenerManager.unregister(listener)
  }

  /** Returns all nodes of a plan, also those of its subqueries and of the plans that its nodes show as parts. */
  protected def nodes(plan: SparkPlan): Seq[SparkPlan] = plan +:
    (plan.children ++ plan.subqueries ++
      plan.innerChildren.collect { case inner: SparkPlan => inner }).flatMap(nodes)

  /** Returns the condition and message of the connector's error inside Spark's exceptions. */
  protected def conditionOf(body: => Any): (String, String) = {
    val error = intercept[Throwable](body)
    val chain = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toSeq
    chain
      .flatMap(cause => Option(cause.getMessage))
      .flatMap("\\[(KINESIS_[A-Z_]+)\\]".r.findFirstMatchIn(_))
      .headOption
      .map(found => found.group(1) -> chain.map(_.getMessage).mkString("\n"))
      .getOrElse(throw error)
  }
}
