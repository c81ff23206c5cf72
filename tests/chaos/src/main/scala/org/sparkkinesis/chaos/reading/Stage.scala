package org.sparkkinesis.chaos.reading

import scala.concurrent.duration._

import org.sparkkinesis.chaos.Producer
import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}

/** Executes the events of the service, and records in the ledger which records they destroy. */
final private[reading] class Stage(
    kinesis: KinesisEmulator,
    producers: Map[String, Producer],
    ledger: LossLedger,
    streams: Vector[String]
) {
  import Stage._

  /** Deleted streams, with the time and the number of shards of their recreation. */
  private var deleted = Map.empty[String, (Deadline, Int)]

  def split(stream: Int, pick: Int): Boolean = living(stream).exists { name =>
    val shards = open(name)
    val can = shards.size < OpenShards.end
    if (can) kinesis.admin.splitShard(name, shards(pick % shards.size).id.value)
    can
  }

  def merge(stream: Int, pick: Int): Boolean = living(stream).exists { name =>
    val shards = open(name)
    val can = shards.size > OpenShards.start
    if (can) {
      val i = pick % (shards.size - 1)
      kinesis.admin.mergeShards(name, shards(i).id.value, shards(i + 1).id.value)
    }
    can
  }

  def leaveOut(stream: Int, pick: Int): Boolean = living(stream).exists { name =>
    val newest = kinesis.admin.shards(name).takeRight(OpenShards.end)
    val shard = newest(pick % newest.size).id.value
    kinesis.faults.add(FaultRule(FaultEffect.LeaveOut, "ListShards", name, shard, count = 1))
    true
  }

  def fault(rule: String): Boolean = {
    kinesis.admin.addFault(rule)
    true
  }

  /** Advances the clock of the service while no record is being put. */
  def jump(hours: Int): Boolean = {
    paused(streams) {
      val before = kinesis.admin.clock.millis
      kinesis.admin.advanceClock(hours.hours.toMillis)
      ledger.jumped(counts, before, kinesis.admin.clock.millis)
    }
    true
  }

  def recreate(stream: Int, shards: Int, millis: Int): Boolean = living(stream).exists { name =>
    producers(name).pause()
    kinesis.admin.deleteStream(name)
    ledger.deleted(name, producers(name).count)
    deleted += name -> (millis.millis.fromNow -> shards)
    true
  }

  /** Recreates the streams that are due. */
  def tick(): Unit = deleted.foreach { case (name, (due, shards)) => if (due.isOverdue()) create(name, shards) }

  /** Ends all faults. */
  def heal(): Unit = {
    kinesis.faults.clear()
    deleted.foreach { case (name, (_, shards)) => create(name, shards) }
  }

  def counts: Map[String, Long] = producers.map { case (name, producer) => name -> producer.count }

  private def create(name: String, shards: Int): Unit = {
    kinesis.admin.createStream(name, shards)
    deleted -= name
    producers(name).resume()
  }

  private def paused(names: Seq[String])(body: => Unit): Unit = {
    val writing = names.filterNot(deleted.contains).map(producers)
    writing.foreach(_.pause())
    try body
    finally writing.foreach(_.resume())
  }

  private def living(stream: Int): Option[String] = Some(streams(stream % streams.size)).filterNot(deleted.contains)

  private def open(name: String) = kinesis.admin.shards(name).filter(_.isOpen).sortBy(_.hashKeyRange.start)
}

private object Stage {
  val OpenShards: Range.Inclusive = 2 to 12
}
