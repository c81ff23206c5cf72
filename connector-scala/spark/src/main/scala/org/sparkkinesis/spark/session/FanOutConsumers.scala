package org.sparkkinesis.spark.session

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.config.value.{ConsumerMode, Registration}
import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.error.{ConsumerErrors, KinesisConnectorException, OptionErrors}
import org.sparkkinesis.event.{ConsumersNotRecorded, EventSink}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{KinesisService, ServiceException, StreamDescription}
import org.sparkkinesis.spark.connection.{Environment, ServiceFailure}
import org.sparkkinesis.spark.session.checkpoint.RegisteredConsumers
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Manages the enhanced fan-out consumers of one query, on the driver. Consumers are registered or looked up before
 * use. A consumer that this query registered is deregistered at the end, including one from an earlier run that was
 * killed. Thread-safe.
 *
 * @param current
 *   returns the settings with every stream that is opened
 * @param service
 *   returns the client for a stream's ARN
 * @param record
 *   returns the checkpoint's record of the consumers of a stream's ARN
 */
final class FanOutConsumers(
    options: Options,
    current: () => ReadSettings,
    service: String => KinesisService,
    record: String => RegisteredConsumers,
    scheduler: => Scheduler,
    environment: Environment,
    events: EventSink
) extends AutoCloseable {
  import FanOutConsumers._

  /**
   * The name under which the query registers its consumers: that of the options, or the query's id, which stays the
   * same when the query restarts from its checkpoint.
   */
  private def consumerName: String = options.get(ReadOptions.consumerNamePrefix).getOrElse("") +
    options.get(ReadOptions.consumerName).orElse(settings.query.queryId).getOrElse(throw nameIsMissing)

  @volatile private var registrars = Map.empty[String, StreamConsumerRegistrar]
  @volatile private var isClosed = false
  private def settings: ReadSettings = current()

  /**
   * Returns the ARN of each stream's consumer, by the stream's ARN. Blocks until every consumer is ACTIVE.
   *
   * @throws KinesisConnectorException
   *   KINESIS_CONSUMER_NOT_FOUND, KINESIS_CONSUMER_NOT_READY, KINESIS_CONSUMER_LIMIT, KINESIS_CONSUMER_IN_USE,
   *   KINESIS_ACCESS_DENIED, …
   */
  def ensure(streams: Iterable[StreamDescription]): Map[String, String] =
    ensure(streams, source(options, _, streams.size > 1))

  /** Like [[ensure]], for a stream that a metadata service names, possibly with the ARN of a consumer. */
  def ensure(stream: StreamDescription, consumerArn: Option[String]): String =
    ensure(Seq(stream), one => consumerArn.orElse(source(options, one, areSeveral = true)))(stream.arn)

  private def ensure(
      streams: Iterable[StreamDescription],
      source: StreamDescription => Option[String]
  ): Map[String, String] = synchronized {
    streams.find(stream => isNeverRegistered(options) && source(stream).isEmpty)
      .foreach(stream => throw arnIsMissing(stream.name))
    val asked = streams.map { stream =>
      val registrar = registrars.getOrElse(
        stream.arn,
        new StreamConsumerRegistrar(
          service(stream.arn),
          scheduler,
          settings.retries,
          settings.rules,
          random = () => environment.random(),
          events = events
        )
      )
      registrars += stream.arn -> registrar
      // `close` may run at the same time; it sees this registrar, or this thread sees that it was called.
      if (isClosed) throw new IllegalStateException("the query has stopped")
      stream -> source(stream).fold(register(registrar, stream, consumerName)) { given =>
        // The options may have had the name of a consumer in an earlier run.
        adoptNoted(registrar, stream, arn => arn == given, name => given.startsWith(s"${stream.arn}/consumer/$name:"))
        registrar.existing(stream.arn, given)
      }
    }
    asked.map { case (stream, answer) =>
      val consumer =
        try await(answer, stream)
        finally noteRegistered(stream.arn)
      if (!environment.consumersInUse.claim(consumer, stream.creationMillis, this)) throw isInUse(consumer, stream)
      stream.arn -> consumer
    }.toMap
  }

  /**
   * Registers the consumer or finds it. The checkpoint has a note of the registration before it begins, so that the
   * next run removes the consumer if this one is stopped or killed before the outcome is known.
   */
  private def register(
      registrar: StreamConsumerRegistrar,
      stream: StreamDescription,
      name: String
  ): CompletableFuture[String] = {
    val note = record(stream.arn)
    val isOwn = note.unfinished().fold(note.read().exists(_.isEmpty)) { case (_, begun) => begun == name }
    adoptNoted(registrar, stream, _ => false, _ == name)
    if (!isOwn && !await(registrar.isThere(stream.arn, name), stream))
      note.beginRegistration(stream.arn, name, registrar.registered)
    registrar.ensure(stream.arn, name).thenApply { arn =>
      if (isOwn) registrar.adopt(arn)
      arn
    }
  }

  /** Adopts the consumers that earlier runs registered or began to register, except those that this run looks up. */
  private def adoptNoted(
      registrar: StreamConsumerRegistrar,
      stream: StreamDescription,
      isUsed: String => Boolean,
      isUsedName: String => Boolean
  ): Unit = {
    val note = record(stream.arn)
    note.read().foreach(_.filterNot(isUsed).foreach(registrar.adopt))
    note.unfinished().map(_._2).filterNot(isUsedName).foreach(name => await(registrar.adopt(stream.arn, name), stream))
  }

  /**
   * Deregisters the query's own consumers unless the options disable it, also while a consumer is being registered.
   * Takes a bounded time and never fails. May be called from any thread, and again.
   */
  override def close(): Unit = {
    isClosed = true
    environment.consumersInUse.release(this)
    if (options(ReadOptions.requireConsumerDeregistration))
      registrars.toVector.map { case (stream, registrar) =>
        stream -> registrar.deregisterOwn(ReadOptions.ConsumerDeregistration)
      }.foreach { case (stream, done) =>
        environment.waiting.get(done)
        try noteRegistered(stream)
        catch { case NonFatal(failure) => events.emit(ConsumersNotRecorded(stream, failure)) }
      }
  }

  /** Records what is registered. While that is not certain, the note of the registration stays for the next run. */
  private def noteRegistered(stream: String): Unit = {
    val registrar = registrars(stream)
    if (!registrar.isUncertain) record(stream).write(registrar.registered)
  }

  private def await[A](answer: CompletableFuture[A], stream: StreamDescription): A =
    try environment.waiting.get(answer)
    catch {
      case failed: ExecutionException =>
        Futures.unwrap(failed) match {
          case error: ServiceException => throw ServiceFailure.explain(error, stream.name, settings.client(stream.arn))
          case other => throw other
        }
    }
}

