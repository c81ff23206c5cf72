package org.sparkkinesis.aws.putrecords

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.util.Using

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonProcessingException, JsonToken}

import org.sparkkinesis.aws.error.ForeignAnswers
import org.sparkkinesis.aws.record.{CborInput, FieldReader, RecordFields, UnreadableAnswer}
import org.sparkkinesis.aws.request.ServiceAnswer
import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.service.PutResult

/** Decodes a PutRecords response. Unknown fields are skipped. */
private[aws] object PutAnswer {

  /**
   * Some endpoints answer a request in CBOR in JSON.
   *
   * @throws UnreadableAnswer
   *   if `answer` is not a complete PutRecords response. Such a response counts as lost, because the records may be
   *   stored.
   * @throws org.sparkkinesis.aws.error.ForeignAnswerException
   *   if its type is neither CBOR nor JSON, so that the next request would have such an answer as well
   */
  def of(answer: ServiceAnswer): IndexedSeq[PutResult] =
    if (answer.contentType.isEmpty || ForeignAnswers.isCbor(answer.contentType)) read(answer.content)
    else if (ForeignAnswers.isJson(answer.contentType)) readJson(answer.content)
    else throw ForeignAnswers.ofType(200, answer.contentType)

  /**
   * @throws UnreadableAnswer
   *   or IllegalArgumentException if `bytes` is not a complete PutRecords response
   */
  def read(bytes: Array[Byte]): IndexedSeq[PutResult] = new Reader(CborInput.of(bytes)).results()

  private def readJson(bytes: Array[Byte]): IndexedSeq[PutResult] = {
    val found = ArraySeq.newBuilder[PutResult]
    try
      Using.resource(json.createParser(bytes)) { parser =>
        parser.nextToken()
        fields(parser) {
          case "Records" => while (parser.nextToken() == JsonToken.START_OBJECT) found += jsonResult(parser)
          case _ => parser.skipChildren()
        }
      }
    catch { case broken: JsonProcessingException => throw new UnreadableAnswer(broken.getOriginalMessage) }
    found.result()
  }

  private def jsonResult(parser: JsonParser): PutResult = {
    val values = mutable.Map.empty[String, String]
    fields(parser) { name =>
      if (parser.currentToken.isScalarValue && parser.currentToken != JsonToken.VALUE_NULL)
        values(name) = parser.getText
      parser.skipChildren()
      ()
    }
    resultOf(
      values.getOrElse("ShardId", null),
      values.getOrElse("SequenceNumber", null),
      values.getOrElse("ErrorCode", null),
      values.getOrElse("ErrorMessage", null)
    )
  }

  private def fields(parser: JsonParser)(field: String => Unit): Unit =
    if (parser.currentToken == JsonToken.START_OBJECT) while (parser.nextToken() == JsonToken.FIELD_NAME) {
      val name = parser.currentName
      parser.nextToken()
      field(name)
    }

  private val json = new JsonFactory

  private def resultOf(shard: String, number: String, code: String, message: String): PutResult =
    if (code != null) PutResult.Rejected(code, String.valueOf(message))
    else if (shard == null || number == null)
      throw new UnreadableAnswer("A record has neither an error code nor a shard and a sequence number")
    else PutResult.Accepted(ShardId(shard), SequenceNumber.trusted(number))

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
      if (shard != null) lastShard = shard
      resultOf(shard, number, code, message)
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
