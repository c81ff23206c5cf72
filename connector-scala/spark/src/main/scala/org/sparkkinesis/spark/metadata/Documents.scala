package org.sparkkinesis.spark.metadata

import java.security.MessageDigest
import java.util.Base64

import org.sparkkinesis.error.{KinesisConnectorException, MetadataErrors}
import org.sparkkinesis.metadata._

/** Decoding and checks of a document, which all metadata services share. */
private[sparkkinesis] object Documents {

  /**
   * Returns the answer for the bytes of a document.
   *
   * @param tag
   *   the service's own tag; without it, the hash of the bytes is the tag
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_INVALID
   */
  def answer(
      ids: StreamIds,
      service: StreamMetadataService,
      bytes: Array[Byte],
      known: Option[Tag],
      tag: Option[Tag]
  ): MetadataAnswer = {
    val current = tag.getOrElse(hash(bytes))
    if (known.contains(current)) MetadataAnswer.Unchanged
    else
      DocumentParser.parse(bytes) match {
        case Right(document) => MetadataAnswer.Found(document.select(ids), Some(current))
        case Left(why) => throw MetadataErrors.invalid(service.address, s"${why.head.toUpper}${why.tail}.")
      }
  }

  def unavailable(ids: StreamIds, service: StreamMetadataService, reason: String): KinesisConnectorException =
    MetadataErrors.unavailable(ids = ids.toString, service = service.address, reason = reason)

  private def hash(bytes: Array[Byte]): Tag =
    Tag(Base64.getEncoder.encodeToString(MessageDigest.getInstance("SHA-256").digest(bytes)))
}
