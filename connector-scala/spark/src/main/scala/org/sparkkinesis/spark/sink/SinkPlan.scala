package org.sparkkinesis.spark.sink

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.distributions.{Distribution, Distributions}
import org.apache.spark.sql.connector.expressions.SortOrder

import org.sparkkinesis.config.{ConfigEntry, Options, WriteOptions}
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.sink.limit.RateLimiting
import org.sparkkinesis.spark.session.QueryNames
import org.sparkkinesis.spark.sink.invalid.OnInvalidRow

/** A checked write. Spark sends it to the executors. Its text contains no secret. */
trait SinkPlan extends Serializable {
  def kind: SinkKind

  /** The stream that is written, for descriptions. */
  def target: String
  def onInvalid: OnInvalidRow
  def queryId: String
  def query: QueryContext

  /** Distribution and order of rows that the write requires for its tasks. */
  def distribution: Distribution = Distributions.unspecified()
  def ordering: Array[SortOrder] = Array.empty

  def newWriter(partition: Int, share: TaskShare): SinkDataWriter

  /** Called on the driver when the write has failed. */
  def aborted(): Unit = ()

  /** Called on the driver when a batch write is over, also after it has failed. */
  def ended(): Unit = ()
}

object SinkPlan {

  /** Returns the names for log lines. A batch write has its own id, but neither a run nor a name. */
  def context(queryId: String, stream: Option[String]): QueryContext =
    QueryNames.ofThread(SparkSession.active.sparkContext, stream.toSeq).copy(queryId = Some(queryId))

  /** Returns the values of options for the log. */
  def shown(options: Options, entries: Seq[ConfigEntry[_]]): Seq[String] =
    entries.map(entry => s"${entry.key}=${options.shown(entry)}")

  /**
   * Checks that the rate limiting strategy can be used.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_INVALID
   */
  def checkStrategy(options: Options): Unit = {
    val chosen = options(WriteOptions.rateLimiting)
    RateLimiting.of(chosen).left.foreach { why =>
      throw OptionErrors.invalid(
        option = WriteOptions.rateLimiting.key,
        value = chosen.word,
        reason = why,
        expected = WriteOptions.rateLimiting.kind.expected
      )
    }
  }
}

/**
 * Limits that the driver sets for each task of a write.
 *
 * @param letterBytes
 *   maximum number of bytes of the invalid rows that the task holds
 * @param tasksAtOnce
 *   number of tasks that write at the same time, in all executors
 */
final case class TaskShare(letterBytes: Int, tasksAtOnce: Int)
