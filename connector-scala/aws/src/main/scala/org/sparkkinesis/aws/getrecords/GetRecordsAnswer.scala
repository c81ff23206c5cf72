package org.sparkkinesis.aws.getrecords

import java.io.InputStream

import org.sparkkinesis.aws.record.{CborInput, FieldReader, RecordFields}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, ShardId}
import org.sparkkinesis.service.RecordPage

/** Decodes the CBOR of a GetRecords response while it arrives. Unknown fields are skipped. */
private[aws] object GetRecordsAnswer {

  /**
   * @param length
   *   number of bytes in the stream, or a negative number if it is unknown
   * @throws org.sparkkinesis.aws.record.UnreadableAnswer
   *   or IllegalArgumentException if the stream does not contain a complete GetRecords response
   * @throws java.io.IOException
   *   if the stream cannot be read
   */
  def read(in: InputStream, length: Long, bufferBytes: Int = BufferBytes): RecordPage = {
    val buffer = new Array[Byte](if (length > 0) math.min(length, bufferBytes.toLong).toInt else bufferBytes)
    new Reader(new CborInput(in, length, buffer), math.max(0, length)).page()
  }

  /** A response without records has a few hundred bytes, and its buffer no more. */
  private val BufferBytes = 64 * 1024

  final private class Reader(cbor: CborInput, length: Long) extends FieldReader {
    private val records = new RecordFields(cbor, RecordFields.expectedRows(length))
    private val children = Seq.newBuilder[ChildShard]
    private var next = Option.empty[String]
    private var millisBehindLatest = 0L

    def page(): RecordPage = {
      cbor.map(this)
      RecordPage(records.result(), next, millisBehindLatest, children.result())
    }

    override def read(field: Int): Unit = field match {
      case RecordFields.Records => records.readAll()
      case RecordFields.NextIterator => next = Option(cbor.text())
      case RecordFields.MillisBehindLatest => millisBehindLatest = cbor.integer()
      case RecordFields.ChildShards => cbor.array(children += child())
      case _ => cbor.skip()
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
}
