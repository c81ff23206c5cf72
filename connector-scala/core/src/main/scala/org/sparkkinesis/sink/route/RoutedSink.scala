package org.sparkkinesis.sink.route

import java.util.ArrayDeque
import java.util.concurrent.CompletableFuture

import scala.annotation.tailrec
import scala.collection.immutable.VectorMap
import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Futures, Scheduler}
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{KinesisSinkMetrics, LastTarget, StreamRouter}
import org.sparkkinesis.sink.{
  DestinationReplacedException, DestinationStalledException, OtherWriterFailedException, SinkMetrics
}

/**
 * Writes the records of logical streams to their physical streams. A physical stream is opened at its first record. If
 * it fails or accepts nothing, the records that it has not acknowledged are written to the other streams of its logical
 * stream, before any later record. Some of them may then be stored twice. If there are newer routes by then, the task
 * uses them from then on. Used by one thread of one task, except `metrics`, `streams` and `rerouted`.
 *
 * @param planned
 *   the routes of the write
 * @param news
 *   newer routes, for which the sink asks while a stream is in trouble
 * @param selectors
 *   creates the selector of a logical stream
 * @param patience
 *   time after which a failure of all streams of a logical stream fails the task, since one of them last accepted a
 *   record
 */
final class RoutedSink(
    planned: Routes,
    news: RouteNews,
    selectors: () => StreamSelector,
    health: RouteHealth,
    patience: Duration,
    scheduler: Scheduler,
    access: RoutedSink.Access
) extends AutoCloseable {
  import RoutedSink._

  final private class Logical {
    val selector: StreamSelector = selectors()
    var revision = -1L
    var usable = Vector.empty[PhysicalStream]
    var onTrial = Vector.empty[PhysicalStream]
    var troubleSince = Option.empty[Long]
    var lastFailure = Option.empty[Throwable]

    /** When a stream that is closed now has last accepted a record. */
    var acceptedBefore = Option.empty[Long]
  }

  @volatile private var routes = news.routes.getOrElse(planned)
  @volatile private var idOf = idsOf(planned) ++ idsOf(routes)
  @volatile private var targets = VectorMap.empty[String, (PhysicalStream, StreamRouter.Target)]

  /** The metrics of closed streams by their ARNs. */
  @volatile private var ended = Map.empty[String, KinesisSinkMetrics]

  /** How often each stream was left, by its ARN. */
  @volatile private var departures = Map.empty[String, Long]

  /** The number of records that were taken back from each stream, by its ARN. */
  @volatile private var takenBack = Map.empty[String, Long]
  @volatile private var opening = Option.empty[Opening]
  @volatile private var isClosed = false
  private var watching = Option.empty[Cancellable]
  private val last = new LastTarget[PhysicalStream](stream => targets.get(stream.arn).fold(open(stream))(_._2))
  private val logical = mutable.HashMap.empty[String, Logical]
  private val trials = mutable.ArrayBuffer.empty[Trial]

  /** Records that wait for a stream; the head is the next one. */
  private val queue = new ArrayDeque[(String, SinkRecord)]

  /** Whether the metadata has the logical stream. */
  def knows(id: String): Boolean = routes.byId.contains(id)

  def write(id: String, record: SinkRecord): Unit = {
    if (trials.nonEmpty) settleTrials()
    if (!queue.isEmpty || !tryWrite(id, record)) {
      // Records that were taken back are ahead of this one.
      queue.addLast(id -> record)
      drain()
    }
  }

  /** Returns when all records are stored. */
  def flush(): Unit = {
    drain()
    while (!targets.valuesIterator.toVector.forall { case (stream, _) => attempt(stream)(_.sink.flush()) }) drain()
    if (trials.nonEmpty) {
      access.pause(Futures.allDone(trials.map(_.answer)), TrialTimeout * 2)
      settleTrials()
    }
    if (!queue.isEmpty || trials.nonEmpty) flush()
  }

  /** May be called from any thread. */
  def metrics: KinesisSinkMetrics = metricsByStream.valuesIterator.foldLeft(KinesisSinkMetrics())(_ + _)

  /** The metrics of each stream by its ARN. May be called from any thread. */
  def metricsByStream: Map[String, KinesisSinkMetrics] =
    (ended.iterator ++ targets.iterator.map { case (arn, (_, target)) => arn -> target.sink.metrics })
      .toVector.groupMapReduce(_._1)(_._2)(_ + _)

  /** The counts of each physical stream by its ARN. From any thread. */
  def streams: Map[String, RouteCounts] = {
    val open = targets
    val byStream = metricsByStream
    (departures.keySet ++ byStream.keySet).iterator.map { arn =>
      val sent = byStream.get(arn).fold(SinkMetrics())(_.requests)
      val left = departures.getOrElse(arn, 0L)
      arn -> RouteCounts(sent.entriesOut, sent.bytesOut, sent.throttled, left, open.contains(arn))
    }.toMap
  }

  /** Number of records that were taken back from a stream and written to another one. From any thread. */
  def rerouted: Long = reroutedByStream.valuesIterator.sum

  /** The same for each stream that the records were taken back from, by its ARN. From any thread. */
  def reroutedByStream: Map[String, Long] = takenBack

  /** Closes all streams. Cancels the requests of all of them before it waits for their end. */
  override def close(): Unit = {
    isClosed = true
    watching.foreach(_.cancel())
    trials.foreach(_.answer.cancel(true))
    targets.valuesIterator.foreach(_._2.sink.abandon())
    targets.valuesIterator.foreach(_._2.close())
    // Nothing of this task reaches a stream after records that the next attempt writes.
    if (trials.nonEmpty) access.awaitEnd(Futures.allDone(trials.map(_.answer)), TrialTimeout * 2)
  }

  @tailrec
  private def drain(): Unit = if (!queue.isEmpty) {
    val (id, record) = queue.peekFirst()
    // After a failure, records that were taken back are ahead of this one.
    if (tryWrite(id, record)) queue.removeFirst()
    drain()
  }

  private def tryWrite(id: String, record: SinkRecord): Boolean = {
    val state = refreshed(id)
    state.onTrial.nonEmpty && startsTrial(id, record, state) || attempt(choose(id, record, state)) { target =>
      target.violation(record) match {
        case None => target.sink.write(record)
        case Some(reason) => access.invalid(target.stream.stream.name, reason, record)
      }
    }
  }

  /** The state of a logical stream, after the changes of the health of its streams. */
  private def refreshed(id: String): Logical = {
    val state = logical.getOrElseUpdate(id, new Logical)
    val revision = health.revision
    if (state.revision != revision) {
      val now = scheduler.nanoTime
      val usable = routes.of(id).filterNot(health.isDown(_, now))
      if (usable != state.usable) state.usable = usable
      state.onTrial = routes.of(id).filter(health.isOnTrial)
      state.revision = revision
    }
    state
  }

  private def choose(id: String, record: SinkRecord, state: Logical): PhysicalStream =
    state.selector.choose(record, if (state.usable.nonEmpty) state.usable else lastResort(id, state))

  /** The streams to try although all of them have failed. */
  private def lastResort(id: String, state: Logical): Vector[PhysicalStream] = {
    val all = routes.of(id)
    if (all.isEmpty) throw SinkErrors.noActiveStream(id = id, version = routes.version)
    val hopeful = all.filterNot(health.isGone)
    val isOver = patience.isFinite &&
      troubleOf(id, state).exists(since => scheduler.nanoTime - since >= patience.toNanos)
    state.lastFailure.filter(_ => isOver || hopeful.isEmpty).foreach(throw _)
    if (hopeful.isEmpty) all else hopeful
  }

  /** The beginning of the present trouble. It is over when a stream has accepted a record. */
  private def troubleOf(id: String, state: Logical): Option[Long] = {
    val accepted = targets.valuesIterator.collect {
      case (stream, target) if idOf(stream.arn) == id => target.sink.acceptedAt
    }.flatten.toVector ++ state.acceptedBefore
    state.troubleSince.filterNot(since => accepted.exists(_ - since > 0))
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
    if (watching.isEmpty && (news ne RouteNews.None)) watchLater()
    val attempted = new Opening(stream, scheduler.nanoTime, new CompletableFuture[Unit])
    opening = Some(attempted)
    val opened =
      try access.open(stream, routes.of(idOf(stream.arn)).size < 2, attempted.stop)
      finally opening = None
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
    val judged = if (isReplacement(cause)) Some(false) else access.judge(cause)
    judged match {
      case Some(isPermanent) =>
        adopt()
        if (!hasOther(id, broken)) awaitNews(LastHope)(hasOther(id, broken))
        if (!hasOther(id, broken) && !isWaitedFor(cause)) throw access.explain(broken, cause)
        leave(id, broken, isPermanent, cause)
      case None => throw access.explain(broken, cause)
    }
  }

  /** Whether the records of the only stream are sent to it again after the failure. */
  private def isWaitedFor(cause: Throwable): Boolean =
    isReplacement(cause) || cause.isInstanceOf[DestinationStalledException]

  private def isReplacement(cause: Throwable): Boolean = cause.isInstanceOf[DestinationReplacedException]

  private def leave(id: String, broken: PhysicalStream, isPermanent: Boolean, cause: Throwable): Unit = {
    val state = logical.getOrElseUpdate(id, new Logical)
    state.troubleSince = Some(troubleOf(id, state).getOrElse(scheduler.nanoTime))
    state.lastFailure = Some(access.explain(broken, cause))
    val back = targets.get(broken.arn).fold(IndexedSeq.empty[SinkRecord]) { case (_, open) =>
      retire(state, broken, open)
    }
    back.reverseIterator.foreach(record => queue.addFirst(id -> record))
    noteTakenBack(broken, back.size)
    departures = departures.updated(broken.arn, departures.getOrElse(broken.arn, 0L) + 1)
    access.left(broken, isPermanent, cause, back.size)
    val now = scheduler.nanoTime
    if (routes.of(id).forall(health.isDown(_, now))) {
      val isHopeless = routes.of(id).forall(health.isGone)
      awaitNews(if (isHopeless) LastHope else Pause)(routes.of(id).exists(!health.isDown(_, scheduler.nanoTime)))
    }
  }

  private def retire(state: Logical, stream: PhysicalStream, open: StreamRouter.Target): IndexedSeq[SinkRecord] = {
    val back = open.takeBack()
    addMetrics(stream, open.sink.metrics.ended)
    state.acceptedBefore = (open.sink.acceptedAt ++ state.acceptedBefore)
      .reduceOption((one, other) => if (one - other > 0) one else other)
    targets -= stream.arn
    last.forget()
    back
  }

  private def addMetrics(stream: PhysicalStream, metrics: KinesisSinkMetrics): Unit =
    ended = ended.updatedWith(stream.arn)(was => Some(was.fold(metrics)(_ + metrics)))

  private def noteTakenBack(stream: PhysicalStream, records: Int): Unit =
    takenBack = takenBack.updatedWith(stream.arn)(was => Some(was.getOrElse(0L) + records))

  /** Takes newer routes if there are any. */
  private def adopt(): Unit = news.routes.filter(_ ne routes).foreach { newer =>
    routes = newer
    idOf ++= idsOf(newer)
    logical.valuesIterator.foreach(_.revision = -1)
    last.forget()
  }

  /** Whether the routes have a stream that is not the broken one. */
  private def hasOther(id: String, broken: PhysicalStream): Boolean = routes.of(id).exists(!isSame(_, broken))

  /** Waits for newer routes until they are good enough, and adopts them. */
  private def awaitNews(limit: FiniteDuration)(isGood: => Boolean): Unit = {
    val begin = scheduler.nanoTime
    val isHopeless = (news eq RouteNews.None) && limit == LastHope
    while (!isHopeless && !isGood && scheduler.nanoTime - begin < limit.toNanos) {
      news.wanted()
      access.pause(new CompletableFuture[Unit], WatchEvery)
      adopt()
    }
  }

  private def watchLater(): Unit = watching = Some(scheduler.schedule(WatchEvery)(watch()))

  /** Asks for newer routes while a stream is in trouble, and gives it up when they name another one. */
  private def watch(): Unit = if (!isClosed) {
    val now = scheduler.nanoTime
    def isLong(since: Long): Boolean = now - since >= TroubleAfter.toNanos
    val silent = targets.valuesIterator.filter(_._2.sink.silentSince.exists(isLong)).toVector
    val closed = opening.filter(attempted => isLong(attempted.since))
    if (silent.nonEmpty || closed.nonEmpty) {
      news.wanted()
      news.routes.foreach { newer =>
        silent.filter { case (stream, _) => isReplaced(stream, newer) }.foreach(_._2.sink.giveUp(replaced))
        closed.filter(attempted => isReplaced(attempted.stream, newer)).foreach { attempted =>
          attempted.stop.completeExceptionally(replaced)
        }
      }
    }
    watchLater()
  }

  private def replaced = new DestinationReplacedException

  /** Whether newer routes have other streams than those that the sink uses, one of them instead of this stream. */
  private def isReplaced(stream: PhysicalStream, newer: Routes): Boolean = (newer ne routes) && {
    val id = idOf(stream.arn)
    val (own, others) = newer.of(id).partition(isSame(_, stream))
    // Without another stream, the records stay with this one.
    others.nonEmpty && (own.isEmpty || others.exists(other => !routes.of(id).exists(isSame(_, other))))
  }

  private def startsTrial(id: String, record: SinkRecord, state: Logical): Boolean =
    record.size <= LargestTrial && state.onTrial.find(health.startsTrial).exists { stream =>
      val answer = Futures.attempt(access.tryOut(stream, record, TrialTimeout))
      answer.whenComplete((_, failure) => health.tried(stream, failure == null))
      trials += new Trial(id, record, stream, answer)
      true
    }

  /** Counts the records of trials that have ended, and writes those to other streams that were not stored. */
  private def settleTrials(): Unit = {
    val done = trials.filter(_.answer.isDone).toVector
    trials --= done
    done.foreach { trial =>
      val failure = Futures.failureOf(trial.answer)
      val mayBeStored = failure.exists(isStoredPerhaps)
      val counts = SinkMetrics(
        entriesOut = if (failure.isEmpty) 1 else 0,
        bytesOut = if (failure.isEmpty) trial.record.size.toLong else 0,
        requests = 1,
        entriesSent = 1,
        retried = if (failure.isEmpty) 0 else 1,
        possibleDuplicates = if (mayBeStored) 1 else 0
      )
      addMetrics(trial.stream, KinesisSinkMetrics(counts))
      if (failure.nonEmpty) {
        noteTakenBack(trial.stream, 1)
        queue.addFirst(trial.id -> trial.record)
      }
    }
  }

  private def isStoredPerhaps(failure: Throwable): Boolean = failure match {
    case error: ServiceException => error.mayBeDone
    case _: RecordRefusedException => false
    case _ => true
  }
}

