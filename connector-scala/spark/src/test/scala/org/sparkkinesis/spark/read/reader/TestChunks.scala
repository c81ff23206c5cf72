package org.sparkkinesis.spark.read.reader

import org.sparkkinesis.aggregate.Containers
import org.sparkkinesis.aggregate.Containers.User
import org.sparkkinesis.chunk.{Chunk, ChunkBuilder, DecodeSettings}
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.KinesisRecord

/** Builds chunks from records as the consumers do. */
object TestChunks {
  def plain(number: Int, text: String, key: String = "k", arrival: Long = 0, encryption: String = null): KinesisRecord =
    new KinesisRecord(number.toString, key, arrival, text.getBytes("UTF-8"), encryption)

  def aggregate(number: Int, users: User*): KinesisRecord =
    new KinesisRecord(number.toString, "a", number.toLong, Containers.of(users: _*), null)

  def chunk(behind: Long, records: KinesisRecord*): Chunk =
    new ChunkBuilder(
      DecodeSettings.of(Options.defaults),
      None,
      new ConsumerMetrics
    ).build(records.toVector, behind).head
}
