package org.sparkkinesis.aws.getrecords

import java.util.Arrays

import org.sparkkinesis.aws.record.{CborInput, FieldReader, MoreBytesNeeded, RecordFields, UnreadableAnswer}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, ShardId}
import org.sparkkinesis.service.RecordPage

/**
 * Decodes the CBOR of a GetRecords response while it arrives, in pieces of any length, without collecting it: keys,
 * numbers and times go into columns, and each payload into its array. Unknown fields are skipped. Not thread-safe.
 *
 * Its methods throw [[UnreadableAnswer]] or `IllegalArgumentException` if the bytes are not a GetRecords response.
 *
 * @param length
 *   number of bytes of the response, or a negative number if it is unknown
 */
final private[aws] class GetRecordsAnswer(length: Long) {
  import GetRecordsAnswer._

  private val cbor = new CborInput(mayContinue = true)
  private val records = new RecordFields(cbor, RecordFields.expectedRows(math.max(0, length)))
  private var children: Seq[ChildShard] = Nil
  private var next = Option.empty[String]
  private var millisBehindLatest = 0L

  // Where the next value belongs, and how many values are left there.
  private var place = Begin
  private var fieldsLeft = 0L
  private var recordsLeft = 0L
  private var recordFieldsLeft = 0L

  /** A payload whose bytes arrive. */
  private var payload: Array[Byte] = null
  private var payloadLength = 0

  /** The bytes of a value that has not arrived completely. */
  private var kept = Array.emptyByteArray
  private var keptLength = 0

  private val isSized = length >= 0

  /** Number of bytes that have not arrived, if the length is known. */
  private var later = length

  /** Decodes the bytes of an array from `from` to `until`, which may change afterwards. */
  def add(array: Array[Byte], from: Int, until: Int): Unit = {
    var at = from
    later -= until - from
    while (keptLength > 0 && at < until) {
      // Only as many bytes as the value needs, so that the others are read where they are.
      val count = math.min(cbor.missing, until - at)
      keep(array, at, count)
      at += count
      val read = decode(kept, 0, keptLength, until - at)
      System.arraycopy(kept, read, kept, 0, keptLength - read)
      keptLength -= read
    }
    if (at < until) {
      val read = decode(array, at, until, 0)
      if (read < until) keep(array, read, until - read)
    }
  }

  /** Returns the page when the whole response has arrived. */
  def page(): RecordPage = {
    if (place != End) throw new UnreadableAnswer("The response ended before its last value")
    RecordPage(records.result(), next, millisBehindLatest, children)
  }

  private def keep(array: Array[Byte], from: Int, count: Int): Unit = {
    if (kept.length - keptLength < count) {
      val least = math.max(keptLength + count, LeastKept)
      kept = Arrays.copyOf(kept, math.max(least, math.min(kept.length * 2L, Int.MaxValue - 8L).toInt))
    }
    System.arraycopy(array, from, kept, keptLength, count)
    keptLength += count
  }

  /**
   * Reads the complete values of a range. Returns the index of the first byte of the others.
   *
   * @param rest
   *   number of bytes that have arrived, but are not a part of the range
   */
  private def decode(array: Array[Byte], from: Int, until: Int, rest: Int): Int = {
    cbor.reset(array, from, until)
    var read = from
    try
      while (step(rest)) read = cbor.position
    catch { case MoreBytesNeeded => () }
    // The rest of a payload goes into its array.
    if (payload != null) cbor.position else if (place == End) until else read
  }

  /** Reads one value. Changes nothing if the value is not complete. Returns false if nothing is left to read. */
  private def step(rest: Int): Boolean = place match {
    case InRecord =>
      if (payload != null) fill()
      else if (!cbor.hasMore(recordFieldsLeft)) {
        records.endRecord()
        place = InRecords
        true
      } else {
        val field = cbor.name()
        if (field == RecordFields.Data) beginPayload(rest) else records.read(field)
        recordFieldsLeft -= 1
        payload == null || fill()
      }
    case InRecords =>
      if (!cbor.hasMore(recordsLeft)) place = InFields
      else {
        recordFieldsLeft = cbor.beginMap()
        recordsLeft -= 1
        place = InRecord
      }
      true
    case InFields =>
      if (!cbor.hasMore(fieldsLeft)) place = End
      else {
        field()
        fieldsLeft -= 1
      }
      true
    case Begin =>
      fieldsLeft = cbor.beginMap()
      place = InFields
      true
    case End => false
  }

  private def field(): Unit = cbor.name() match {
    case RecordFields.Records =>
      recordsLeft = cbor.beginArray()
      place = InRecords
    case RecordFields.NextIterator => next = Option(cbor.text())
    case RecordFields.MillisBehindLatest => millisBehindLatest = cbor.integer()
    case RecordFields.ChildShards =>
      val found = Seq.newBuilder[ChildShard]
      cbor.array(found += child())
      children = found.result()
    case _ => cbor.skip()
  }

  /** Allocates the array of a payload that arrives in parts, but no memory for bytes that may not come. */
  private def beginPayload(rest: Int): Unit = {
    val length = if (isSized) cbor.beginPartOfBytes(LeastKept) else -1
    if (length < 0) records.data(cbor.bytes())
    else if (length > later + rest + cbor.available)
      throw new UnreadableAnswer(s"CBOR announces a payload of $length bytes and ends before them")
    else {
      payload = new Array[Byte](length)
      payloadLength = 0
    }
  }

  /** Returns whether the payload is complete. */
  private def fill(): Boolean = {
    payloadLength += cbor.take(payload, payloadLength, payload.length - payloadLength)
    val isFull = payloadLength == payload.length
    if (isFull) {
      records.data(payload)
      payload = null
    }
    isFull
  }

  private def child(): ChildShard = {
    var id: String = null
    val parents = Seq.newBuilder[ShardId]
    var start = BigInt(0)
    var end = HashKeyRange.Max
    val range: FieldReader = {
      case RecordFields.StartingHashKey => start = BigInt(cbor.text())
      case RecordFields.EndingHashKey => end = BigInt(cbor.text())
      case _ => cbor.skip()
    }
    cbor.map {
      case RecordFields.ShardId => id = cbor.text()
      case RecordFields.ParentShards => cbor.array(parents += ShardId(cbor.text()))
      case RecordFields.HashKeyRange => cbor.map(range)
      case _ => cbor.skip()
    }
    ChildShard(ShardId(id), parents.result(), HashKeyRange(start, end))
  }
}

private object GetRecordsAnswer {
  final val Begin = 0
  final val InFields = 1
  final val InRecords = 2
  final val InRecord = 3
  final val End = 4

  /** A shorter value that arrives in parts is collected. */
  final val LeastKept = 1024
}
