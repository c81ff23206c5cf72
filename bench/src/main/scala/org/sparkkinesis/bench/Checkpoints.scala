package org.sparkkinesis.bench

import org.apache.spark.sql.SparkSession

object Checkpoints {
  private val FileManager = "spark.sql.streaming.checkpointFileManagerClass"

  /**
   * The settings that docs/reading.md recommends for checkpoints on a local disk. They write files without a child
   * process for permissions.
   */
  val OnLocalDisk: Map[String, String] = Map(
    FileManager ->
      "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.hadoop.fs.file.impl" -> "org.apache.hadoop.fs.RawLocalFileSystem"
  )

  /** Returns a session of the same application that writes checkpoints with Spark's default file manager. */
  def withSparkDefaults(spark: SparkSession): SparkSession = {
    val session = spark.newSession()
    session.conf.unset(FileManager)
    session
  }
}
