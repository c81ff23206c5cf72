package org.sparkkinesis.aws.record

import software.amazon.awssdk.http.SdkHttpResponse

/**
 * The response of a call that the connector decodes instead of the SDK, if it is a success in CBOR without compression.
 * The SDK remains responsible for other responses. One thread at a time uses it.
 */
private[aws] trait CborAnswer {
  private var begun = false
  private var contentLength = -1L
  private var contentChecksum = Option.empty[Long]

  /** Whether the connector decodes the response. */
  def isBegun: Boolean = begun

  /** Number of bytes of the content, or a negative number if it is unknown. */
  def length: Long = contentLength

  /** CRC-32 of the content, if the service sent it. */
  def checksum: Option[Long] = contentChecksum

  /** Notes that a content with this length and this checksum follows. */
  private[aws] def begin(length: Long, checksum: Option[Long]): Unit = {
    begun = true
    contentLength = length
    contentChecksum = checksum
  }
}

private[aws] object CborAnswers {

  /** The content that the SDK receives instead: an empty map. */
  def Empty: Array[Byte] = Array(0xa0.toByte)

  /**
   * Begins the answer if the connector decodes the response, and returns the response for the SDK, which would
   * otherwise compare the headers with the empty content.
   *
   * @param answer
   *   null if the request does not ask for it
   */
  def begin(answer: CborAnswer, response: SdkHttpResponse): SdkHttpResponse =
    if (answer == null || !isPlain(response)) response
    else {
      answer.begin(
        header(response, LengthHeader).fold(-1L)(_.toLong),
        header(response, ChecksumHeader).map(_.toLong)
      )
      response.toBuilder.removeHeader(ChecksumHeader).removeHeader(LengthHeader).build()
    }

  private val ChecksumHeader = "x-amz-crc32"
  private val LengthHeader = "Content-Length"

  private def isPlain(response: SdkHttpResponse): Boolean = response.isSuccessful &&
    header(response, "Content-Type").exists(_.startsWith("application/x-amz-cbor")) &&
    header(response, "Content-Encoding").isEmpty

  private def header(response: SdkHttpResponse, name: String): Option[String] =
    Option(response.firstMatchingHeader(name).orElse(null))
}
