package org.sparkkinesis.simulation.metadata

import java.nio.charset.StandardCharsets.UTF_8
import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.concurrent.Waiting
import org.sparkkinesis.error.{KinesisConnectorException, MetadataErrors}
import org.sparkkinesis.metadata.{MetadataAnswer, StreamIds, StreamMetadataService, Tag}
import org.sparkkinesis.spark.metadata.Documents

/**
 * A logical stream with its metadata document, which an operator changes, and the service that answers with it.
 *
 * @param arns
 *   the streams of the schedule
 * @param first
 *   what the first document says about each of them
 */
final class LogicalStream(arns: Vector[String], first: Vector[NamedState], now: () => Long, random: Random) {
  import LogicalStream._

  private var members = first.map(Member(_, Set.empty))
  private var version = 1L
  private var before = Document(version, members)
  private var faults = Vector.empty[(MetadataFault, Long)]
  private var changedMillis = now()
  private var answers = 0
  private var withoutActive = first.forall(_ != NamedState.Active)
  private var failed = false

  /** The times at which streams became inactive that are not active now, and the longest such time of each stream. */
  private var inactiveSince = arns.indices.filter(i => first(i) != NamedState.Active).map(_ -> now()).toMap
  private var longestInactive = Map.empty[Int, Long]

  /** Whether some document had no active stream. */
  def lackedActive: Boolean = withoutActive

  /** Whether the service has failed. */
  def hasFailed: Boolean = failed

  /** The number of changes of the document. */
  def changes: Long = version - 1

  def name(stream: Int, state: NamedState): Unit = change(members.updated(stream, Member(state, Set.empty)))

  /** Lets one stream drain, and another one follow it, unless the first one follows the other. */
  def migrate(from: Int, to: Int): Unit = if (from != to && !follows(from, to)) change(
    members.updated(from, members(from).copy(state = NamedState.Draining))
      .updated(to, Member(NamedState.Active, Set(from)))
  )

  private def follows(stream: Int, other: Int): Boolean =
    members(stream).after.exists(before => before == other || follows(before, other))

  def fail(fault: MetadataFault, millis: Long): Unit = {
    failed = true
    fault match {
      case MetadataFault.Empty | _: MetadataFault.Lacking => withoutActive = true
      case _ => ()
    }
    faults :+= fault -> (now() + millis)
    changedMillis = math.max(changedMillis, now() + millis)
  }

  /** Ends all faults and makes all streams active. */
  def heal(): Unit = {
    faults = Vector.empty
    changedMillis = now()
    change(members.map(_ => Member(NamedState.Active, Set.empty)))
  }

  /** Returns the streams that a query reads that starts at this time, if it can reach the service and the streams. */
  def readSince(millis: Long): Set[String] =
    if (changedMillis >= millis) Set.empty
    else members.indices.filter(i => members(i) == Member(NamedState.Active, Set.empty)).map(arns).toSet

  /** Returns the longest time in which a stream that matches was not active. */
  def longestInactiveMillis(matches: String => Boolean): Long = arns.indices.filter(i => matches(arns(i))).map { i =>
    math.max(longestInactive.getOrElse(i, 0L), inactiveSince.get(i).fold(0L)(now() - _))
  }.maxOption.getOrElse(0L)

  private def change(next: Vector[Member]): Unit = {
    before = Document(version, members)
    members = next
    withoutActive ||= members.forall(_.state != NamedState.Active)
    version += 1
    changedMillis = math.max(changedMillis, now())
    members.indices.foreach { i =>
      if (members(i).state == NamedState.Active) {
        inactiveSince.get(i).foreach { since =>
          longestInactive += i -> math.max(longestInactive.getOrElse(i, 0L), now() - since)
        }
        inactiveSince -= i
      } else if (!inactiveSince.contains(i)) inactiveSince += i -> now()
    }
  }

  /** Returns the service for one run of the query. */
  def service(waiting: Waiting): StreamMetadataService = new StreamMetadataService {
    override def address: String = "simulation"
    override def close(): Unit = ()

    override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer = {
      answers += 1
      val present = Document(version, members)
      def answer(text: String) = Documents.answer(ids, this, text.getBytes(UTF_8), known, None)
      fault match {
        case None => answer(text(present))
        case Some(MetadataFault.Down) => throw unavailable
        case Some(MetadataFault.Slow(seconds)) =>
          waiting.sleep(seconds.seconds)
          throw unavailable
        case Some(MetadataFault.Truncated) => answer(text(present).take(random.nextInt(text(present).length)))
        case Some(MetadataFault.UnknownState) => answer(text(present).replace("\"active\"", "\"open\""))
        case Some(MetadataFault.Empty) => answer(text(Document(version, Vector.empty)))
        case Some(MetadataFault.OtherStream) => answer(text(present).replace(s"\"$Id\"", "\"other\""))
        case Some(MetadataFault.Older) => answer(text(before))
        case Some(MetadataFault.Lacking(stream)) => answer(text(
            if (answers % 2 == 0) present
            else present.copy(members = members.updated(stream, Member(NamedState.Absent, Set.empty)))
          ))
      }
    }
  }

  private def fault: Option[MetadataFault] = {
    faults = faults.filter(_._2 > now())
    faults.headOption.map(_._1)
  }

  private def unavailable: KinesisConnectorException =
    MetadataErrors.unavailable(Id, "simulation", "the metadata service is down")

  private def text(document: Document): String = {
    val streams = document.members.zip(arns).filter(_._1.state != NamedState.Absent).map { case (member, arn) =>
      val after = member.after.toSeq.sorted.map(i => s"\"${arns(i)}\"").mkString(", ")
      s"""{"arn": "$arn", "state": "${member.state.word}", "after": [$after]}"""
    }
    s"""{"version": ${document.version}, "streams": {"$Id": [${streams.mkString(", ")}]}}"""
  }
}

object LogicalStream {
  val Id = "logical"

  /**
   * @param after
   *   the streams that must be read before it
   */
  final private case class Member(state: NamedState, after: Set[Int])
  final private case class Document(version: Long, members: Vector[Member])
}