object RoutedSink {

  /** Time without an accepted record after which a stream is in trouble. */
  val TroubleAfter: FiniteDuration = 2.seconds

  /** Time for which a stream on trial has to store its record. */
  val TrialTimeout: FiniteDuration = 2.seconds

  private val WatchEvery = 500.millis

  /** Pause when all streams have failed. */
  private val Pause = 500.millis

  /** Time for which newer routes are waited for when no stream is left. */
  private val LastHope = 10.seconds

  /** Size in bytes of the largest record that a trial may delay. */
  private val LargestTrial = 64 * 1024

  /** The answer of a stream on trial says that it has not stored the record. */
  final class RecordRefusedException(answer: String)
      extends RuntimeException(s"the stream has not stored the record: $answer")

  /** A stream that is being opened. `stop` ends the attempt. */
  final private class Opening(val stream: PhysicalStream, val since: Long, val stop: CompletableFuture[Unit])

  /** A record that a stream on trial has to store. */
  final private class Trial(
      val id: String,
      val record: SinkRecord,
      val stream: PhysicalStream,
      val answer: CompletableFuture[Unit]
  )

  private def idsOf(routes: Routes): Map[String, String] =
    routes.byId.iterator.flatMap { case (id, streams) => streams.map(_.arn -> id) }.toMap

