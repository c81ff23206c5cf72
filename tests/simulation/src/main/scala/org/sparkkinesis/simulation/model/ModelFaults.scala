package org.sparkkinesis.simulation.model

import scala.util.Random

import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}

/** A temporary fault of the service or of the connection to it. */
sealed trait ServiceFault extends Product

object ServiceFault {

  /** This share of the calls of one operation, or of all, fails with this kind of error. */
  final case class Failing(operation: Option[Operation], kind: ServiceErrorKind, percent: Int) extends ServiceFault

  /** Processes whose names start with this text get no answer; `*` stands for every process. */
  final case class Unreachable(process: String) extends ServiceFault

  /** ListShards returns the state of this many seconds ago. */
  final case class StaleListing(seconds: Int) extends ServiceFault

  /** ListShards omits one in this many shards. */
  final case class ListingHoles(oneOf: Int) extends ServiceFault

  /** The last answer of a closed shard names no children. */
  case object EndWithoutChildren extends ServiceFault

  /** This share of PutRecords requests is executed, and the connection breaks before the answer. */
  final case class LostAnswers(percent: Int) extends ServiceFault

  /** This share of PutRecords requests is executed and never answered. */
  final case class SilentAnswers(percent: Int) extends ServiceFault

  /** PutRecords requests arrive with individual delays of up to this time. */
  final case class SlowPuts(millis: Int) extends ServiceFault

  /** This share of the entries of PutRecords is refused. */
  final case class RejectedEntries(code: String, percent: Int) extends ServiceFault

  /** Some answers before the tip are empty. */
  case object EmptyAnswers extends ServiceFault

  /** Open subscriptions send no more events. */
  case object SilentSubscriptions extends ServiceFault
}

/** The effect of a fault on the answer of PutRecords. */
sealed trait AnswerFault

object AnswerFault {
  case object None extends AnswerFault
  case object Broken extends AnswerFault
  case object Silent extends AnswerFault
}

/** The currently active faults. */
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

  /**
   * Returns the error of a call of this process, if a fault affects it.
   *
   * @param hasToken
   *   whether the call continues a listing; only then its token can have expired
   */
  def of(process: String, operation: Operation, hasToken: Boolean = false): Option[ServiceException] =
    current.collectFirst {
      case Unreachable(who) if process.startsWith(who) || who == "*" => error(ServiceErrorKind.Network, operation)
      case Failing(what, kind, percent)
          if what.forall(_ == operation) && (hasToken || kind != ServiceErrorKind.ExpiredNextToken) &&
            random.nextInt(100) < percent => error(kind, operation)
    }

  def ofAnswer(): AnswerFault = current.collectFirst {
    case LostAnswers(percent) if random.nextInt(100) < percent => AnswerFault.Broken
    case SilentAnswers(percent) if random.nextInt(100) < percent => AnswerFault.Silent
  }.getOrElse(AnswerFault.None)

  def delayOfPut(): Long = current.collectFirst { case SlowPuts(millis) => random.nextInt(millis).toLong }.getOrElse(0L)

  /** The error code of a refused entry. */
  def rejects(): Option[String] = current.collectFirst {
    case RejectedEntries(code, percent) if random.nextInt(100) < percent => code
  }

  def listingAgeMillis: Long = current.collectFirst { case StaleListing(seconds) => seconds * 1000L }.getOrElse(0L)

  /** Returns whether a listing omits the next shard. */
  def leavesOut(): Boolean = current.exists {
    case ListingHoles(oneOf) => random.nextInt(oneOf) == 0
    case _ => false
  }

  def answersEmpty(): Boolean = holds(EmptyAnswers) && random.nextInt(3) == 0

  private def error(kind: ServiceErrorKind, operation: Operation): ServiceException =
    new ServiceException(kind, operation, s"${kind.name}Exception", "injected")
}
