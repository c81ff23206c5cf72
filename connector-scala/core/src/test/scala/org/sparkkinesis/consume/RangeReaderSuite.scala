package org.sparkkinesis.consume

import scala.collection.mutable

import org.sparkkinesis.chunk.{ChunkBuilder, DecodeSettings}
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.{DataLossPolicy, KinesisConnectorException}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class RangeReaderSuite extends TimedSuite {
  private val Shard = StreamShard("orders", ShardId("shardId-000000000000"))

  sealed private trait Step
  private case class Records(behind: Long, at: Long, numbers: Int*) extends Step
  private case object End extends Step
  private case class Failure(error: ServiceException) extends Step

  /** Answers each request with the next step, at once; a request too many is the reader's fault. */
  private class Script(steps: Step*) extends RecordPublisherFactory {
    private val left = mutable.Queue.from(steps)
    var cancelled = false
    var requests = 0
    override def subscribe(
        shard: StreamShard,
        position: StartingPosition,
        subscriber: RecordSubscriber
    ): RecordPublisher =
      new RecordPublisher {
        override def request(maxBytes: Long): Unit = {
          requests += 1
          if (left.isEmpty) throw new AssertionError("it would wait for ever")
          left.dequeue() match {
            case Records(behind, at, numbers @ _*) =>
              subscriber.onBatch(RecordBatch(numbers.map(record).toVector, behind, at))
            case End => subscriber.onShardEnd(Nil)
            case Failure(error) => subscriber.onError(error)
          }
        }
        override def cancel(): Unit = cancelled = true
      }
  }

  /** Record n arrived at n. */
  private def record(n: Int) = new KinesisRecord(n.toString, "k", n.toLong, Array.emptyByteArray, null)
  private def number(n: Int) = SequenceNumber(n.toString)
  private def read(end: RangeEnd, script: Script, failOnDataLoss: Boolean = true): Seq[Int] = {
    val chunks = new ChunkBuilder(DecodeSettings.of(Options.defaults).copy(maxChunkRows = 3), None, new ConsumerMetrics)
    val reader = new RangeReader(
      script,
      Shard,
      AfterSequenceNumber(number(10)),
      end,
      chunks,
      new DataLossPolicy(failOnDataLoss, _ => ())
    )
    reader.flatMap(chunk => (0 until chunk.rows).map(chunk.sequenceNumber(_).value.toInt)).toSeq
  }
  private def at(n: Int) = RangeEnd.At(number(n))

  test("exactly the range is read, though the answer that holds its end holds more") {
    val script = new Script(Records(100, 0, 11, 12), Records(100, 0), Records(100, 0, 13, 14, 15, 16))
    assert(read(at(14), script) == Seq(11, 12, 13, 14))
    assert(script.cancelled)
    assert(script.requests == 3)
  }

  test("the end may be the last record of an answer; nothing is asked for after it") {
    val script = new Script(Records(0, 0, 11, 12))
    assert(read(at(12), script) == Seq(11, 12))
    assert(script.requests == 1)
  }

  private val losses: Seq[(String, Seq[Step])] = Seq(
    "the whole range has expired" -> Seq(Records(100, 0, 25, 26)),
    "the end alone is missing" -> Seq(Records(100, 0, 11), Records(100, 0, 25)),
    "the shard ends before it" -> Seq(Records(0, 0, 11), End),
    "the stream was created anew and has nothing" -> Seq.fill(3)(Records(0, 0))
  )
  for ((what, steps) <- losses) test(s"when $what, it fails as data loss and does not wait") {
    val error = intercept[KinesisConnectorException](read(at(20), new Script(steps: _*)))
    assert(error.condition == "KINESIS_DATA_LOSS")
    assert(error.getMessage.contains("20") && error.getMessage.contains(Shard.shard.value), error.getMessage)
  }

  test("one empty answer at the tip is not yet a loss") {
    assert(read(at(11), new Script(Records(0, 0), Records(0, 0), Records(0, 0, 11))) == Seq(11))
  }

  test("without failOnDataLoss it gives what is left of the range, and ends") {
    assert(
      read(at(20), new Script(Records(100, 0, 15, 16), Records(100, 0, 25)), failOnDataLoss = false) ==
        Seq(15, 16)
    )
  }

  test("until the shard's end, everything is read") {
    assert(
      read(RangeEnd.ShardEnd, new Script(Records(5, 0, 11), Records(0, 0), Records(0, 0, 12), End)) ==
        Seq(11, 12)
    )
  }

  test("until a time, it ends with the first later record, and leaves later ones out") {
    assert(
      read(RangeEnd.ArrivedBy(13), new Script(Records(9, 100, 11, 12), Records(9, 100, 13, 14))) ==
        Seq(11, 12, 13)
    )
  }

  test("what is there now ends at the tip") {
    assert(read(RangeEnd.ArrivedBy(50), new Script(Records(9, 60, 11), Records(0, 61, 12))) == Seq(11, 12))
  }

  test("the tip before the given time is not the end") {
    assert(
      read(RangeEnd.ArrivedBy(50), new Script(Records(0, 40, 11), Records(0, 45), Records(0, 51, 12))) ==
        Seq(11, 12)
    )
  }

  test("a failure of the service is thrown to the reader") {
    val denied =
      new ServiceException(ServiceErrorKind.AccessDenied, Operation.GetRecords, "AccessDeniedException", "no")
    assert(intercept[ServiceException](read(at(20), new Script(Records(9, 0, 11), Failure(denied)))) eq denied)
  }

  test("closing early cancels the publisher and ends the iteration") {
    val script = new Script(Records(9, 0, 11, 12))
    val chunks = new ChunkBuilder(DecodeSettings.of(Options.defaults), None, new ConsumerMetrics)
    val reader = new RangeReader(script, Shard, TrimHorizon, RangeEnd.ShardEnd, chunks)
    reader.close()
    assert(!reader.hasNext)
    assert(script.cancelled)
  }
}
