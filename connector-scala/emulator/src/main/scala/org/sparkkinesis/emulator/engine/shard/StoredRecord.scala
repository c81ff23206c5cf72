package org.sparkkinesis.emulator.engine.shard

/**
 * A record that a shard holds. `size` is the number of bytes of payload and UTF-8 key, as the service counts it.
 * `encryptionType` may be null, and so may `partitionKey` in streams that ignore partition keys.
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

/** The result of a read: the records, and the arrival time of the first record after them, or -1 if there is none. */
final class ReadResult(val records: Array[StoredRecord], val bytes: Long, val nextArrivalMillis: Long)
