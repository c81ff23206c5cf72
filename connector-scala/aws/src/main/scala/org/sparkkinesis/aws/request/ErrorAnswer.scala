package org.sparkkinesis.aws.request

import scala.util.Using

import com.fasterxml.jackson.core.{JsonFactory, JsonProcessingException, JsonToken}
import software.amazon.awssdk.http.SdkHttpResponse

import org.sparkkinesis.aws.error.ErrorClassification
import org.sparkkinesis.aws.record.{CborInput, RecordFields, UnreadableAnswer}
import org.sparkkinesis.service.{Operation, ServiceException}

/** Reads the answers with which a service refuses a request with the JSON 1.1 or the CBOR 1.1 protocol. */
private[aws] object ErrorAnswer {
  private val factory = new JsonFactory

  /** @param header finds the value of a header */
  def of(operation: Operation, status: Int, header: String => Option[String], body: Array[Byte]): ServiceException = {
    val isCbor = header("Content-Type").exists(_.startsWith("application/x-amz-cbor"))
    val (kind, text) = if (isCbor) CborError.read(body) else read(body, 0, body.length)
    val fromHeader = header("x-amzn-ErrorType").map(_.split(':').head)
    val code = kind.orElse(fromHeader).getOrElse(ErrorClassification.statusCode(status))
    new ServiceException(
      ErrorClassification.ofCode(code, status),
      operation,
      code,
      text.getOrElse("no message"),
      header("x-amzn-RequestId")
    )
  }

  /** Returns type and message of an error; the type has no namespace. Both are empty if the text is not such JSON. */
  def read(bytes: Array[Byte], start: Int, length: Int): (Option[String], Option[String]) = {
    var kind = Option.empty[String]
    var message = Option.empty[String]
    try
      Using.resource(factory.createParser(bytes, start, length)) { json =>
        if (json.nextToken() == JsonToken.START_OBJECT) while (json.nextToken() == JsonToken.FIELD_NAME) {
          val name = json.currentName
          def text = Option.when(json.currentToken != JsonToken.VALUE_NULL)(json.getText)
          json.nextToken()
          name match {
            case "__type" | "code" => kind = text.map(_.split('#').last)
            case "message" | "Message" => message = text
            case _ => json.skipChildren()
          }
        }
      }
    catch { case _: JsonProcessingException => () }
    (kind, message)
  }

  def header(response: SdkHttpResponse, name: String): Option[String] =
    Option(response).flatMap(answer => Option(answer.firstMatchingHeader(name).orElse(null)))
}

/** Reads the CBOR of an error. */
private object CborError {

  /** Returns type, without its namespace, and message of an error. Both are empty if the content is not such CBOR. */
  def read(body: Array[Byte]): (Option[String], Option[String]) = {
    var kind = Option.empty[String]
    var message = Option.empty[String]
    val cbor = CborInput.of(body)
    try
      cbor.map {
        case RecordFields.ErrorType => kind = Option(cbor.text()).map(_.split('#').last)
        case RecordFields.Message | RecordFields.CapitalMessage => message = Option(cbor.text())
        case _ => cbor.skip()
      }
    catch { case _: UnreadableAnswer => () }
    (kind, message)
  }
}
