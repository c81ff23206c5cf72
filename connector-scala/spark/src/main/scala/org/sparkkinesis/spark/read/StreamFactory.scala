package org.sparkkinesis.spark.read

import org.apache.spark.sql.types.StructType

import org.sparkkinesis.spark.session.StreamSession

/** Creates the streams of scans. Its signature names no type that only some Spark versions have. */
private[sparkkinesis] trait StreamFactory {
  def create(session: StreamSession, checkpointLocation: String, schema: StructType): KinesisMicroBatchStream
}

private[sparkkinesis] object StreamFactory {
  private val RealTimeMode = "org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode"
  private val RealTimeStreams = "org.sparkkinesis.spark.read.realtime.RealTimeStreams"

  /** The factory for this version of Spark: before 4.1 there is no real-time mode, and its types cannot be loaded. */
  lazy val ofSpark: StreamFactory =
    if (hasClass(RealTimeMode))
      Class.forName(RealTimeStreams, true, loader).getDeclaredConstructor().newInstance().asInstanceOf[StreamFactory]
    else new KinesisMicroBatchStream(_, _, _)

  private def loader: ClassLoader = getClass.getClassLoader

  private def hasClass(name: String): Boolean =
    try {
      Class.forName(name, false, loader)
      true
    } catch { case _: ClassNotFoundException => false }
}
