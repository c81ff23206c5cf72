package org.sparkkinesis.spark.write.route

import java.util.concurrent.ConcurrentHashMap
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.config.{MetadataOptions, Options}
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.event.{EventSink, RoutesNotCached}
import org.sparkkinesis.metadata.StreamIds
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.metadata.MetadataSource
import org.sparkkinesis.spark.session.QueryNames

/** Gives the writes of one table the routes of their logical streams. */
trait RouteBooks {

  /**
   * Returns the routes of a write, or of one micro-batch of a streaming write.
   *
   * @param byRow
   *   whether each row names its logical stream
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_CONFLICT, KINESIS_OPTION_MISSING, KINESIS_METADATA_UNAVAILABLE, KINESIS_METADATA_FORBIDDEN
   */
  def pin(queryId: String, byRow: Boolean, events: EventSink): RoutePlan
}

object RouteBooks {

  /** The local properties that Spark sets on the thread of a streaming query. */
  private val QueryId = "sql.streaming.queryId"
  private val BatchId = "streaming.sql.batchId"

  /** Whether the rows go to logical streams. */
  def isWanted(options: Options, column: Option[Int]): Boolean =
    options.isSet(MetadataOptions.streamId) || options.isSet(MetadataOptions.streamIdPattern) || column.nonEmpty

  /** The books of the streaming queries that write to one table. Thread-safe. */
  final class OfTable {

    /** The books by run, because the end of one run may be told after the next run has begun. */
    private val byRun = new ConcurrentHashMap[String, RouteBook]

    /**
     * @param writeOptions
     *   the options that Spark gave to the write, by lower-case name
     */
    def of(options: Options, writeOptions: String => Option[String]): RouteBooks = (queryId, byRow, events) => {
      val ids = idsOf(options, byRow)
      val session = SparkSession.active
      val context = session.sparkContext
      def property(name: String): Option[String] = Option(context.getLocalProperty(name))
      val epoch = property(BatchId).flatMap(_.toLongOption).filter(_ => property(QueryId).contains(queryId))
      def hadoop = session.sessionState.newHadoopConf()
      def newBook(): RouteBook = {
        val cache = RouteCache.of(options, writeOptions, session.conf.getOption, epoch.nonEmpty, hadoop)
        if (cache.isEmpty && epoch.nonEmpty) events.emit(RoutesNotCached())
        val conf = hadoop
        new RouteBook(
          options,
          ids,
          () => MetadataSource.open(options, conf, events),
          cache,
          Environment.OfJvm,
          events
        )
      }
      val document = epoch match {
        case Some(_) => byRun.computeIfAbsent(
            QueryNames.ofThread(context, Nil).runId.getOrElse(queryId),
            runId => {
              val book = newBook()
              QueryEnd.await(context, runId) {
                byRun.remove(runId)
                book.close()
              }
              book
            }
          ).pin(epoch)
        case None =>
          val book = newBook()
          try book.pin(None)
          finally book.close()
      }
      val defaultId = ids match {
        case StreamIds.Named(names) if !byRow => names.headOption
        case _ => None
      }
      RoutePlan.of(options, document, defaultId)
    }

    /** Metrics of the queries that write to the table now. */
    def metrics: Map[String, Long] = byRun.values.asScala.map(_.metrics).foldLeft(Map.empty[String, Long])(_ ++ _)
  }

  private def idsOf(options: Options, byRow: Boolean): StreamIds = {
    if (options.isSet(MetadataOptions.streamIdPattern)) throw OptionErrors.conflict(
      options = "'streamIdPattern' and writing",
      reason = "A pattern names logical streams to read.",
      fix = "Name the logical stream with 'streamId', or add a column 'streamId' to the rows."
    )
    if (byRow) StreamIds.Matching(Pattern.compile(".*"))
    else
      MetadataSource.ids(options) match {
        case several: StreamIds.Named if several.ids.size > 1 =>
          throw OptionErrors.conflict(
            options = "'streamId' and writing",
            reason = s"The option names ${several.ids.size} logical streams, but a write has one.",
            fix = "Name one logical stream, or add a column 'streamId' to the rows."
          )
        case one => one
      }
  }
}
