package org.sparkkinesis.spark.session

import org.apache.spark.{SparkContext, TaskContext}

import org.sparkkinesis.event.log.QueryContext

/** Reads the names of a streaming query from the local properties that Spark sets on the query's thread. */
object QueryNames {
  private val QueryId = "sql.streaming.queryId"

  /** Spark uses the run id as the job group, and starts the job description with the query's name. */
  private val RunId = "spark.jobGroup.id"
  private val Description = "spark.job.description"

  /** Returns the query of the calling thread; without an id on any other thread, such as that of a batch read. */
  def ofThread(context: SparkContext, streams: Seq[String]): QueryContext =
    of(key => Option(context.getLocalProperty(key)), streams)

  /** Returns the query of a task. */
  def ofTask(task: TaskContext, streams: Seq[String]): QueryContext =
    of(key => Option(task.getLocalProperty(key)), streams)

  private[session] def of(property: String => Option[String], streams: Seq[String]): QueryContext =
    property(QueryId).fold(QueryContext(streams = streams)) { id =>
      val name = property(Description).flatMap(_.linesIterator.nextOption()).filterNot(line =>
        line.isEmpty || line.startsWith("id = ")
      )
      QueryContext(Some(id), property(RunId), name, streams)
    }
}
