package org.sparkkinesis.spark.write.route

import java.util.concurrent.ConcurrentHashMap
import java.util.regex.Pattern

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.sparkkinesis.RunningQueries

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
    private val own = ConcurrentHashMap.newKeySet[OfRun]

    /**
     * @param writeOptions
     *   the options that Spark gave to the write, by lower-case name
     */
    def of(options: Options, writeOptions: String => Option[String]): RouteBooks = (queryId, byRow, events) => {
      val ids = idsOf(options, byRow)
      val session = SparkSession.active
      val context = session.sparkContext
      def property(name: String): Option[String] = Option(context.getLocalProperty(name))
      // The thread of a query plans the writes of its sink, and those in `foreachBatch`.
      val query = property(QueryId)
      val epoch = query.flatMap(_ => property(BatchId)).flatMap(_.toLongOption)
      val running = query.flatMap(RunningQueries.find(session, _))
      val conf = session.sessionState.newHadoopConf()
      def newBook(): Served = {
        val isSink = query.contains(queryId)
        val checkpoint = if (isSink) None else running.map(_.checkpointLocation)
        val cache =
          RouteCache.of(options, writeOptions, session.conf.getOption, epoch.nonEmpty, checkpoint, conf)
        if (cache.isEmpty && epoch.nonEmpty) events.emit(RoutesNotCached())
        val book = new RouteBook(
          options,
          ids,
          () => MetadataSource.open(options, conf, events),
          cache,
          Environment.OfJvm,
          events
        )
        new Served(book, new RouteDesk(options, book, Environment.OfJvm))
      }
      val (document, served) = epoch match {
        case Some(_) =>
          val runId =
            running.map(_.runId).orElse(QueryNames.ofThread(context, Nil).runId).orElse(query).getOrElse(queryId)
          val key = OfRun(runId, options.toString, byRow)
          own.add(key)
          val found = byRun.computeIfAbsent(
            key,
            _ => {
              val opened = newBook()
              QueryEnd.await(context, runId) {
                byRun.remove(key)
                own.remove(key)
                opened.close()
              }
              opened
            }
          )
          found.book.pin(epoch) -> found
        case None =>
          val opened = newBook()
          val document =
            try opened.book.pin(None)
            catch {
              case failure: Throwable =>
                opened.close()
                throw failure
            }
          // It asks the service again only if a task has a stream in trouble.
          opened.book.close()
          document -> opened
      }
      val address = served.desk.address(epoch, document)
      if (epoch.isEmpty) ofBatches.opened(address.name, served)
      val defaultId = ids match {
        case StreamIds.Named(names) if !byRow => names.headOption
        case _ => None
      }
      RoutePlan.of(options, document, defaultId).copy(desk = Some(address))
    }

    /** Metrics of the queries that write to the table now. */
    def metrics: Map[String, Long] = own.asScala.flatMap(key => Option(byRun.get(key)))
      .map(_.book.metrics).foldLeft(Map.empty[String, Long])(_ ++ _)
  }

  /** A batch write has ended, or a task of it cannot run any more. Has no effect on a streaming write. */
  def ended(plan: RoutePlan): Unit = plan.desk.foreach(address => ofBatches.ended(address.name))

  /**
   * The writes of one run of a query with the same options. In `foreachBatch`, each batch has a table of its own.
   *
   * @param runId
   *   the run, because the end of one run may be told after the next run has begun
   * @param options
   *   their text, which hides secrets
   */
  final private case class OfRun(runId: String, options: String, byRow: Boolean)

  /** The book of a write, and the desk through which executors ask it. */
  final private class Served(val book: RouteBook, val desk: RouteDesk) extends AutoCloseable {
    override def close(): Unit =
      try desk.close()
      finally book.close()
  }

  private val byRun = new ConcurrentHashMap[OfRun, Served]

  /** The batch writes that are planned or run. Spark does not tell that a planned one is never run. */
  private object ofBatches {
    private val open = mutable.LinkedHashMap.empty[String, Served]

    def opened(name: String, served: Served): Unit = {
      val oldest = synchronized {
        open(name) = served
        if (open.size > MostBatches) open.headOption.flatMap { case (first, _) => open.remove(first) } else None
      }
      oldest.foreach(_.close())
    }

    def ended(name: String): Unit = synchronized(open.remove(name)).foreach(_.close())
  }

  /** Number of batch writes at the same time whose tasks can ask for newer routes. */
  private val MostBatches = 64

  private def idsOf(options: Options, byRow: Boolean): StreamIds = {
    if (options.isSet(MetadataOptions.streamIdPattern)) throw OptionErrors.conflict(
      options = "'streamIdPattern' and writing",
      reason = "A pattern names logical streams to read.",
      fix = "Name the logical stream with 'streamId', or add a column 'streamId' to the rows."
    )
    if (byRow && !options.isSet(MetadataOptions.streamId)) StreamIds.Matching(Pattern.compile(".*"))
    else
      MetadataSource.ids(options) match {
        case several: StreamIds.Named if several.ids.size > 1 && !byRow =>
          throw OptionErrors.conflict(
            options = "'streamId' and writing",
            reason =
              s"The option names ${several.ids.size} logical streams, and no column says which one a row is for.",
            fix = "Name one logical stream, or add a column 'streamId' to the rows."
          )
        case one => one
      }
  }
}
