package org.sparkkinesis.chaos.firehose

import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.chaos.writing.CopyDestination
import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}

/** A delivery stream that refuses a tenth of its records. */
object DeliveryStreamDestination extends CopyDestination {
  override def format: String = "firehose"

  override def prepare(kinesis: KinesisEmulator): Unit = {
    kinesis.admin.createDeliveryStream(CopyDestination.Name)
    kinesis.faults.add(FaultRule(
      FaultEffect.FailEntries("InternalFailure", "injected"),
      operation = "PutRecordBatch",
      probability = 0.1
    ))
    ()
  }

  override def count(kinesis: KinesisEmulator): Long = kinesis.admin.deliveredRecords(CopyDestination.Name)
  override def arrived(kinesis: KinesisEmulator): Seq[Long] = lines(kinesis, CopyDestination.Name)

  /** The numbers in all files of a delivery stream, one in each line. */
  def lines(kinesis: KinesisEmulator, name: String): Seq[Long] =
    Using.resource(Files.walk(kinesis.deliveryFolder.resolve(name))) { paths =>
      paths.iterator.asScala.filter(Files.isRegularFile(_)).flatMap(Files.readAllLines(_).asScala)
        .map(_.trim.toLong).toVector
    }
}
