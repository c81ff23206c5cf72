package org.sparkkinesis.aws.record

import software.amazon.awssdk.http.SdkHttpResponse

/**
 * Headers of responses that the connector decodes instead of the SDK. The SDK remains responsible for errors and for
 * compressed responses.
 */
private[aws] object CborAnswers {

  /** The response that the SDK receives instead: an empty map. */
  def Empty: Array[Byte] = Array(0xa0.toByte)

  /** Whether the response is a success in CBOR without compression. */
  def isPlain(response: SdkHttpResponse): Boolean = response.isSuccessful &&
    header(response, "Content-Type").exists(_.startsWith("application/x-amz-cbor")) &&
    header(response, "Content-Encoding").isEmpty

  /** Number of bytes, or a negative number if it is unknown. */
  def length(response: SdkHttpResponse): Long = header(response, LengthHeader).fold(-1L)(_.toLong)

  /** CRC-32 of the content. */
  def checksum(response: SdkHttpResponse): Option[Long] = header(response, ChecksumHeader).map(_.toLong)

  /** Removes the headers that the SDK would compare with the empty response. */
  def unchecked(response: SdkHttpResponse): SdkHttpResponse =
    response.toBuilder.removeHeader(ChecksumHeader).removeHeader(LengthHeader).build()

  private val ChecksumHeader = "x-amz-crc32"
  private val LengthHeader = "Content-Length"

  private def header(response: SdkHttpResponse, name: String): Option[String] =
    Option(response.firstMatchingHeader(name).orElse(null))
}
