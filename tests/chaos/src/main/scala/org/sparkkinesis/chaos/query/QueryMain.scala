package org.sparkkinesis.chaos.query

import java.io.{PrintWriter, StringWriter}
import java.nio.file.Path

import scala.concurrent.duration._

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.{
  StreamingQuery, StreamingQueryException, StreamingQueryListener, StreamingQueryProgress, Trigger
}
import org.apache.spark.sql.{DataFrame, Dataset, Row, SaveMode, SparkSession}

import org.sparkkinesis.kit.Arguments

/**
 * The main class of the process that tests kill: a streaming query that writes every batch to [[BatchFiles]]. Prints
 * `started`, then `batch ID ROWS` for each batch once its file exists, and `failed CONDITION` if the query fails. Stops
 * the query when it reads the line `stop` from its standard input, and ends at once with its standard input.
 *
 * `--streams A,B` reads the union of several streams, with a source for each. If the options of the source name a
 * logical stream instead, `streams VERSION ACTIVE DRAINING PARKED` is printed for each batch. `--copy STREAM` also
 * writes each batch to a stream, ordered by key. `--trigger` is an interval in milliseconds, `availableNow`, or
 * `realTime:LENGTH`, which writes each row to [[HandedRows]] instead; `rows:MILLISECONDS` does that with an interval.
 * For both, `buffered BYTES` is printed after each batch, and with `--slow FILE`, a task takes one row per second while
 * the file exists.
 * `--source.NAME VALUE` sets an option of the sources, `--sink.NAME VALUE` an option of the sink, `--conf.NAME VALUE` a
 * setting of the session.
 */
