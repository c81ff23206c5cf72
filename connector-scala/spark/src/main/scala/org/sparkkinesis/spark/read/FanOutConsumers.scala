package org.sparkkinesis.spark.read

import java.util.Locale
import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.retry.Retrier
import org.sparkkinesis.service.{KinesisService, ServiceException, StreamDescription}
import org.sparkkinesis.spark.connection.ServiceFailure

/**
 * The enhanced fan-out consumers of one query, on the driver: registered or found before they are used, and deregistered at the
 * end if this query registered them.
 *
 * @param service
 *   by ARN
 */
final class FanOutConsumers(
    options: Options,
    settings: ReadSettings,
    service: String => KinesisService,
    scheduler: Scheduler
) extends AutoCloseable {
  import FanOutConsumers._

  private var registrars = Map.empty[String, StreamConsumerRegistrar]

  /**
   * Stream's ARN → consumer's ARN, every one ACTIVE. Waits for that.
   *
   * @throws KinesisConnectorException
   *   KINESIS_CONSUMER_NOT_FOUND, KINESIS_CONSUMER_NOT_READY, KINESIS_CONSUMER_LIMIT, KINESIS_ACCESS_DENIED, …
   */
  def ensure(streams: Iterable[StreamDescription]): Map[String, String] = {
    val asked = streams.map { stream =>
      val registrar =
        registrars.getOrElse(stream.arn, new StreamConsumerRegistrar(service(stream.arn), scheduler, settings.retries))
      registrars += stream.arn -> registrar
      stream -> source(options, stream).fold(
        registrar.ensure(stream.arn, options.get(ReadOptions.consumerName).getOrElse(throw nameIsMissing))
      )(registrar.existing(stream.arn, _))
    }
    asked.map { case (stream, answer) => stream.arn -> await(answer, stream.name) }.toMap
  }

  /** Deregisters what was registered here, unless the options say otherwise; takes a bounded time and never fails. */
  override def close(): Unit = if (options(ReadOptions.requireConsumerDeregistration)) {
    val left = registrars.values.toVector.map(_.deregisterOwn(DeregistrationLimit)).flatMap(_.join())
    if (left.nonEmpty) log.warn(s"Still registered, and billed: ${left.mkString(", ")}")
  }

  private def await(answer: CompletableFuture[String], stream: String): String =
    try answer.get()
    catch {
      case failed: ExecutionException =>
        Retrier.unwrap(failed.getCause) match {
          case error: ServiceException => throw ServiceFailure.explain(error, stream, settings.client)
          case other => throw other
        }
    }
}

object FanOutConsumers {
  private val log = LoggerFactory.getLogger(classOf[FanOutConsumers])
  private val DeregistrationLimit = 10.seconds

  def isWanted(options: Options): Boolean = options(ReadOptions.consumerMode) == "efo"

  /**
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_MISSING when the options say neither a name nor ARNs
   */
  def check(options: Options): Unit = if (isWanted(options)) {
    val hasArn = options.isSet(ReadOptions.consumerARN) || options.withPrefix(ReadOptions.consumerARNOf).nonEmpty
    if (options(ReadOptions.registration) == "none" && !hasArn)
      throw KinesisConnectorException(
        "KINESIS_OPTION_MISSING",
        "required" -> "'consumerARN', since registration is 'none'",
        "reason" -> "Nothing is registered, so an existing consumer must be named by its ARN.",
        "fix" -> "Set 'consumerARN', or set registration to 'lazy' and give a 'consumerName'."
      )
    if (!hasArn && !options.isSet(ReadOptions.consumerName)) throw nameIsMissing
  }

  private def nameIsMissing: KinesisConnectorException = KinesisConnectorException(
    "KINESIS_OPTION_MISSING",
    "required" -> "'consumerName' or 'consumerARN', since consumerMode is 'efo'",
    "reason" -> "Enhanced fan-out reads as a consumer that is registered with the stream.",
    "fix" -> "Set 'consumerName' to a name for this query; no other query may use it at the same time."
  )

  /** The ARN that the user gives for a stream's consumer. */
  private def source(options: Options, stream: StreamDescription): Option[String] =
    options.withPrefix(
      ReadOptions.consumerARNOf
    ).get(stream.name.toLowerCase(Locale.ROOT)).orElse(options.get(ReadOptions.consumerARN))
}
