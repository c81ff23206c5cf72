package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.model.StartingPosition.AfterSequenceNumber
import org.sparkkinesis.model._
import org.sparkkinesis.service.{Operation, RecordPage}

/**
 * A stream whose shards always have more records than a reader takes. All records have the same payload, so that hours
 * of a stream need no memory. Each record has a sequence number of its own: its index in the shard.
 */
final class EndlessStream(scheduler: Scheduler, recordBytes: Int) extends FakeKinesis(scheduler, 10.millis) {
  private val payload = new Array[Byte](recordBytes)

  /** Bytes of all answers. */
  var servedBytes = 0L

  override def getShardIterator(
      stream: StreamRef,
      shardId: ShardId,
      position: StartingPosition
  ): CompletableFuture[String] = answer(Operation.GetShardIterator) {
    position match {
      case AfterSequenceNumber(number) => (number.value.toLong + 1).toString
      case _ => "1"
    }
  }

  override def getRecords(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage] =
    answer(Operation.GetRecords) {
      val first = iterator.toLong
      val count = math.max(1, math.min(limit, KinesisQuotas.Request.GetRecordsBytes / (recordBytes + 3)))
      val page = Vector.tabulate(count)(index =>
        new KinesisRecord((first + index).toString, "key", scheduler.currentMillis, payload, null)
      )
      servedBytes += page.iterator.map(_.size.toLong).sum
      RecordPage(page, Some((first + count).toString), 1000, Nil)
    }
}
