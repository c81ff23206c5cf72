package org.sparkkinesis.emulator.engine.stream

import org.sparkkinesis.emulator.engine.shard.{ShardLog, StoredRecord}

/** Keeps streams after the end of the process. Called after each change, from any thread. */
trait StreamStore extends AutoCloseable {
  def settingsChanged(stream: StreamState): Unit
  def appended(stream: StreamState, shard: ShardLog, record: StoredRecord): Unit
  def deleted(stream: StreamState): Unit
}

object StreamStore {

  /** Keeps nothing: streams end with the emulator. */
  object None extends StreamStore {
    override def settingsChanged(stream: StreamState): Unit = ()
    override def appended(stream: StreamState, shard: ShardLog, record: StoredRecord): Unit = ()
    override def deleted(stream: StreamState): Unit = ()
    override def close(): Unit = ()
  }
}
