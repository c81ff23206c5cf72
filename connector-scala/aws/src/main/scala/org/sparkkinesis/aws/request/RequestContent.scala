package org.sparkkinesis.aws.request

/**
 * The content of a request: the first `length` bytes of an array, which must not change until the request has ended.
 *
 * @param contentType
 *   media type, such as `application/x-amz-json-1.1`
 */
final private[aws] case class RequestContent(contentType: String, bytes: Array[Byte], length: Int)

private[aws] object RequestContent {

  /** Content of the JSON 1.1 protocol. */
  def json(bytes: Array[Byte]): RequestContent = RequestContent("application/x-amz-json-1.1", bytes, bytes.length)
}
