package org.sparkkinesis.spark.connection

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.sink.kinesis.{CheckedStream, StreamIdentity}

/**
 * The streams that one streaming query reads. The query must not write to one of them, because it would read its own
 * records endlessly.
 *
 * Two descriptions are of the same stream if the ARN is the same, and also the creation time or the service. Addresses
 * alone do not tell services apart: dual-stack, FIPS and private names lead to the same stream.
 */
final case class ReadStreams(streams: Set[StreamIdentity]) {

  /**
   * Checks that the query does not read the stream.
   *
   * @throws KinesisConnectorException
   *   KINESIS_SINK_LOOP if the query reads it
   */
  def refuse(stream: CheckedStream): Unit =
    if (streams.exists(ReadStreams.isSame(_, stream.identity)))
      throw SinkErrors.loop(stream = stream.stream.name, arn = stream.identity.arn)
}

object ReadStreams {
  val none: ReadStreams = ReadStreams(Set.empty)

  /** The local property that Spark sets on the thread of a streaming query and on the threads that run its batches. */
  private val QueryIdProperty = "sql.streaming.queryId"

  private val byQuery = new ConcurrentHashMap[String, Set[Registration]]

  final private class Registration(val queryId: String, identities: () => Iterable[StreamIdentity])
      extends AutoCloseable {
    def streams: Set[StreamIdentity] = identities().toSet

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

  def reading(streams: Iterable[StreamIdentity]): ReadStreams = ReadStreams(streams.toSet)

  /**
   * Records the streams that a source of this thread's query reads, until the returned value is closed. They may
   * change.
   */
  def read(streams: => Iterable[StreamIdentity]): AutoCloseable = currentQuery.fold[AutoCloseable](() => ()) { id =>
    val registration = new Registration(id, () => streams)
    byQuery.merge(id, Set(registration), (all, one) => all ++ one)
    registration
  }

  /**
   * Returns the streams that this query reads, or the query of the calling thread, for example within `foreachBatch`.
   */
  def of(queryId: String): ReadStreams = ReadStreams(
    (currentQuery.toSet + queryId).flatMap(id => Option(byQuery.get(id))).flatten.flatMap(_.streams)
  )

  /** Whether the thread runs the streaming query with this id. */
  def isOfThread(queryId: String): Boolean = currentQuery.contains(queryId)

  private def currentQuery: Option[String] =
    SparkSession.getActiveSession.flatMap(session => Option(session.sparkContext.getLocalProperty(QueryIdProperty)))

  private def isSame(one: StreamIdentity, other: StreamIdentity): Boolean =
    one.arn == other.arn &&
      (one.creationMillis == other.creationMillis ||
        AwsHosts.serviceAt(one.endpoint) == AwsHosts.serviceAt(other.endpoint))
}
