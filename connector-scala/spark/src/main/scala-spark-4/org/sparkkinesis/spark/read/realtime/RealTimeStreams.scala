package org.sparkkinesis.spark.read.realtime

import org.apache.spark.sql.types.StructType

import org.sparkkinesis.spark.read.{KinesisMicroBatchStream, StreamFactory}
import org.sparkkinesis.spark.session.StreamSession

/** Creates streams that support real-time mode. Loaded by name, and only where Spark has that mode. */
final class RealTimeStreams extends StreamFactory {
  override def create(session: StreamSession, checkpointLocation: String, schema: StructType): KinesisMicroBatchStream =
    new RealTimeKinesisStream(session, checkpointLocation, schema)
}
