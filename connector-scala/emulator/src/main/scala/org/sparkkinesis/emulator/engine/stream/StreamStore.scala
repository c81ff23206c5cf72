package org.sparkkinesis.emulator.engine.stream

import org.sparkkinesis.emulator.engine.shard.{ShardLog, StoredRecord}

/** Keeps streams after the end of the process. Called after each change, from any thread. */
trait StreamStore extends AutoCloseable {
  def settingsChanged(stream: DataStream): Unit
  def appended(stream: DataStream, shard: ShardLog, record: StoredRecord): Unit
  def deleted(stream: DataStream): Unit
}

object StreamStore {

  /** Stores nothing. All streams are lost when the emulator ends. */
  object None extends StreamStore {
    override def settingsChanged(stream: DataStream): Unit = ()
    override def appended(stream: DataStream, shard: ShardLog, record: StoredRecord): Unit = ()
    override def deleted(stream: DataStream): Unit = ()
    override def close(): Unit = ()
  }
}
