package org.sparkkinesis.sink.route

import java.util.ArrayDeque

import scala.collection.immutable.VectorMap
import scala.collection.mutable
import scala.concurrent.duration.Duration

import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.sink.OtherWriterFailedException
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{KinesisSinkMetrics, LastTarget, StreamRouter}

/**
 * Writes the records of logical streams to their physical streams. A physical stream is opened at its first record. If
 * it fails or accepts nothing, the records that it has not acknowledged are written to the other streams of its logical
 * stream, before any later record. Some of them may then be stored twice. Used by one thread of one task, except
 * `metrics` and `rerouted`.
 *
 * @param selectors
 *   creates the selector of a logical stream
 * @param patience
 *   time after which a failure of all streams of a logical stream fails the task
 */
final class RoutedSink(
    routes: Routes,
    selectors: () => StreamSelector,
    health: RouteHealth,
    patience: Duration,
    clock: Clock,
    access: RoutedSink.Access
) extends AutoCloseable {

  final private class Logical {
    val selector: StreamSelector = selectors()
    var revision = -1L
    var usable = Vector.empty[PhysicalStream]
  }

  @volatile private var targets = VectorMap.empty[String, (PhysicalStream, StreamRouter.Target)]

  /** The metrics of closed streams by their ARNs. */
  @volatile private var ended = Map.empty[String, KinesisSinkMetrics]

  /** The number of records that were taken back from each stream, by its ARN. */
  @volatile private var takenBack = Map.empty[String, Long]
  private val last = new LastTarget[PhysicalStream](stream => targets.get(stream.arn).fold(open(stream))(_._2))
  private val logical = mutable.HashMap.empty[String, Logical]
  private val idOf = routes.byId.iterator.flatMap { case (id, streams) => streams.map(_.arn -> id) }.toMap

  /** Records that wait for a stream; the head is the next one. */
  private val queue = new ArrayDeque[(String, SinkRecord)]
  private var troubleSince = Option.empty[Long]
  private var lastFailure = Option.empty[Throwable]

  /** Whether the metadata has the logical stream. */
  def knows(id: String): Boolean = routes.byId.contains(id)

  def write(id: String, record: SinkRecord): Unit = if (!queue.isEmpty || !tryWrite(id, record)) {
    // Records that were taken back are ahead of this one.
    queue.addLast(id -> record)
    drain()
  }

  /** Returns when all records are stored. */
  def flush(): Unit = {
    while (!targets.valuesIterator.toVector.forall { case (stream, _) => attempt(stream)(_.sink.flush()) }) drain()
    troubleSince = None
  }

  /** May be called from any thread. */
  def metrics: KinesisSinkMetrics =
    targets.valuesIterator.map(_._2.sink.metrics).foldLeft(ended.valuesIterator.foldLeft(KinesisSinkMetrics())(_ + _))(
      _ + _
    )

  /** The metrics of each stream by its ARN. May be called from any thread. */
  def metricsByStream: Map[String, KinesisSinkMetrics] =
    (ended.iterator ++ targets.iterator.map { case (arn, (_, target)) => arn -> target.sink.metrics })
      .toVector.groupMapReduce(_._1)(_._2)(_ + _)

  /** Number of records that were taken back from a stream and written to another one. From any thread. */
  def rerouted: Long = reroutedByStream.valuesIterator.sum

  /** The same for each stream that the records were taken back from, by its ARN. From any thread. */
  def reroutedByStream: Map[String, Long] = takenBack

  /** Closes all streams. Cancels the requests of all of them before it waits for their end. */
  override def close(): Unit = {
    targets.valuesIterator.foreach(_._2.sink.abandon())
    targets.valuesIterator.foreach(_._2.close())
  }

  private def drain(): Unit = while (!queue.isEmpty) {
    val (id, record) = queue.peekFirst()
    // After a failure, records that were taken back are ahead of this one.
    if (tryWrite(id, record)) queue.removeFirst()
  }

  private def tryWrite(id: String, record: SinkRecord): Boolean = attempt(choose(id, record)) { target =>
    target.violation(record) match {
      case None => target.sink.write(record)
      case Some(reason) => access.invalid(target.stream.stream.name, reason, record)
    }
  }

  private def choose(id: String, record: SinkRecord): PhysicalStream = {
    val state = logical.getOrElseUpdate(id, new Logical)
    val revision = health.revision
    if (state.revision != revision) {
      val now = clock.nanoTime
      val usable = routes.of(id).filterNot(health.isDown(_, now))
      if (usable != state.usable) state.usable = usable
      state.revision = revision
    }
    state.selector.choose(record, if (state.usable.nonEmpty) state.usable else lastResort(id))
  }

  /** The streams to try although all of them have failed. */
  private def lastResort(id: String): Vector[PhysicalStream] = {
    val all = routes.of(id)
    if (all.isEmpty) throw SinkErrors.noActiveStream(id = id, version = routes.version)
    val hopeful = all.filterNot(health.isGone)
    val isOver = troubleSince.exists(since => patience.isFinite && clock.nanoTime - since >= patience.toNanos)
    lastFailure.filter(_ => isOver || hopeful.isEmpty).foreach(throw _)
    if (hopeful.isEmpty) all else hopeful
  }

  /** Returns whether `body` has succeeded. After a failure, the records of the stream are in the queue. */
  private def attempt(stream: PhysicalStream)(body: StreamRouter.Target => Unit): Boolean =
    try {
      body(last.of(stream))
      true
    } catch {
      case interrupted: InterruptedException => throw interrupted
      case failure: Exception =>
        recover(stream, failure)
        false
    }

  private def open(stream: PhysicalStream): StreamRouter.Target = {
    val opened = access.open(stream)
    targets = targets.updated(stream.arn, stream -> opened)
    opened
  }

  private def recover(stream: PhysicalStream, failure: Exception): Unit = {
    val (broken, cause) = failure match {
      case other: OtherWriterFailedException =>
        val found = targets.valuesIterator.collectFirst {
          case (failed, open) if open.sink.failed.contains(other.failure) => failed
        }
        (found.getOrElse(throw other), other.failure)
      case own => (stream, own)
    }
    val id = idOf(broken.arn)
    access.judge(cause) match {
      case Some(isPermanent) if routes.of(id).size > 1 =>
        if (troubleSince.isEmpty) troubleSince = Some(clock.nanoTime)
        lastFailure = Some(access.explain(broken, cause))
        val back = targets.get(broken.arn).fold(IndexedSeq.empty[SinkRecord]) { case (_, open) => retire(broken, open) }
        back.reverseIterator.foreach(record => queue.addFirst(id -> record))
        takenBack = takenBack.updatedWith(broken.arn)(was => Some(was.getOrElse(0L) + back.size))
        access.left(broken, isPermanent, cause, back.size)
      case _ => throw access.explain(broken, cause)
    }
  }

  private def retire(stream: PhysicalStream, open: StreamRouter.Target): IndexedSeq[SinkRecord] = {
    val back = open.takeBack()
    val metrics = open.sink.metrics.ended
    ended = ended.updatedWith(stream.arn)(was => Some(was.fold(metrics)(_ + metrics)))
    targets -= stream.arn
    last.forget()
    back
  }
}

object RoutedSink {

  /** The callbacks of a [[RoutedSink]] to its owner. */
  trait Access {

    /** Opens a stream. May block. Its exceptions are judged like those of writes. */
    def open(stream: PhysicalStream): StreamRouter.Target

    /**
     * Returns whether the failure of a stream is permanent, because the stream does not exist or access is denied;
     * `None` if other streams would fail as well.
     */
    def judge(failure: Throwable): Option[Boolean]

    /** Called when a stream was left and its records are to be written to others. Must mark it in the health. */
    def left(stream: PhysicalStream, isPermanent: Boolean, failure: Throwable, records: Int): Unit

    /** Returns the exception to throw for the failure of a stream. */
    def explain(stream: PhysicalStream, failure: Throwable): Throwable

    /** Handles a record that a stream does not accept because of its size or key. */
    def invalid(stream: String, reason: String, record: SinkRecord): Unit
  }
}
