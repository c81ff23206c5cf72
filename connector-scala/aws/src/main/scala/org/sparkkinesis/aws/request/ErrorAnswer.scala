package org.sparkkinesis.aws.request

import scala.util.Using

import com.fasterxml.jackson.core.{JsonFactory, JsonProcessingException, JsonToken}
import software.amazon.awssdk.http.SdkHttpResponse

import org.sparkkinesis.aws.error.ErrorClassification
import org.sparkkinesis.service.{Operation, ServiceException}

/** Reads the answers with which a service refuses a request with the JSON 1.1 protocol. */
private[aws] object ErrorAnswer {
  private val factory = new JsonFactory

  def of(operation: Operation, response: SdkHttpResponse, body: Array[Byte]): ServiceException = {
    val (kind, text) = read(body, 0, body.length)
    val fromHeader = header(response, "x-amzn-ErrorType").map(_.split(':').head)
    val code = kind.orElse(fromHeader).getOrElse(s"HTTP ${response.statusCode}")
    new ServiceException(
      ErrorClassification.ofCode(code, response.statusCode),
      operation,
      code,
      text.getOrElse("no message"),
      header(response, "x-amzn-RequestId")
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
