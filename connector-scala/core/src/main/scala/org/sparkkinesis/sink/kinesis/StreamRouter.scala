package org.sparkkinesis.sink.kinesis

import scala.collection.immutable.VectorMap

import org.sparkkinesis.model.StreamRef

/**
 * Sends each record to its stream; opens a stream at its first record. One task's own, used by one thread.
 *
 * @param open
 *   opens a stream; what it throws reaches the writer of the record
 * @param explain
 *   makes of a stream's failure what is thrown
 */
final class StreamRouter(open: StreamRef => StreamRouter.Target, explain: (StreamRef, Throwable) => Throwable)
    extends AutoCloseable {
  @volatile private var targets = VectorMap.empty[StreamRef, StreamRouter.Target]

  /** What the stream's records must be. */
  def rules(stream: StreamRef): RecordRules = target(stream).rules

  def write(stream: StreamRef, record: SinkRecord): Unit = explaining(stream)(target(stream).sink.write(record))

  /** Returns when every record of every stream is stored. */
  def flush(): Unit = targets.foreach { case (stream, target) => explaining(stream)(target.sink.flush()) }

  /** From any thread. */
  def metrics: KinesisSinkMetrics = targets.valuesIterator.map(_.sink.metrics).foldLeft(KinesisSinkMetrics())(_ + _)

  override def close(): Unit = targets.valuesIterator.foreach(_.close())

  private def target(stream: StreamRef): StreamRouter.Target = targets.getOrElse(
    stream, {
      val opened = open(stream)
      targets = targets.updated(stream, opened)
      opened
    }
  )

  private def explaining(stream: StreamRef)(body: => Unit): Unit =
    try body
    catch {
      case interrupted: InterruptedException => throw interrupted
      case failure: Exception => throw explain(stream, failure)
    }
}

object StreamRouter {

  /** An open stream: its sink, what it takes, and what must be given back after it. */
  final class Target(val sink: KinesisStreamSink, val rules: RecordRules, release: () => Unit) extends AutoCloseable {
    override def close(): Unit =
      try sink.close()
      finally release()
  }
}
