package org.sparkkinesis.aws.putrecords

import scala.collection.immutable.ArraySeq

import org.sparkkinesis.aws.record.{CborInput, CborOutput, FieldReader, RecordFields, UnreadableAnswer}
import org.sparkkinesis.aws.request.ServiceAnswer
import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.service.{Operation, PutResult}

/** Decodes a PutRecords response. Unknown fields are skipped. */
private[aws] object PutAnswer {

  /**
   * @throws UnreadableAnswer
   *   if `answer` is not a complete PutRecords response in CBOR. Such a response counts as lost, because the records
   *   may be stored.
   */
  def of(answer: ServiceAnswer): IndexedSeq[PutResult] =
    if (answer.contentType.startsWith("application/x-amz-cbor")) read(answer.content)
    else
      throw new UnreadableAnswer(s"The response to ${Operation.PutRecords} has the content type " +
        s"'${answer.contentType}' and not ${CborOutput.ContentType}. If the endpoint does not support CBOR, set the " +
        "environment variable CBOR_ENABLED or the system property aws.cborEnabled to false")

  /**
   * @throws UnreadableAnswer
   *   or IllegalArgumentException if `bytes` is not a complete PutRecords response
   */
  def read(bytes: Array[Byte]): IndexedSeq[PutResult] = new Reader(CborInput.of(bytes)).results()

  final private class Reader(cbor: CborInput) extends FieldReader {
    private val found = ArraySeq.newBuilder[PutResult]
    private var shard: String = null

    /** The consecutive records of a shard share one string. */
    private var lastShard = ""
    private var number: String = null
    private var code: String = null
    private var message: String = null

    def results(): IndexedSeq[PutResult] = {
      cbor.map {
        case RecordFields.Records => cbor.array(found += result())
        case _ => cbor.skip()
      }
      found.result()
    }

    private def result(): PutResult = {
      shard = null
      number = null
      code = null
      message = null
      cbor.map(this)
      if (code != null) PutResult.Rejected(code, String.valueOf(message))
      else if (shard == null || number == null)
        throw new UnreadableAnswer("A record has neither an error code nor a shard and a sequence number")
      else {
        lastShard = shard
        PutResult.Accepted(ShardId(shard), SequenceNumber.trusted(number))
      }
    }

    override def read(field: Int): Unit = field match {
      case RecordFields.ShardId => shard = cbor.textOr(lastShard)
      case RecordFields.SequenceNumber => number = cbor.text()
      case RecordFields.ErrorCode => code = cbor.text()
      case RecordFields.ErrorMessage => message = cbor.text()
      case _ => cbor.skip()
    }
  }
}
