package org.sparkkinesis.consume

import scala.collection.mutable

import org.sparkkinesis.chunk.{ChunkBuilder, DecodeSettings}
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{ConsumerMetrics, Losses}
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

  /** Answers each request immediately with the next step. A request after the last step fails the test. */
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
          if (left.isEmpty) throw new AssertionError("the reader would wait without end")
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

  /** Record n arrived at time n. */
  private def record(n: Int) = new KinesisRecord(n.toString, "k", n.toLong, Array.emptyByteArray, null)
  private def number(n: Int) = SequenceNumber(n.toString)
  private def read(
      end: RangeEnd,
      script: Script,
      failOnDataLoss: Boolean = true,
      firstArrival: Option[Long] = None,
      lost: KinesisConnectorException => Unit = _ => ()
  ): Seq[Int] = {
    val chunks = new ChunkBuilder(DecodeSettings.of(Options.defaults).copy(maxChunkRows = 3), None, new ConsumerMetrics)
    val reader = new RangeReader(
      script,
      Shard,
      AfterSequenceNumber(number(10)),
      end,
      chunks,
      new Losses(failOnDataLoss, _ => (), lost),
      firstArrivalMillis = firstArrival
    )
    reader.flatMap(chunk => (0 until chunk.rows).map(chunk.sequenceNumber(_).value.toInt)).toSeq
  }
  private def at(n: Int) = RangeEnd.At(number(n))

  test("exactly the range is read, although the last response contains more records") {
    val script = new Script(Records(100, 0, 11, 12), Records(100, 0), Records(100, 0, 13, 14, 15, 16))
    assert(read(at(14), script) == Seq(11, 12, 13, 14))
    assert(script.cancelled)
    assert(script.requests == 3)
  }

  test("after a response that ends with the last record nothing more is requested") {
    val script = new Script(Records(0, 0, 11, 12))
    assert(read(at(12), script) == Seq(11, 12))
    assert(script.requests == 1)
  }

  private val losses: Seq[(String, Seq[Step])] = Seq(
    "the whole range has expired" -> Seq(Records(100, 0, 25, 26)),
    "only the last record is missing" -> Seq(Records(100, 0, 11), Records(100, 0, 25)),
    "the shard ends before it" -> Seq(Records(0, 0, 11), End),
    "the stream was recreated and is empty" -> Seq.fill(3)(Records(0, 0))
  )
  for ((what, steps) <- losses) test(s"a read fails with data loss and does not wait if $what") {
    val error = intercept[KinesisConnectorException](read(at(20), new Script(steps: _*)))
    assert(error.condition == "KINESIS_DATA_LOSS")
    assert(error.getMessage.contains("20") && error.getMessage.contains(Shard.shard.value), error.getMessage)
  }

  test("a range whose first records have expired is data loss, and its remaining records are read if loss is allowed") {
    val table = Seq[(String, RangeEnd, Seq[Step], Boolean, Seq[Int])](
      ("the range is complete", at(14), Seq(Records(5, 0, 11, 12), Records(0, 0, 12, 13, 14)), false, 11 to 14),
      (
        "records expire between two responses",
        at(15),
        Seq(Records(5, 0, 11, 12), Records(0, 0, 14, 15)),
        true,
        Seq(11, 12, 14, 15)
      ),
      (
        "a response has the last record only",
        at(13),
        Seq(Records(5, 0, 11), Records(5, 0), Records(5, 0, 11), Records(0, 0, 12, 13)),
        false,
        11 to 13
      ),
      (
        "the records after the last response are gone",
        at(14),
        Seq(Records(5, 0, 11, 12), Records(0, 0, 12), Records(0, 0), Records(0, 0)),
        true,
        11 to 12
      ),
      ("the shard ends after the last record", RangeEnd.ShardEnd, Seq(Records(5, 0, 11), End), false, Seq(11)),
      ("a record without rows is before the first one", at(12), Seq(Records(0, 0, 9, 10, 12)), false, Seq(9, 10, 12)),
      ("the first record is missing", at(14), Seq(Records(5, 0), Records(0, 0, 13, 14)), true, Seq(13, 14)),
      ("only later records are left", at(14), Seq(Records(0, 0, 20)), true, Nil),
      ("the shard ends without it", RangeEnd.ShardEnd, Seq(Records(0, 0, 12), End), true, Seq(12)),
      ("nothing is left of the shard", RangeEnd.ShardEnd, Seq(End), true, Nil)
    )
    table.foreach { case (what, end, steps, isLost, left) =>
      val lost = mutable.Buffer.empty[KinesisConnectorException]
      val found = read(end, new Script(steps: _*), failOnDataLoss = false, Some(11), lost += _)
      assert(found == left && lost.map(_.condition) == (if (isLost) Seq("KINESIS_DATA_LOSS") else Nil), what)
      if (isLost) {
        val error = intercept[KinesisConnectorException](read(end, new Script(steps: _*), firstArrival = Some(11)))
        assert(error.condition == "KINESIS_DATA_LOSS", what)
      }
    }
  }

  test("one empty response at the tip is no data loss") {
    assert(read(at(11), new Script(Records(0, 0), Records(0, 0), Records(0, 0, 11))) == Seq(11))
  }

  test("without failOnDataLoss a read returns the remaining records of the range and ends") {
    assert(
      read(at(20), new Script(Records(100, 0, 15, 16), Records(100, 0, 25)), failOnDataLoss = false) ==
        Seq(15, 16)
    )
  }

  test("a read until the shard end returns all records") {
    assert(
      read(RangeEnd.ShardEnd, new Script(Records(5, 0, 11), Records(0, 0), Records(0, 0, 12), End)) ==
        Seq(11, 12)
    )
  }

  test("a read until a time ends at the first later record and does not return it") {
    assert(
      read(RangeEnd.ArrivedBy(13), new Script(Records(9, 100, 11, 12), Records(9, 100, 13, 14))) ==
        Seq(11, 12, 13)
    )
  }

  test("a read of the current records ends at the tip") {
    assert(read(RangeEnd.ArrivedBy(50), new Script(Records(9, 60, 11), Records(0, 61, 12))) == Seq(11, 12))
  }

  test("a read up to a past time ends even if the clock is behind the service's") {
    val tips = Seq.fill(3)(Records(0, 20))
    assert(read(RangeEnd.ArrivedBy(50), new Script(Records(0, 20, 11) +: tips: _*)) == Seq(11))
  }

  test("reaching the tip before the given time does not end the read") {
    assert(
      read(RangeEnd.ArrivedBy(50), new Script(Records(0, 40, 11), Records(0, 45), Records(0, 51, 12))) ==
        Seq(11, 12)
    )
  }

  test("a failure of the service is thrown to the caller") {
    val denied =
      new ServiceException(ServiceErrorKind.AccessDenied, Operation.GetRecords, "AccessDeniedException", "no")
    assert(intercept[ServiceException](read(at(20), new Script(Records(9, 0, 11), Failure(denied)))) eq denied)
  }

  test("closing early cancels the publisher and ends the iterator") {
    val script = new Script(Records(9, 0, 11, 12))
    val chunks = new ChunkBuilder(DecodeSettings.of(Options.defaults), None, new ConsumerMetrics)
    val reader = new RangeReader(script, Shard, TrimHorizon, RangeEnd.ShardEnd, chunks)
    reader.close()
    assert(!reader.hasNext)
    assert(script.cancelled)
  }
}
