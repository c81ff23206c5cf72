package org.sparkkinesis.sink.route

import java.util.function.BiFunction

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._
import scala.util.control.NonFatal

import org.sparkkinesis.config.value.{RouterOption, UserClass}
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.sink.AsyncSinkSettings
import org.sparkkinesis.sink.kinesis.put.SinkRecord

/** Creates the selectors of option `router`. */
object StreamSelectors {

  /**
   * Returns a constructor of selectors, which takes the number of the task. `Left` contains the reason why a class of
   * the user cannot be used.
   */
  def of(option: RouterOption, requests: AsyncSinkSettings): Either[String, Int => StreamSelector] = {
    def turns(task: Int) = new RoundRobinSelector(requests.maxBatchSize, requests.maxBatchBytes, task)
    option match {
      case RouterOption.RoundRobin => Right(turns)
      case RouterOption.Hash => Right(_ => new RendezvousSelector)
      case RouterOption.Priority => Right(task => new PrioritySelector(turns(task)))
      case RouterOption.OfClass(name) => ofClass(name)
    }
  }

  private type Choice = BiFunction[String, java.util.List[String], String]

  private def ofClass(name: String): Either[String, Int => StreamSelector] = {
    def constructor[A](kind: Class[A]) =
      UserClass.constructor(name, kind, None, missing = "The class path has no class of this name.")
    constructor(classOf[Object]).flatMap { any =>
      if (classOf[RecordRouter].isAssignableFrom(any.getDeclaringClass))
        constructor(classOf[RecordRouter]).map(create => _ => new RouterSelector(name, create.newInstance()))
      else
        constructor(classOf[BiFunction[_, _, _]]).map { create => _ =>
          new ClassSelector(name, create.newInstance().asInstanceOf[Choice])
        }
    }
  }

  /** Calls code of the user, and finds the stream with the ARN that it returns. */
  private def chosen(name: String, among: Vector[PhysicalStream])(call: => String): PhysicalStream = {
    val arn = guarded(name)(call)
    among.find(_.arn == arn).getOrElse(
      throw SinkErrors.routerFailed(name, s"It returned '$arn', which is none of the streams that it was given")
    )
  }

  private def guarded[A](name: String)(call: => A): A =
    try call
    catch { case NonFatal(failure) => throw SinkErrors.routerFailed(name, s"It threw $failure").causedBy(failure) }

  /** Asks a [[RecordRouter]] of the user. */
  final private class RouterSelector(name: String, router: RecordRouter) extends StreamSelector {
    private var streams = Vector.empty[PhysicalStream]

    override def choose(record: SinkRecord, among: Vector[PhysicalStream]): PhysicalStream = {
      if (among ne streams) {
        streams = among
        val shown = among.map { one =>
          val ref = one.stream
          new RouterStream(one.arn, ref.name, ref.region, ref.account, one.weight, one.priority)
        }
        guarded(name)(router.streamsChanged(java.util.List.copyOf(shown.asJava)))
      }
      chosen(name, among)(
        router.choose(new RouterRecord(record.partitionKey, record.explicitHashKey.toJava, record.size))
      )
    }
  }

  /** Asks a class of the user, which gets the partition key and the ARNs and returns one of the ARNs. */
  final private class ClassSelector(name: String, choice: Choice) extends StreamSelector {
    private var streams = Vector.empty[PhysicalStream]
    private var arns: java.util.List[String] = java.util.List.of()

    override def choose(record: SinkRecord, among: Vector[PhysicalStream]): PhysicalStream = {
      if (among ne streams) {
        streams = among
        arns = java.util.List.copyOf(among.map(_.arn).asJava)
      }
      chosen(name, among)(choice.apply(record.partitionKey, arns))
    }
  }
}
