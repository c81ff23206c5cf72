package org.sparkkinesis.bench

object Checkpoints {

  /** What docs/reading.md recommends for checkpoints on a local disk: files are written without a process for each permission. */
  val OnLocalDisk: Map[String, String] = Map(
    "spark.sql.streaming.checkpointFileManagerClass" ->
      "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.hadoop.fs.file.impl" -> "org.apache.hadoop.fs.RawLocalFileSystem"
  )
}
