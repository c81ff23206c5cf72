package org.sparkkinesis.consume

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.model.StartingPosition.AtTimestamp
import org.sparkkinesis.model._
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class FirstArrivalsSuite extends TimedSuite {
  private val Day = 24.hours.toMillis
  private def shard(name: String) = StreamShard("orders", ShardId(name))
  private def batch(behind: Long, arrivals: Long*) = RecordBatch(
    arrivals.map(new KinesisRecord("1", "k", _, Array.emptyByteArray, null)).toVector,
    behind,
    Day
  )

  /** Answers the requests of each shard with its steps, and not at all after the last one. */
  final private class Script(steps: Map[String, Seq[RecordSubscriber => Unit]]) extends RecordPublisherFactory {
    private val left = mutable.HashMap.from(steps)
    val positions = mutable.HashMap.empty[String, StartingPosition]
    val sizes = mutable.Set.empty[Long]
    var cancelled = 0
    def names: Seq[String] = steps.keys.toSeq

    override def subscribe(
        shard: StreamShard,
        position: StartingPosition,
        subscriber: RecordSubscriber
    ): RecordPublisher = new RecordPublisher {
      positions(shard.shard.value) = position
      override def request(maxBytes: Long): Unit = {
        sizes += maxBytes
        left(shard.shard.value).headOption.foreach { step =>
          left(shard.shard.value) = left(shard.shard.value).drop(1)
          step(subscriber)
        }
      }
      override def cancel(): Unit = cancelled += 1
    }
  }

  private def answers(batch: RecordBatch): RecordSubscriber => Unit = _.onBatch(batch)

  test("the first record of each shard is looked at, also after empty answers") {
    val script = new Script(Map(
      "at once" -> Seq(answers(batch(5, 3000, 4000))),
      "after empty answers" -> Seq(answers(batch(9)), answers(batch(7)), answers(batch(0, 5000)))
    ))
    val found = FirstArrivals.of(script, script.names.map(name => shard(name) -> AtTimestamp(2000)), 10.seconds)
    assert(found == Map(shard("at once") -> 3000L, shard("after empty answers") -> 5000L))
    assert(script.positions.values.toSet == Set(AtTimestamp(2000)))
    assert(script.sizes == Set(1L) && script.cancelled == 2)
  }

  test("a shard without a record, a closed one, one that cannot be read and one that does not answer are left out") {
    val failure =
      new ServiceException(ServiceErrorKind.ResourceNotFound, Operation.GetShardIterator, "NotFound", "no such shard")
    val script = new Script(Map(
      "idle" -> Seq(answers(batch(0))),
      "closed" -> Seq[RecordSubscriber => Unit](_.onShardEnd(Nil)),
      "gone" -> Seq[RecordSubscriber => Unit](_.onError(failure)),
      "silent" -> Nil,
      "other" -> Seq(answers(batch(0, 3000)))
    ))
    val found = FirstArrivals.of(script, script.names.map(name => shard(name) -> AtTimestamp(2000)), 50.millis)
    assert(found == Map(shard("other") -> 3000L))
    assert(script.cancelled == 5)
  }
}
