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

    /** The number of answers of each shard that nobody has requested. */
    def unasked: Map[String, Int] = left.view.mapValues(_.size).toMap

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

  private def look(script: Script, untilMillis: Long, limit: FiniteDuration): FirstArrivals =
    FirstArrivals.of(script, script.names.map(name => shard(name) -> AtTimestamp(2000)), untilMillis, limit)

  private def answers(batch: RecordBatch): RecordSubscriber => Unit = _.onBatch(batch)

  test("the first record of each shard is looked at, also after empty answers") {
    val script = new Script(Map(
      "at once" -> Seq(answers(batch(5, 3000, 4000))),
      "after empty answers" -> Seq(answers(batch(9)), answers(batch(7)), answers(batch(0, 5000)))
    ))
    val found = look(script, untilMillis = Day, 10.seconds)
    assert(found.arrivals == Map(shard("at once") -> 3000L, shard("after empty answers") -> 5000L))
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
    val found = look(script, untilMillis = Day, 50.millis)
    assert(found == FirstArrivals(Map(shard("other") -> 3000L), unknown = Seq(shard("silent"))))
    assert(script.cancelled == 5)
  }

  test("a sparse shard is left out as soon as it is read up to the time that matters") {
    // Answers of the service that are empty, although the shard has records at its tip.
    def empty(behind: FiniteDuration) = answers(batch(behind.toMillis))
    val script = new Script(Map(
      "sparse" -> Seq(empty(20.hours), empty(9.hours), answers(batch(0, 23.hours.toMillis))),
      "early" -> Seq(empty(20.hours), answers(batch(9, 5.hours.toMillis)))
    ))
    val found = look(script, untilMillis = 10.hours.toMillis, 10.seconds)
    assert(found == FirstArrivals(Map(shard("early") -> 5.hours.toMillis), unknown = Nil))
    assert(script.unasked == Map("sparse" -> 1, "early" -> 0))
  }
}
