package org.sparkkinesis.spark.connection

import java.net.URI
import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.sink.kinesis.{CheckedStream, StreamIdentity}

/**
 * The streams that one streaming query reads. If it wrote into one of them, it would read its own output, without an
 * end.
 *
 * @param streams
 *   pairs of a stream's ARN and the service's address
 */
final case class ReadStreams(streams: Set[(String, String)]) {

  /** @throws KinesisConnectorException KINESIS_SINK_LOOP, when the query reads the stream */
  def refuse(stream: CheckedStream): Unit =
    if (streams(ReadStreams.placeOf(stream.identity)))
      throw SinkErrors.loop(stream = stream.stream.name, arn = stream.identity.arn)
}

object ReadStreams {
  val none: ReadStreams = ReadStreams(Set.empty)

  /** Spark sets this property on the thread of a streaming query and on the threads that run its batches. */
  private val QueryIdProperty = "sql.streaming.queryId"

  private val byQuery = new ConcurrentHashMap[String, Set[Registration]]

  final private class Registration(val queryId: String, val streams: Set[(String, String)]) extends AutoCloseable {
    override def close(): Unit = {
      byQuery.computeIfPresent(
        queryId,
        (_, all) => {
          val left = all - this
          if (left.isEmpty) null else left
        }
      )
      ()
    }
  }

  def reading(streams: Iterable[StreamIdentity]): ReadStreams = ReadStreams(streams.map(placeOf).toSet)

  /**
   * Registers the streams that a source reads, for the query of the current thread. Closing the result removes them.
   */
  def read(streams: Iterable[StreamIdentity]): AutoCloseable = currentQuery.fold[AutoCloseable](() => ()) { id =>
    val registration = new Registration(id, reading(streams).streams)
    byQuery.merge(id, Set(registration), (all, one) => all ++ one)
    registration
  }

  /** Returns the streams that this query and the query of the current thread read. They differ in `foreachBatch`. */
  def of(queryId: String): ReadStreams = ReadStreams(
    (currentQuery.toSet + queryId).flatMap(id => Option(byQuery.get(id))).flatten.flatMap(_.streams)
  )

  private def currentQuery: Option[String] =
    SparkSession.getActiveSession.flatMap(session => Option(session.sparkContext.getLocalProperty(QueryIdProperty)))

  /**
   * All addresses of AWS lead to the same stream for an ARN. At another address, the same ARN may be another stream.
   */
  private def placeOf(stream: StreamIdentity): (String, String) = {
    val host = Try(URI.create(stream.endpoint).getHost).toOption.flatMap(Option(_)).getOrElse("")
    val isAws = stream.endpoint.isEmpty || host.contains(".amazonaws.com")
    (stream.arn, if (isAws) "" else stream.endpoint)
  }
}
