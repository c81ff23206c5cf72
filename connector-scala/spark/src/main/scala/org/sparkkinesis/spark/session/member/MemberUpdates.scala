package org.sparkkinesis.spark.session.member

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.config.MetadataOptions
import org.sparkkinesis.config.value.{OnStreamRemoved, PositionOption}
import org.sparkkinesis.error.{MetadataErrors, ServiceErrors}
import org.sparkkinesis.event.{MetadataChanged, StreamPending}
import org.sparkkinesis.metadata._
import org.sparkkinesis.plan.member.MembershipHistory
import org.sparkkinesis.plan.offset.StreamOffset
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.MetadataLog

/**
 * Prepares the streams that a metadata service adds, and writes each version of the document to the metadata log. One
 * thread passes the answers of the service; any thread may open streams.
 *
 * @param service
 *   the address of the service, for messages
 * @param parked
 *   returns the streams that the query does not read any more, and since when in epoch milliseconds; called on the
 *   thread that asks the service
 * @param drained
 *   returns those of them whose records were all read; called on the same thread
 */
final private[member] class MemberUpdates(
    session: StreamSession,
    log: MetadataLog,
    history: MembershipHistory,
    held: HeldStreams,
    service: String,
    prepare: PhysicalStream => Unit,
    initial: String => (PositionOption, Long),
    parked: () => Map[String, Long],
    drained: () => Set[String]
) {
  import MemberUpdates._

  private val options = session.options
  private val allowed = AllowList.of(options)
  private val onRemoved = options(MetadataOptions.onStreamRemoved)

  @volatile private var pendingStreams = 0
  @volatile private var error = Option.empty[Throwable]

  /** Number of streams that the service names and that could not be opened yet. */
  def pending: Int = pendingStreams

  /** The error that ends the query. */
  def failure: Option[Throwable] = error

  /** The streams that are open with their consumers. */
  private val usable = ConcurrentHashMap.newKeySet[String]()

  /** Whether a stream is open and has its enhanced fan-out consumer, if it needs one. */
  def isReady(arn: String): Boolean = usable.contains(arn)

  /** Opens a stream with its consumer, unless it is open. */
  def ready(arn: String): Unit = known(arn).foreach(ready(_))

  /** The stream as the newest document that has it says, else by its ARN. */
  def known(arn: String): Option[PhysicalStream] =
    log.entries.reverseIterator.flatMap(_.physical(arn)).nextOption()
      .orElse(PhysicalStream.ofArn(arn))

  /**
   * Handles an answer of the service.
   *
   * @throws KinesisConnectorException
   *   an error that ends the query, or the failure to read the time of Kinesis, which the entry in the log needs; the
   *   next answer is handled then
   */
  def take(document: MetadataDocument): Unit = {
    session.confirmTime().foreach(throw _)
    val removed = history.removed(document)
    if (removed.nonEmpty && onRemoved == OnStreamRemoved.Fail) error =
      Some(MetadataErrors.removed(streams = removed.toSeq.sorted.mkString(", "), service = service))
    else {
      val isFirst = history.newest.isEmpty
      val prepared = history.toPrepare(document).map(arn => join(document.physical(arn), isFirst))
      val failed = prepared.collect { case Left(why) => why }
      pendingStreams = failed.size
      val joins = prepared.collect { case Right(join) => join }
      // Without any stream there is nothing to start with.
      if (isFirst && joins.isEmpty) failed.headOption.foreach { case (_, why) => throw why }
      reconnect(document)
      holdAbsent(document)
      learnTime(document)
      val reachable = again(document)
      history.next(document, removed, joins, session.serviceClock.atLeast, reachable, parked()).foreach { entry =>
        val difference = MetadataDiff.between(
          history.newest.fold(document.copy(streams = document.streams.empty))(_.document),
          document
        )
        log.append(entry)
        history.note(entry)
        session.events.emit(MetadataChanged(document.version, difference.toString))
      }
    }
  }

  /**
   * Holds back the drained streams that the document names again and that do not exist, or are being created: nothing
   * can be lost of them until they are active.
   */
  private def holdAbsent(document: MetadataDocument): Unit = for {
    arn <- drained() if !held.contains(arn)
    stream <- document.physical.get(arn) if stream.state == StreamState.Active
    why <- attempt(arn)(ready(stream, isAgain = true)).left.toOption if ServiceErrors.isAbsent(why._2)
  } held.holdDrained(arn, why._2)

  /** Tries the streams that are held back. Returns whether some can be read again. */
  private def again(document: MetadataDocument): Boolean = {
    val reachable = held.all.keys.flatMap(document.physical.get).filter(_.state != StreamState.Standby)
      .filter(stream => attempt(stream.arn)(ready(stream, isAgain = true)).isRight)
    // The query's thread takes them in with the entry that follows.
    reachable.foreach(stream => held.release(stream.arn))
    reachable.nonEmpty
  }

  /**
   * Requests the service's time by a description of a stream, if no stream was described yet. Otherwise the entry would
   * have the time of this process, and what a stream got before that time would be taken for no loss. If no stream can
   * be described, there is no better time than that of this process.
   */
  private def learnTime(document: MetadataDocument): Unit =
    document.physical.valuesIterator.filter(_.state != StreamState.Standby).take(StreamsToAsk)
      .takeWhile(_ => !session.serviceClock.isKnown)
      .foreach(stream => session.learnTime(stream, allowed.mustBeOwn(stream)))

  private def join(stream: PhysicalStream, isFirst: Boolean): Either[(String, Throwable), StreamOffset] =
    attempt(stream.arn) {
      ready(stream)
      val (position, latest) = stream.startAt.map(_ -> session.serviceClock.atLeast).getOrElse(
        if (isFirst) initial(stream.arn) else options(MetadataOptions.newStreamPosition) -> session.serviceClock.atLeast
      )
      session.initialOffsets.withOldestTime(session.initialOffsets.of(stream.arn, position, latest))
    }

  private def attempt[A](arn: String)(body: => A): Either[(String, Throwable), A] =
    try Right(body)
    catch {
      case interrupted: InterruptedException => throw interrupted
      case NonFatal(why) =>
        Futures.interruptOf(why).foreach(throw _)
        session.events.emit(StreamPending(arn, String.valueOf(why.getMessage)))
        Left(arn -> why)
    }

  /** Opens a stream with its consumer. */
  private def ready(stream: PhysicalStream, isAgain: Boolean = false): Unit = {
    usable.remove(stream.arn)
    if (isAgain || !session.isOpen(stream.arn)) session.open(stream, mustBeOwn = allowed.mustBeOwn(stream))
    prepare(stream)
    usable.add(stream.arn): Unit
  }

  private def reconnect(document: MetadataDocument): Unit = document.physical.valuesIterator
    .filter(stream => session.isOpen(stream.arn)).foreach(session.connect)
}

private object MemberUpdates {

  /** Maximum number of streams that are asked for the service's time, because each may take some seconds. */
  val StreamsToAsk = 3
}
