package org.sparkkinesis.emulator.engine.shard

import org.sparkkinesis.model.hash.HashPoint

/**
 * A record to put, with its position in the hash key space. `size` is the number of bytes of payload and UTF-8 key.
 */
final class IncomingRecord(val partitionKey: String, val data: Array[Byte], val hash: HashPoint, val size: Int)
