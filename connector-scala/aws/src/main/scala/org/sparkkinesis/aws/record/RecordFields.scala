package org.sparkkinesis.aws.record

import org.sparkkinesis.model.packed.PackedRecords

/**
 * Decodes the records of a response or an event into columns. It allocates nothing for a record but its payload, and
 * reads each byte once.
 *
 * @param expectedRows
 *   expected number of records
 */
final private[aws] class RecordFields(input: RecordInput, expectedRows: Int) extends FieldReader {
  import RecordFields._

  private val records = new PackedRecords.Builder(expectedRows)

  /** Reads the array of records. */
  def readAll(): Unit = input.array {
    input.map(this)
    endRecord()
  }

  /** Notes the payload of the current record. */
  def data(payload: Array[Byte]): Unit = records.data(payload)

  /** Completes the current record. */
  def endRecord(): Unit = records.endRecord()

  override def read(field: Int): Unit = field match {
    case SequenceNumber => input.text(records.sequenceNumbers)
    case PartitionKey => input.text(records.keys)
    case Data => data(input.bytes())
    case ArrivalTimestamp => records.arrivalMillis(input.time())
    case EncryptionType => records.encryptionType(input.word())
    case _ => input.skip()
  }

  def result(): PackedRecords = records.result()
}

private[aws] object RecordFields {
  final val SequenceNumber = 0
  final val PartitionKey = 1
  final val Data = 2
  final val ArrivalTimestamp = 3
  final val EncryptionType = 4
  final val Records = 5
  final val MillisBehindLatest = 6
  final val ChildShards = 7
  final val NextIterator = 8
  final val Continuation = 9
  final val ShardId = 10
  final val ParentShards = 11
  final val HashKeyRange = 12
  final val StartingHashKey = 13
  final val EndingHashKey = 14
  final val ErrorCode = 15
  final val ErrorMessage = 16
  final val ErrorType = 17
  final val Message = 18
  final val CapitalMessage = 19

  /** The names of the numbers above, in this order. */
  val Names: FieldNames = new FieldNames(
    "SequenceNumber",
    "PartitionKey",
    "Data",
    "ApproximateArrivalTimestamp",
    "EncryptionType",
    "Records",
    "MillisBehindLatest",
    "ChildShards",
    "NextShardIterator",
    "ContinuationSequenceNumber",
    "ShardId",
    "ParentShards",
    "HashKeyRange",
    "StartingHashKey",
    "EndingHashKey",
    "ErrorCode",
    "ErrorMessage",
    "__type",
    "message",
    "Message"
  )

  /** Values of [[EncryptionType]]. */
  val EncryptionTypes: IndexedSeq[String] = Vector("NONE", "KMS")
  val EncryptionNames: FieldNames = new FieldNames(EncryptionTypes: _*)

  /** Bytes of a response for each record, to estimate their number. */
  private val ExpectedRecordBytes = 320

  def expectedRows(responseBytes: Long): Int =
    math.min(PackedRecords.MaxRows.toLong, responseBytes / ExpectedRecordBytes + 1).toInt
}
