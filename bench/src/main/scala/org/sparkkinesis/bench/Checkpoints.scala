package org.sparkkinesis.bench

object Checkpoints {

  /**
   * The settings that docs/reading.md recommends for checkpoints on a local disk. They write files without a child
   * process for permissions.
   */
  val OnLocalDisk: Map[String, String] = Map(
    "spark.sql.streaming.checkpointFileManagerClass" ->
      "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.hadoop.fs.file.impl" -> "org.apache.hadoop.fs.RawLocalFileSystem"
  )
}