object QueryMain {
  private val ConditionName = """\[(KINESIS_[A-Z_]+)\]""".r

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val control = new Control
    val spark = QuerySession.open(arguments("master"), arguments.under("conf."))
    def writer(rows: DataFrame) = rows.writeStream.option("checkpointLocation", arguments("checkpoint"))
    val all = rows(spark, arguments)
    if (isLogical(arguments)) spark.streams.addListener(new PrintedStreams)
    def byRow(trigger: Trigger) = {
      spark.streams.addListener(new PrintedBatches)
      // From Spark 4.3 on, a real-time batch may be repeated otherwise although its end was reported.
      writer(all.select(SeenRecord.Columns.map(col): _*)).option("asyncProgressTrackingEnabled", "false")
        .outputMode("update").trigger(trigger)
        .foreach(new HandedRows(Path.of(arguments("output"))).writer(arguments.text("slow", ""))).start()
    }
    val query = arguments.text("trigger", "0") match {
      case s"realTime:$length" => byRow(Trigger.RealTime(length))
      case s"rows:$millis" => byRow(trigger(millis))
      case other => writer(all).trigger(trigger(other)).foreachBatch(write(arguments) _).start()
    }
    println("started")
    control.follow(query)
    try {
      query.awaitTermination()
      spark.stop()
    } catch {
      case failure: StreamingQueryException =>
        println(s"failed ${condition(failure)}")
        failure.printStackTrace()
        Runtime.getRuntime.exit(QueryProcess.Failed)
    }
  }

  private def write(arguments: Arguments)(rows: Dataset[Row], id: Long): Unit = {
    copy(rows, arguments)
    val seen = (0 until arguments.number("actions", 1)).map(look(rows, _))
    new BatchFiles(Path.of(arguments("output"))).write(id, seen)
    println(s"batch $id ${seen.head.size}")
  }

  private def rows(spark: SparkSession, arguments: Arguments): DataFrame = {
    def reader = spark.readStream.format("kinesis").options(arguments.under("source."))
    if (isLogical(arguments)) reader.load()
    else arguments("streams").split(',').map(reader.option("streamName", _).load()).reduce(_ union _)
  }

  private def isLogical(arguments: Arguments): Boolean = arguments.under("source.").contains("streamId")

  private def trigger(text: String): Trigger =
    if (text == "availableNow") Trigger.AvailableNow() else Trigger.ProcessingTime(text.toInt.millis)

  /** Runs one action as a separate job. Later actions also have a different plan. */
  private def look(rows: Dataset[Row], action: Int): Seq[SeenRecord] = {
    val wanted = rows.select(SeenRecord.Columns.map(col): _*)
    val planned = if (action == 0) wanted else wanted.where("length(partitionKey) > 0")
    planned.collect().toSeq.map(SeenRecord.of)
  }

  private def copy(rows: Dataset[Row], arguments: Arguments): Unit = {
    val to = arguments.text("copy", "")
    if (to.nonEmpty)
      rows.select("data", "partitionKey").write
        .format("kinesis")
        .options(arguments.under("sink."))
        .option("streamName", to)
        .option("ordering", "key")
        .mode(SaveMode.Append)
        .save()
  }

  /** Returns the condition of an error. The errors of executors are available as text only. */
  private def condition(failure: Throwable): String = {
    val text = new StringWriter
    failure.printStackTrace(new PrintWriter(text))
    ConditionName.findFirstMatchIn(text.toString).fold("UNKNOWN")(_.group(1))
  }

  /** Prints the batches of a query that hands its rows over one by one, when they are committed. */
  final private class PrintedBatches extends Printed {
    override protected def line(progress: StreamingQueryProgress): String = {
      val rows = progress.sources.map(source =>
        Option(source.metrics.get("realTimeRows")).fold(source.numInputRows)(_.toLong)
      ).sum
      val buffered = progress.sources.map(_.metrics.getOrDefault("bufferedBytes", "0").toLong).sum
      s"batch ${progress.batchId} $rows\nbuffered $buffered"
    }
  }

  /** Prints which version of a logical stream the query reads, and how many physical streams it has in each phase. */
  final private class PrintedStreams extends Printed {
    override protected def line(progress: StreamingQueryProgress): String = {
      val metrics = progress.sources.head.metrics
      Seq("metadataVersion", "streamsActive", "streamsDraining", "streamsParked")
        .map(metrics.getOrDefault(_, "0")).mkString("streams ", " ", "")
    }
  }

  /** Prints a line for each progress of the query. */
  abstract private class Printed extends StreamingQueryListener {
    import StreamingQueryListener._
    protected def line(progress: StreamingQueryProgress): String
    override def onQueryStarted(event: QueryStartedEvent): Unit = ()
    override def onQueryProgress(event: QueryProgressEvent): Unit = println(line(event.progress))
    override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
  }

  /** Executes the commands of the parent process. */
  final private class Control {
    private var running: Option[StreamingQuery] = None
    private var isStopped = false
    private val thread = new Thread(
      () => {
        Iterator.continually(scala.io.StdIn.readLine()).takeWhile(_ != null).foreach(line => if (line == "stop") stop())
        Runtime.getRuntime.halt(3)
      },
      "control"
    )
    thread.setDaemon(true)
    thread.start()

    def follow(query: StreamingQuery): Unit = {
      val stopsNow = synchronized {
        running = Some(query)
        isStopped
      }
      if (stopsNow) query.stop()
    }

    private def stop(): Unit = {
      val query = synchronized {
        isStopped = true
        running
      }
      query.foreach(_.stop())
    }
  }
}

/** Sessions of the chaos tests. */
object QuerySession {

  /**
   * Lets a query restart after a kill during its first offset. The kill leaves a temporary file, and Spark 4.2 then
   * rejects the checkpoint with STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY unless this check is off.
   */
  val RestartsFromAnything: Map[String, String] =
    Map("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart" -> "false")

  def open(master: String, settings: Map[String, String]): SparkSession = {
    val standard = Map(
      "spark.ui.enabled" -> "false",
      "spark.driver.bindAddress" -> "127.0.0.1",
      "spark.driver.host" -> "127.0.0.1",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.streaming.pollingDelay" -> "10ms"
    )
    (standard ++ RestartsFromAnything ++ settings)
      .foldLeft(SparkSession.builder().master(master).appName("kinesis-chaos")) { case (builder, (key, value)) =>
        builder.config(key, value)
      }
      .getOrCreate()
  }
}
