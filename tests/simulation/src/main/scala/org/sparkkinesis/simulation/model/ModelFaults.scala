package org.sparkkinesis.simulation.model

import scala.util.Random

import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}

/** What goes wrong in the service, or on the way to it, for a while. */
sealed trait ServiceFault

object ServiceFault {

  /** This share of the calls of the operation fails in this way; `*` stands for every operation. */
  final case class Failing(operation: String, kind: ServiceErrorKind, percent: Int) extends ServiceFault

  /** No call of these processes gets an answer, whose names begin so; `*` stands for every process. */
  final case class Unreachable(process: String) extends ServiceFault

  /** ListShards tells what was true so long ago. */
  final case class StaleListing(seconds: Int) extends ServiceFault

  /** ListShards leaves shards out: one of so many. */
  final case class ListingHoles(oneOf: Int) extends ServiceFault

  /** The last answer of a closed shard names no children. */
  case object EndWithoutChildren extends ServiceFault

  /** Answers before the tip are empty now and then. */
  case object EmptyAnswers extends ServiceFault

  /** Subscriptions that are open say nothing any more. */
  case object SilentSubscriptions extends ServiceFault
}

/** The faults that hold at this moment. */
final class ModelFaults(random: Random, now: () => Long) {
  import ServiceFault._

  private var active = Vector.empty[(ServiceFault, Long)]

  def add(fault: ServiceFault, untilMillis: Long): Unit = active :+= fault -> untilMillis
  def clear(): Unit = active = Vector.empty

  private def current: Vector[ServiceFault] =
    if (active.isEmpty) Vector.empty
    else {
      active = active.filter(_._2 > now())
      active.map(_._1)
    }

  def holds(fault: ServiceFault): Boolean = current.contains(fault)

  /** What a call of this process meets. */
  def of(process: String, operation: Operation): Option[ServiceException] = current.collectFirst {
    case Unreachable(who) if process.startsWith(who) || who == "*" => error(ServiceErrorKind.Network, operation)
    case Failing(what, kind, percent) if (what == operation.name || what == "*") && random.nextInt(100) < percent =>
      error(kind, operation)
  }

  def listingAgeMillis: Long = current.collectFirst { case StaleListing(seconds) => seconds * 1000L }.getOrElse(0L)

  /** Whether a listing leaves out one shard, out of so many. */
  def leavesOut(): Boolean = current.exists {
    case ListingHoles(oneOf) => random.nextInt(oneOf) == 0
    case _ => false
  }

  def answersEmpty(): Boolean = holds(EmptyAnswers) && random.nextInt(3) == 0

  private def error(kind: ServiceErrorKind, operation: Operation): ServiceException =
    new ServiceException(kind, operation, s"${kind.name}Exception", "injected")
}
