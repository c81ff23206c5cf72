package org.sparkkinesis.model

/**
 * Identifies a user record within a shard.
 *
 * @param subSequenceNumber
 *   index of the user record in its aggregate
 */
final case class UserRecord(sequenceNumber: SequenceNumber, subSequenceNumber: Long)
