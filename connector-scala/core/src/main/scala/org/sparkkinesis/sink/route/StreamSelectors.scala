package org.sparkkinesis.sink.route

import java.util.function.BiFunction

import scala.jdk.CollectionConverters._
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
      case RouterOption.OfClass(name) => ofClass(name).map(create => (_: Int) => new ClassSelector(name, create()))
    }
  }

  private type Choice = BiFunction[String, java.util.List[String], String]

  private def ofClass(name: String): Either[String, () => Choice] = UserClass.constructor(
    name,
    classOf[BiFunction[_, _, _]],
    None,
    missing = "The class path has no class of this name."
  ).map(constructor => () => constructor.newInstance().asInstanceOf[Choice])

  /** Asks a class of the user, which gets the partition key and the ARNs and returns one of the ARNs. */
  final private class ClassSelector(name: String, choice: Choice) extends StreamSelector {
    private var streams = Vector.empty[PhysicalStream]
    private var arns: java.util.List[String] = java.util.List.of()

    override def choose(record: SinkRecord, among: Vector[PhysicalStream]): PhysicalStream = {
      if (among ne streams) {
        streams = among
        arns = java.util.List.copyOf(among.map(_.arn).asJava)
      }
      val chosen =
        try choice.apply(record.partitionKey, arns)
        catch { case NonFatal(failure) => throw SinkErrors.routerFailed(name, s"It threw $failure").causedBy(failure) }
      among.find(_.arn == chosen).getOrElse(
        throw SinkErrors.routerFailed(name, s"It returned '$chosen', which is none of the streams that it was given")
      )
    }
  }
}
