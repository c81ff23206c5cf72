package org.sparkkinesis.model

/**
 * A record as the service delivers it, before de-aggregation.
 *
 * @param sequenceNumber
 *   sequence number, digits only
 * @param partitionKey
 *   null for streams with automatic record distribution
 * @param arrivalMillis
 *   approximate arrival time, epoch milliseconds; not necessarily ascending
 * @param data
 *   the payload, which must not be modified
 * @param encryptionType
 *   null if the record is not encrypted
 */
final class KinesisRecord(
    val sequenceNumber: String,
    val partitionKey: String,
    val arrivalMillis: Long,
    val data: Array[Byte],
    val encryptionType: String
) extends Serializable {

  /** Size of payload and key as the service counts it, assuming one byte per character of the key. */
  def size: Int = data.length + (if (partitionKey == null) 0 else partitionKey.length)
}

object KinesisRecord {

  /**
   * Creates a record from the fields of a response or an event.
   *
   * @param data
   *   null for an empty payload
   * @param encryptionType
   *   null or NONE for a stream without encryption
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
}
