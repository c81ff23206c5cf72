package org.sparkkinesis.emulator.admin

import java.io.StringWriter
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.HexFormat

import scala.util.Try
import scala.util.matching.Regex

import com.fasterxml.jackson.core.{JsonFactory, JsonProcessingException, JsonToken}

/**
 * The document of the metadata page, with the document before it. Thread-safe.
 *
 * A document is any text. If it is a JSON object with a member `streams`, a request that names streams gets only these.
 */
final class PublishedMetadata {
  @volatile private var state = PublishedMetadata.State("", "", None)

  /**
   * Sets the document and returns its entity tag.
   *
   * @param token
   *   the bearer token that requests must carry
   */
  def publish(document: String, token: Option[String]): String = synchronized {
    state = PublishedMetadata.State(document, if (state.document.isEmpty) document else state.document, token)
    PublishedMetadata.tagOf(document)
  }

  def document: String = state.document

  /** The document before the current one; the current one if there was none before. */
  def previous: String = state.previous

  def admits(authorization: Option[String]): Boolean = state.token.forall(t => authorization.contains(s"Bearer $t"))
}

object PublishedMetadata {
  private val factory = new JsonFactory

  final private case class State(document: String, previous: String, token: Option[String])

  def tagOf(document: String): String = {
    val hash = MessageDigest.getInstance("SHA-256").digest(document.getBytes(UTF_8))
    s"\"${HexFormat.of().formatHex(hash, 0, 8)}\""
  }

  /**
   * Returns the document with only the streams that a request names; `None` if it has none of them. A document that is
   * not an object with streams is returned as it is.
   */
  def select(document: String, ids: Set[String], pattern: Option[String]): Option[String] =
    if (ids.isEmpty && pattern.isEmpty) Some(document)
    else {
      val wanted = pattern.flatMap(text => Try(new Regex(text)).toOption)
      try {
        val selection = new Selection(document, id => ids(id) || wanted.exists(_.matches(id)))
        Option.when(selection.found.forall(_ > 0))(if (selection.found.isEmpty) document else selection.text)
      } catch { case _: JsonProcessingException => Some(document) }
    }

  /** Copies a document without the streams that `keeps` refuses. */
  final private class Selection(document: String, keeps: String => Boolean) {
    private val out = new StringWriter
    private val parser = factory.createParser(document)
    private val generator = factory.createGenerator(out)

    /** Number of the streams that are kept; empty if the document is not an object with streams. */
    var found: Option[Int] = None

    if (parser.nextToken() == JsonToken.START_OBJECT) {
      generator.writeStartObject()
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        val name = parser.currentName
        generator.writeFieldName(name)
        if (parser.nextToken() == JsonToken.START_OBJECT && name == "streams") found = Some(copyStreams())
        else generator.copyCurrentStructure(parser)
      }
      generator.writeEndObject()
    }
    generator.close()
    parser.close()

    def text: String = out.toString

    private def copyStreams(): Int = {
      var kept = 0
      generator.writeStartObject()
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        val id = parser.currentName
        parser.nextToken()
        if (keeps(id)) {
          kept += 1
          generator.writeFieldName(id)
          generator.copyCurrentStructure(parser)
        } else parser.skipChildren()
      }
      generator.writeEndObject()
      kept
    }
  }
}