object FanOutConsumers {

  /** Returns whether the options select enhanced fan-out. */
  def isWanted(options: Options): Boolean = options(ReadOptions.consumerMode) == ConsumerMode.FanOut

  /**
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_MISSING when nothing is registered and the options contain no ARN
   */
  def check(options: Options): Unit = if (isWanted(options)) {
    val hasArn = options.isSet(ReadOptions.consumerARN) || options.withPrefix(ReadOptions.consumerARNOf).nonEmpty
    if (isNeverRegistered(options) && !hasArn) throw OptionErrors.missing(
      required = "'consumerARN', since registration is 'none'",
      reason = "Nothing is registered, so an existing consumer must be named by its ARN.",
      fix = "Set 'consumerARN', or set registration to 'lazy'."
    )
  }

  /** Makes the error for a consumer that was deregistered elsewhere while the query used it. */
  def isGone(error: ServiceException, streamArn: String, settings: ReadSettings): KinesisConnectorException =
    ConsumerErrors.notFound(
      consumer = settings.fanOut.flatMap(_.get(streamArn)).getOrElse("of this query"),
      stream = streamArn
    ).causedBy(error)

  private def isInUse(consumer: String, stream: StreamDescription) =
    ConsumerErrors.inUse(consumer = consumer, stream = stream.name)

  private def isNeverRegistered(options: Options): Boolean = options(ReadOptions.registration) == Registration.Never

  private def arnIsMissing(stream: String): KinesisConnectorException = OptionErrors.missing(
    required = s"'consumerARN.$stream', since registration is 'none'",
    reason = s"Nothing is registered, and no option gives an existing consumer of stream '$stream'.",
    fix = s"Set 'consumerARN.$stream', or set registration to 'lazy'."
  )

  private def nameIsMissing: KinesisConnectorException = OptionErrors.missing(
    required = "'consumerName' or 'consumerARN', since consumerMode is 'efo'",
    reason =
      "Enhanced fan-out reads as a consumer that is registered with the stream, and Spark tells no id of the query.",
    fix = "Set 'consumerName' to a name for this query; no other query may use it at the same time."
  )

  /**
   * Returns the consumer ARN that the options give for a stream. A general ARN applies only to the stream it belongs
   * to.
   */
  private def source(options: Options, stream: StreamDescription, areSeveral: Boolean): Option[String] =
    options.ofStream(ReadOptions.consumerARNOf, StreamRef.parse(stream.arn).getOrElse(StreamRef.ByName(stream.name)))
      .orElse(options.get(ReadOptions.consumerARN).filter(arn => !areSeveral || arn.startsWith(s"${stream.arn}/")))
}
