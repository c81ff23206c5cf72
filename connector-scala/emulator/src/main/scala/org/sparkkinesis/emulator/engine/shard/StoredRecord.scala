package org.sparkkinesis.emulator.engine.shard

/**
 * A record as a shard keeps it. `size` is payload and UTF-8 key, as the service counts it; `encryptionType` and, for
 * streams that distribute records themselves, `partitionKey` may be null.
 */
final class StoredRecord(
    val sequenceNumber: String,
    val seqIx: Long,
    val arrivalMillis: Long,
    val partitionKey: String,
    val data: Array[Byte],
    val size: Int,
    val encryptionType: String
)

/** What a read found: the records, and the arrival time of the first one after them, or -1 at the tip. */
final class ReadResult(val records: Array[StoredRecord], val bytes: Long, val nextArrivalMillis: Long)
