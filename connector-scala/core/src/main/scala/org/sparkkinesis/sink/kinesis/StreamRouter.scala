package org.sparkkinesis.sink.kinesis

import scala.collection.immutable.VectorMap
import scala.collection.mutable

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.OtherWriterFailedException
import org.sparkkinesis.sink.kinesis.put.{RecordRules, SinkRecord}

/**
 * Writes each record to its stream and opens a stream at its first record. A stream has one sink, whether rows refer to
 * it by name or ARN, so that its records keep their order. Used by one thread of one task.
 *
 * @param check
 *   describes a stream; the writer of the record receives its exceptions
 * @param open
 *   opens a stream; the writer of the record receives its exceptions
 * @param explain
 *   converts the failure of a stream to the exception to throw
 */
final class StreamRouter(
    check: StreamRef => CheckedStream,
    open: CheckedStream => StreamRouter.Target,
    explain: (CheckedStream, Throwable) => Throwable
) extends AutoCloseable {
  @volatile private var targets = VectorMap.empty[StreamPlace, StreamRouter.Target]
  private val byName = mutable.HashMap.empty[StreamRef, StreamRouter.Target]
  private val last = new LastTarget[StreamRef](opened)

  /** Returns why the stream does not accept the record, see [[RecordRules.violation]]. */
  def violation(stream: StreamRef, record: SinkRecord): Option[String] = last.of(stream).violation(record)

  def write(stream: StreamRef, record: SinkRecord): Unit = {
    val to = last.of(stream)
    explaining(to.stream)(to.sink.write(record))
  }

  /** Returns when all records of all streams are stored. */
  def flush(): Unit = targets.valuesIterator.foreach(target => explaining(target.stream)(target.sink.flush()))

  /** May be called from any thread. */
  def metrics: KinesisSinkMetrics = targets.valuesIterator.map(_.sink.metrics).foldLeft(KinesisSinkMetrics())(_ + _)

  /** The metrics of each stream, by its name or ARN. May be called from any thread. */
  def metricsByStream: Map[String, KinesisSinkMetrics] =
    targets.valuesIterator.toVector.groupMapReduce(_.stream.stream.toString)(_.sink.metrics)(_ + _)

  /** Closes all streams. Cancels the requests of all of them before it waits for their end. */
  override def close(): Unit = {
    targets.valuesIterator.foreach(_.sink.abandon())
    targets.valuesIterator.foreach(_.close())
  }

  private def opened(stream: StreamRef): StreamRouter.Target = byName.getOrElseUpdate(
    stream, {
      val found = check(stream)
      targets.getOrElse(
        found.identity.place, {
          val opened = open(found)
          targets = targets.updated(found.identity.place, opened)
          opened
        }
      )
    }
  )

  private def explaining(stream: CheckedStream)(body: => Unit): Unit =
    try body
    catch {
      case interrupted: InterruptedException => throw interrupted
      case other: OtherWriterFailedException =>
        val failed = targets.valuesIterator.find(_.sink.failed.contains(other.failure)).fold(stream)(_.stream)
        throw explain(failed, other.failure)
      case failure: Exception => throw explain(stream, failure)
    }
}

object StreamRouter {

  /**
   * An open stream: its sink, its rules, and the resources to release after it. One thread uses it.
   *
   * @param maxRecordBytes
   *   asks for the present limit of the stream, which may have been raised since the stream was described
   */
  final class Target(
      val stream: CheckedStream,
      val sink: KinesisStreamSink,
      release: () => Unit,
      maxRecordBytes: () => Int
  ) extends AutoCloseable {
    private var rules = RecordRules(stream.maxRecordBytes)

    /** Returns why the stream does not accept the record, see [[RecordRules.violation]]. */
    def violation(record: SinkRecord): Option[String] = {
      if (record.size > rules.maxRecordBytes) rules = RecordRules(maxRecordBytes())
      rules.violation(record)
    }

    /** Closes the stream and returns the records that it has not acknowledged, in the order of `write`. */
    def takeBack(): IndexedSeq[SinkRecord] =
      try sink.takeBack()
      finally release()

    override def close(): Unit =
      try sink.close()
      finally release()
  }
}
