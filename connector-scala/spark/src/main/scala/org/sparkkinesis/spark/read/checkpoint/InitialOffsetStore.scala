package org.sparkkinesis.spark.read.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets
import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.plan.{OffsetCodec, SourceOffset}

/**
 * Keeps where a query began, beside its checkpoint: Spark's offset log holds only the ends of batches, and a restart before the
 * first one must not begin anywhere else. Written once.
 */
final class InitialOffsetStore(location: String, conf: Configuration) {
  private val file = new Path(location, "initial-offset")

  /**
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_UNWRITABLE, KINESIS_OFFSET_INVALID
   */
  def getOrElseUpdate(choose: => SourceOffset): SourceOffset =
    try
      read().getOrElse {
        val chosen = choose
        write(chosen)
        chosen
      }
    catch {
      case failure: IOException =>
        throw KinesisConnectorException.causedBy(
          failure,
          "KINESIS_CHECKPOINT_UNWRITABLE",
          "location" -> location,
          "reason" -> String.valueOf(failure.getMessage)
        )
    }

  private def read(): Option[SourceOffset] =
    try
      Using.resource(file.getFileSystem(conf).open(file)) { in =>
        Some(OffsetCodec.decode(new String(in.readAllBytes(), StandardCharsets.UTF_8)))
      }
    catch { case _: FileNotFoundException => None }

  /** First under another name, so that a crash never leaves half a file. */
  private def write(offset: SourceOffset): Unit = {
    val files = file.getFileSystem(conf)
    val unfinished = new Path(location, s".initial-offset.${UUID.randomUUID()}")
    files.mkdirs(file.getParent)
    Using.resource(files.create(
      unfinished,
      false
    ))(_.write(OffsetCodec.encode(offset).getBytes(StandardCharsets.UTF_8)))
    if (!files.rename(unfinished, file)) throw new IOException(s"$unfinished could not be renamed to $file")
  }
}
