package org.sparkkinesis.model

/**
 * A record as the service delivers it, before any de-aggregation.
 *
 * @param sequenceNumber
 *   the service's number, digits only
 * @param partitionKey
 *   null for streams that distribute records themselves
 * @param arrivalMillis
 *   approximate arrival time, epoch milliseconds; not necessarily ascending
 * @param data
 *   the payload; never changed after construction
 * @param encryptionType
 *   null when not encrypted
 */
final class KinesisRecord(
    val sequenceNumber: String,
    val partitionKey: String,
    val arrivalMillis: Long,
    val data: Array[Byte],
    val encryptionType: String
) extends Serializable {

  /** Payload and key as the service counts them; the key is taken for one byte a character. */
  def size: Int = data.length + (if (partitionKey == null) 0 else partitionKey.length)
}

object KinesisRecord {

  /**
   * What an answer or an event says of a record.
   *
   * @param data
   *   null for an empty payload
   * @param encryptionType
   *   streams without encryption say either nothing or NONE
   */
  def delivered(
      sequenceNumber: String,
      partitionKey: String,
      arrivalMillis: Long,
      data: Array[Byte],
      encryptionType: String
  ): KinesisRecord = new KinesisRecord(
    sequenceNumber,
    partitionKey,
    arrivalMillis,
    if (data == null) Array.emptyByteArray else data,
    if (encryptionType == "NONE") null else encryptionType
  )

  /** Bytes of all of them, as [[KinesisRecord.size]] counts. */
  def sizeOf(records: IndexedSeq[KinesisRecord]): Long = {
    var bytes = 0L
    var i = 0
    while (i < records.length) {
      bytes += records(i).size
      i += 1
    }
    bytes
  }
}
