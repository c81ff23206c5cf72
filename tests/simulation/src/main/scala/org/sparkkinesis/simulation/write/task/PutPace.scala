package org.sparkkinesis.simulation.write.task

import scala.collection.mutable

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.model.{ModelShard, PutCall}

/**
 * Checks that the sink keeps to the limits of PutRecords, and to what `shardLimits` promises: in the second after a
 * process was told that a shard throttles, it sends at most [[PutPace.Factor]] times as much to this shard as the
 * service documents.
 *
 * @param isLimited
 *   whether each shard has its own limits
 * @param countsRecords
 *   whether an entry of the sink is a record of the shard; with aggregation, only bytes approach the limits
 */
final class PutPace(isLimited: Boolean, countsRecords: Boolean) {
  import PutPace._

  private val calls = mutable.ArrayBuffer.empty[PutCall]

  /** Records a call and checks its size. */
  def add(call: PutCall): Unit = {
    calls += call
    val bytes = call.entries.iterator.map(_.size.toLong).sum
    def refuse(what: String): Unit = throw new Violation("quota", s"request ${call.number} has $what")
    if (call.entries.isEmpty || call.entries.size > KinesisQuotas.Request.PutRecordsEntries)
      refuse(s"${call.entries.size} entries, of ${KinesisQuotas.Request.PutRecordsEntries} that may be")
    if (bytes > KinesisQuotas.Request.PutRecordsBytes)
      refuse(s"$bytes bytes, of ${KinesisQuotas.Request.PutRecordsBytes} that may be")
    call.entries.find(_.size > KinesisQuotas.Record.DefaultMaxBytes).foreach(entry =>
      refuse(s"a record of ${entry.size} bytes, of ${KinesisQuotas.Record.DefaultMaxBytes} that may be")
    )
  }

  /** Checks the rates of all calls so far, and forgets the calls. */
  def check(): Unit = {
    if (isLimited) {
      val sends = for (call <- calls; (shard, offers) <- call.offers.groupBy(_.shard)) yield Send(
        call.process,
        shard,
        call.sentMillis,
        call.answeredMillis.filter(_ => offers.exists(_.isThrottled)),
        offers.size.toLong,
        offers.iterator.map(_.bytes.toLong).sum
      )
      sends.groupBy(send => (send.process, send.shard)).foreach { case ((process, shard), same) =>
        check(process, shard, same.sortBy(_.sentMillis).toVector)
      }
    }
    calls.clear()
  }

  private def check(process: String, shard: ModelShard, sends: Vector[Send]): Unit = {
    var from = 0
    var until = 0
    var records = 0L
    var bytes = 0L
    sends.flatMap(_.toldMillis).distinct.sorted.foreach { told =>
      while (until < sends.size && sends(until).sentMillis <= told + WindowMillis) {
        records += sends(until).records
        bytes += sends(until).bytes
        until += 1
      }
      while (from < until && sends(from).sentMillis <= told) {
        records -= sends(from).records
        bytes -= sends(from).bytes
        from += 1
      }
      if (countsRecords && records > Factor * KinesisQuotas.Shard.WriteRecordsPerSecond)
        throw new Violation("quota", s"$process sent $records records in a second to ${shard.id}, which throttles")
      if (bytes > Factor * KinesisQuotas.Shard.WriteBytesPerSecond)
        throw new Violation("quota", s"$process sent $bytes bytes in a second to ${shard.id}, which throttles")
    }
  }
}

object PutPace {

  /** Before the first throttling there is no limit, and requests that were filled then are sent after it. */
  val Factor = 5
  private val WindowMillis = 1000L

  /**
   * What one call asked of one shard.
   *
   * @param toldMillis
   *   the time at which the caller was told that the shard throttles
   */
  final private case class Send(
      process: String,
      shard: ModelShard,
      sentMillis: Long,
      toldMillis: Option[Long],
      records: Long,
      bytes: Long
  )
}
