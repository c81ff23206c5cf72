package org.sparkkinesis.simulation.write

import scala.concurrent.duration._

import org.sparkkinesis.simulation.model.{ModelKinesis, ModelStream}
import org.sparkkinesis.simulation.write.schedule._
import org.sparkkinesis.simulation.write.task._

/** The other users of the streams, which reshard them, delete them and create them. */
final class StreamTroubles(service: ModelKinesis, setup: WriteSetup) {
  import StreamTroubles._
  import WriteAction._

  private var down = Set.empty[Int]
  private var recreated = 0

  /** The number of deletions of streams. */
  def deletions: Int = recreated

  val arns: Vector[String] = setup.shards.indices.map(WriteAttempt.arn).toVector

  /** Returns whether a stream is being deleted or created. */
  def isDown: Boolean = down.nonEmpty

  def create(): Unit = arns.zip(setup.shards).foreach { case (arn, shards) =>
    service.create(arn, shards, RetentionHours)
  }

  def perform(action: WriteAction): Unit = action match {
    case Split(index, shard) => change(index) { stream =>
        if (stream.open.size < MostShards) service.split(stream, stream.open(shard % stream.open.size))
      }
    case Merge(index, shard) => change(index) { stream =>
        val first = shard % math.max(1, stream.open.size - 1)
        if (stream.open.size > 1) service.merge(stream, stream.open(first), stream.open(first + 1))
      }
    case Recreate(index, shards, downMillis) =>
      change(index)(_ => recreate(index % arns.size, shards, downMillis))
    case _ => ()
  }

  private def change(index: Int)(body: ModelStream => Unit): Unit =
    if (!down(index % arns.size)) service.stream(arns(index % arns.size)).foreach(body)

  private def recreate(index: Int, shards: Int, downMillis: Long): Unit = {
    val arn = arns(index)
    def later(millis: Long)(body: => Unit): Unit = {
      service.scheduler.schedule(millis.millis)(body)
      ()
    }
    down += index
    recreated += 1
    service.beginDeletion(arn)
    later(downMillis / 2)(service.remove(arn))
    later(downMillis * 3 / 4) {
      service.create(arn, shards, RetentionHours)
      service.beginCreation(arn)
    }
    later(downMillis) {
      service.activate(arn)
      down -= index
    }
  }
}

private object StreamTroubles {
  val RetentionHours = 24
  val MostShards = 6
}
