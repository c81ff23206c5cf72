package org.sparkkinesis.spark.metadata

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.config.value.OnForbidden
import org.sparkkinesis.config.{MetadataOptions, Options}
import org.sparkkinesis.error.MetadataErrors
import org.sparkkinesis.event.{EventSink, MetadataNotFetched, MetadataRecovered, StreamForbidden}
import org.sparkkinesis.metadata._
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.coordinator.cluster.BackgroundLoop

/**
 * Asks a metadata service again and again, on the driver and on a thread of its own. An answer that is not valid, older
 * than the last one, or missing changes nothing: the last valid document stays. The creator closes it, which closes the
 * service.
 *
 * @param known
 *   the last document of an earlier run
 * @param onAnswer
 *   called on the watcher's thread after each valid answer, with the permitted part of the document, also if it did not
 *   change. It may block. If it throws, the answer counts as a failure.
 */
final class MetadataWatcher(
    service: StreamMetadataService,
    ids: StreamIds,
    options: Options,
    environment: Environment,
    events: EventSink,
    known: Option[MetadataDocument]
)(onAnswer: MetadataDocument => Unit)
    extends AutoCloseable {
  import MetadataWatcher._
  import environment.clock

  private val allowed = AllowList.of(options)
  private val refresh = options(MetadataOptions.metadataRefreshInterval)
  private val first = new CompletableFuture[Unit]
  private val beganNanos = clock.nanoTime

  private var tag: Option[Tag] = None
  private var forbidden = Set.empty[AllowList.Violation]
  // The options may allow less than those of the earlier run.
  @volatile private var document = known.map(allowed.permit(None, _)._1)
  @volatile private var state = MetadataStatus(None, 0, 0, 0)
  @volatile private var answeredNanos = Option.empty[Long]
  @volatile private var askedNanos = beganNanos
  @volatile private var lastFailure = Option.empty[Throwable]
  @volatile private var fatal = Option.empty[Throwable]
  private var inARow = 0

  private val loop = new BackgroundLoop(
    environment.scheduler("kinesis-metadata", 1),
    (refresh * 2).toMillis,
    { failure =>
      fatal = Some(failure)
      first.completeExceptionally(failure)
      ()
    }
  )(_ => round())

  /** Starts to ask the service, and returns at once. */
  def start(): Unit = loop.wake()

  /** Asks the service now, unless it was asked a few seconds ago. */
  def hurry(): Unit =
    if (clock.nanoTime - askedNanos >= HurriedPause.min(refresh).toNanos) loop.wake()

  /** The last valid document, of this run or of an earlier one. */
  def current: Option[MetadataDocument] = document

  /** Counts of this run, and the age of the last valid answer. */
  def status: MetadataStatus = state.copy(
    version = document.map(_.version),
    ageMillis = answeredNanos.map(then => TimeUnit.NANOSECONDS.toMillis(clock.nanoTime - then))
  )

  /**
   * Starts to ask the service, and waits for its first valid answer.
   *
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_UNAVAILABLE with the reason of the last failure, after `metadataStartTimeout`
   */
  def awaitFirst(): MetadataDocument = {
    start()
    environment.waiting.until(first, options(MetadataOptions.metadataStartTimeout))
    check()
    if (!first.isDone) throw unavailable(
      s"There was no valid answer within ${options(MetadataOptions.metadataStartTimeout)}. " +
        lastFailure.fold("")(failure => s"The last failure: ${failure.getMessage}")
    )
    document.getOrElse(throw unavailable("The service gave no document."))
  }

  /**
   * Starts to ask the service, and waits for its first valid answer of this run, at most for `metadataStartTimeout`.
   */
  def awaitAnswer(): Unit = {
    start()
    environment.waiting.until(first, options(MetadataOptions.metadataStartTimeout))
    check()
  }

  /**
   * Checks whether the query may go on with the last valid document.
   *
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_UNAVAILABLE if the document is older than `metadataMaxAge`, KINESIS_METADATA_FORBIDDEN with
   *   `onForbidden=fail`
   */
  def check(): Unit = {
    fatal.foreach(throw _)
    for (limit <- options.get(MetadataOptions.metadataMaxAge); answered <- answeredNanos.orElse(Some(beganNanos)))
      if (clock.nanoTime - answered > limit.toNanos) throw unavailable(
        s"The last valid answer is older than 'metadataMaxAge', $limit. " +
          lastFailure.fold("")(failure => s"The last failure: ${failure.getMessage}")
      )
  }

  override def close(): Unit = {
    loop.close()
    service.close()
  }

  private def round(): Unit = {
    try ask()
    catch {
      case interrupted: InterruptedException => throw interrupted
      case NonFatal(failure) =>
        Futures.interruptOf(failure).foreach(throw _)
        fail(failure)
    }
    val jitter = 0.9 + 0.2 * environment.random()
    val pause = if (first.isDone) (refresh * jitter).toMillis else math.min(refresh.toMillis, FirstPause.toMillis)
    loop.wakeIn(pause)
  }

  private def ask(): Unit = {
    askedNanos = clock.nanoTime
    state = state.copy(fetches = state.fetches + 1)
    service.fetch(ids, tag) match {
      case MetadataAnswer.Unchanged => document.foreach(onAnswer)
      case MetadataAnswer.Found(found, newTag) =>
        accept(found)
        tag = newTag
    }
    answeredNanos = Some(clock.nanoTime)
    lastFailure = None
    if (inARow > 0) events.emit(MetadataRecovered(inARow))
    inARow = 0
    first.complete(())
    ()
  }

  private def accept(found: MetadataDocument): Unit = {
    val missing = ids.missing(found)
    if (missing.nonEmpty) throw MetadataErrors.invalid(
      service.address,
      s"It lacks the logical streams ${missing.mkString(", ")}."
    )
    document.filter(_.version > found.version && !options(MetadataOptions.metadataAllowRollback)).foreach { newer =>
      throw MetadataErrors.invalid(
        service.address,
        s"Its version ${found.version} is lower than ${newer.version}, the version that is in use. Set " +
          s"'${MetadataOptions.metadataAllowRollback.key}' to accept it."
      )
    }
    val (permitted, violations) = allowed.permit(document, found)
    (violations.toSet -- forbidden).foreach { one =>
      events.emit(StreamForbidden(one.arn, one.reason, one.option))
      if (options(MetadataOptions.onForbidden) == OnForbidden.Fail) {
        val error = MetadataErrors.forbidden(stream = one.arn, reason = one.reason, option = one.option)
        fatal = Some(error)
        throw error
      }
    }
    state = state.copy(refused = violations.size.toLong)
    forbidden = violations.toSet
    if (permitted.physical.isEmpty) violations.headOption.foreach(one =>
      throw MetadataErrors.forbidden(stream = one.arn, reason = one.reason, option = one.option)
    )
    onAnswer(permitted)
    document = Some(permitted)
  }

  private def fail(failure: Throwable): Unit = {
    inARow += 1
    state = state.copy(failures = state.failures + 1)
    lastFailure = Some(failure)
    events.emit(MetadataNotFetched(String.valueOf(failure.getMessage), inARow, status.ageMillis))
  }

  private def unavailable(reason: String) =
    MetadataErrors.unavailable(ids = ids.toString, service = service.address, reason = reason.trim)
}

object MetadataWatcher {

  /** Pause between two questions while a query waits for another document. */
  private val HurriedPause = 5.seconds

  /** Pause before the service is asked again as long as it has given no valid answer. */
  private val FirstPause: FiniteDuration = 1.second
}

/**
 * @param version
 *   version of the last valid document
 * @param refused
 *   number of streams of the last document that are not allowed
 * @param ageMillis
 *   age of the last valid answer in milliseconds; empty if this run had none
 */
final case class MetadataStatus(
    version: Option[Long],
    fetches: Long,
    failures: Long,
    refused: Long,
    ageMillis: Option[Long] = None
)
