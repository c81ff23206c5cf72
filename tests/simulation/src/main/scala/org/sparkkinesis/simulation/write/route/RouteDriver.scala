package org.sparkkinesis.simulation.write.route

import scala.util.Random

import org.sparkkinesis.config.{Options, WriteOptions}
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.metadata._
import org.sparkkinesis.simulation.common.{ProcessKilled, SimulatedProcess, SimulatedThreads, SimulatedTime}
import org.sparkkinesis.simulation.metadata.LogicalStream
import org.sparkkinesis.simulation.spark.CheckpointFolder
import org.sparkkinesis.simulation.write.task.{RoutePlanner, TaskRouting}
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.route.{Routes, StreamSelector, StreamSelectors}
import org.sparkkinesis.spark.session.checkpoint.CheckpointFiles
import org.sparkkinesis.spark.write.route.{RouteBook, RouteCache}

/**
 * The driver of a query that writes to a logical stream. It pins the routes of each micro-batch with the connector's
 * code. After the query has failed, or its driver was killed, another run finds the files in the checkpoint.
 *
 * @param options
 *   the options of the sink
 */
final class RouteDriver(
    options: Options,
    logical: LogicalStream,
    time: SimulatedTime,
    threads: SimulatedThreads,
    random: Random,
    verdict: RouteVerdict
) extends RoutePlanner {
  import RouteDriver._

  private val checkpoint = new CheckpointFolder
  private val ids = StreamIds.Named(Set(LogicalStream.Id))
  private var running = Option.empty[Run]

  private val selector: Int => StreamSelector =
    StreamSelectors.of(options(WriteOptions.router), KinesisSinkSettings.of(options).requests)
      .fold(why => throw new IllegalArgumentException(why), identity)

  override def plan(batch: Int): Option[TaskRouting] =
    try Some(TaskRouting(pin(batch.toLong), selector))
    catch { case _: ProcessKilled if isKilled => None }

  /** Returns the routes of a micro-batch. The driver may be killed before, within and after it. */
  private def pin(epoch: Long): Routes = {
    val run = running.getOrElse(begin())
    run.process.step()
    val document = run.book.pin(Some(epoch))
    verdict.pinned(epoch, document)
    run.process.step()
    Routes.of(document)
  }

  /** Ends this run of the query. */
  override def end(): Unit = {
    running.foreach(_.end())
    running = None
  }

  /** Kills the driver after this number of further steps. */
  def killAfter(steps: Int): Unit = running.foreach(_.process.killAfter(math.max(1, steps)))

  /** Whether the last run has been killed. */
  private def isKilled: Boolean = running.exists(!_.process.isAlive)

  private def begin(): Run = {
    val run = new Run
    running = Some(run)
    run
  }

  final private class Run {
    val process = new SimulatedProcess("driver", time)
    private val files = new CheckpointFiles {
      override def read(name: String): Option[String] = checkpoint.read(name)
      override def write(name: String, text: String): Unit = checkpoint.write(process, time.nowMillis)(name, text)
      override def delete(name: String): Unit = checkpoint.delete(process)(name)
      override def names(prefix: String): Set[String] = checkpoint.names(prefix)
      override def startedMillis: Option[Long] = None
    }
    private val environment = new RouteEnvironment(process, threads, random)
    private val history = new RouteCache(files, Cache).read(EventSink.Discard)
    verdict.started(history.newest.map(_.document.version), history.at(_).map(_.document))

    val book = new RouteBook(
      options,
      ids,
      () => watched(logical.service(environment.waiting)),
      Some(new RouteCache(files, Cache)),
      environment,
      EventSink.Discard
    )

    def end(): Unit = {
      book.close()
      process.kill()
    }
  }

  private def watched(service: StreamMetadataService): StreamMetadataService = new StreamMetadataService {
    override def address: String = service.address
    override def close(): Unit = service.close()
    override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer = {
      val answer = service.fetch(ids, known)
      answer match {
        case MetadataAnswer.Found(document, _) if ids.missing(document).isEmpty => verdict.answered(document)
        case _ => ()
      }
      answer
    }
  }
}

private object RouteDriver {
  val Cache = "routes"
}
