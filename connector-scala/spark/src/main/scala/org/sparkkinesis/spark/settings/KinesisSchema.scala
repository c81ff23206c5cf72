package org.sparkkinesis.spark.settings

import org.apache.spark.sql.types._

/** The columns of a stream, with the names and types of Databricks' connector. */
object KinesisSchema {
  val PartitionKey = "partitionKey"
  val Data = "data"
  val Stream = "stream"
  val StreamId = "streamId"
  val ShardId = "shardId"
  val SequenceNumber = "sequenceNumber"
  val ArrivalTimestamp = "approximateArrivalTimestamp"
  val SubSequenceNumber = "subSequenceNumber"
  val ExplicitHashKey = "explicitHashKey"
  val EncryptionType = "encryptionType"
  val Aggregated = "aggregated"
  val StreamArn = "streamArn"

  val columns: StructType = StructType(
    Seq(
      StructField(PartitionKey, StringType),
      StructField(Data, BinaryType),
      StructField(Stream, StringType),
      StructField(ShardId, StringType),
      StructField(SequenceNumber, StringType),
      StructField(ArrivalTimestamp, TimestampType)
    )
  )

  /** The metadata columns, which a query gets by naming them, with their comments. */
  val metadata: Seq[(StructField, String)] = Seq(
    StructField(SubSequenceNumber, LongType) -> "Position within a KPL aggregate; 0 for a plain record.",
    StructField(ExplicitHashKey, StringType) -> "Hash key that the producer set, if an aggregate contains it.",
    StructField(EncryptionType, StringType) -> "KMS when the record was encrypted at rest, else null.",
    StructField(Aggregated, BooleanType) -> "Whether the record came in a KPL aggregate.",
    StructField(StreamArn, StringType) -> "ARN of the stream, which differs for streams with the same name.",
    StructField(StreamId, StringType) -> "Id of the logical stream, or null if the query reads no logical stream."
  )

  /** All columns, in the order in which streaming plans number them. */
  val all: StructType = StructType(columns.fields ++ metadata.map(_._1))
}
