package org.sparkkinesis.chaos.writing

import org.sparkkinesis.emulator.KinesisEmulator

/** What a query that copies lines writes to. */
trait CopyDestination {

  /** The format of the sink. */
  def format: String

  /** Creates the destination in the emulator. */
  def prepare(kinesis: KinesisEmulator): Unit

  /** The number of records that have arrived. */
  def count(kinesis: KinesisEmulator): Long

  /** The numbers of the records that have arrived. */
  def arrived(kinesis: KinesisEmulator): Seq[Long]
}

object CopyDestination {
  val Name = "copied"

  /** A stream with four shards. */
  object Stream extends CopyDestination {
    override def format: String = "kinesis"
    override def prepare(kinesis: KinesisEmulator): Unit = {
      kinesis.admin.createStream(Name, 4)
      ()
    }
    override def count(kinesis: KinesisEmulator): Long = kinesis.admin.recordCount(Name)
    override def arrived(kinesis: KinesisEmulator): Seq[Long] = Arrivals.of(kinesis, Name).map(_.number)
  }
}
