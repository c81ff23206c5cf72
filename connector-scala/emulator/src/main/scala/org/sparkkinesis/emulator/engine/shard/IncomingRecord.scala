package org.sparkkinesis.emulator.engine.shard

import org.sparkkinesis.model.HashPoint

/** A record to put, with the place in the key space that it goes to. `size` counts payload and UTF-8 key. */
final class IncomingRecord(val partitionKey: String, val data: Array[Byte], val hash: HashPoint, val size: Int)