  /** Whether two entries of documents are reached in the same way. */
  private def isSame(one: PhysicalStream, other: PhysicalStream): Boolean =
    one.arn == other.arn && one.endpoint == other.endpoint && one.role == other.role &&
      one.externalId == other.externalId

  /** The callbacks of a [[RoutedSink]] to its owner. */
  trait Access {

    /**
     * Opens a stream. May block. Its exceptions are judged like those of writes.
     *
     * @param isAlone
     *   whether the logical stream has no other stream, so that an outage is waited for
     * @param stop
     *   if it fails, the attempt ends and throws its failure
     */
    def open(stream: PhysicalStream, isAlone: Boolean, stop: CompletableFuture[Unit]): StreamRouter.Target

    /**
     * Sends one record to a stream that was left, without blocking. The future fails if the stream has not stored the
     * record within `limit`, with [[RecordRefusedException]] if its answer says so. `cancel` ends the request, and the
     * future is done when it has ended.
     */
    def tryOut(stream: PhysicalStream, record: SinkRecord, limit: FiniteDuration): CompletableFuture[Unit]

    /** Blocks until the future is done, and for `limit` at most. */
    def pause(done: CompletableFuture[_], limit: FiniteDuration): Unit

    /** Does the same although the thread was interrupted, or is interrupted meanwhile. */
    def awaitEnd(done: CompletableFuture[_], limit: FiniteDuration): Unit

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
