package org.sparkkinesis.sink.route

import org.sparkkinesis.json.Json
import org.sparkkinesis.metadata.{DocumentParser, DocumentText, MetadataDocument}

/**
 * The last versions of the metadata that a write has used, each with the first micro-batch that used it, so that a
 * micro-batch that runs again uses its own version. Pure.
 *
 * @param entries
 *   in the order of their batches; at most [[RouteHistory.Kept]]
 */
final case class RouteHistory(entries: Vector[RouteHistory.Entry]) {
  import RouteHistory._

  def newest: Option[Entry] = entries.lastOption

  /** The version that the micro-batch has used, as far as it is known. */
  def at(epoch: Long): Option[Entry] = entries.findLast(_.fromEpoch <= epoch)

  /** Adds the document that a micro-batch uses; the same history if it is the one in use. */
  def used(epoch: Long, document: MetadataDocument, nowMillis: Long): RouteHistory =
    if (at(epoch).exists(_.document == document)) this
    else RouteHistory((entries.filter(_.fromEpoch < epoch) :+ Entry(epoch, nowMillis, document)).takeRight(Kept))

  def text: String = Json.render(Json.obj(
    "format" -> Json.num(Format),
    "entries" -> Json.Arr(entries.map { entry =>
      Json.obj(
        "fromEpoch" -> Json.num(entry.fromEpoch),
        "fetchedMillis" -> Json.num(entry.fetchedMillis),
        "document" -> DocumentText.json(entry.document)
      )
    })
  ))
}

object RouteHistory {

  /**
   * @param fromEpoch
   *   the first micro-batch with this document
   * @param fetchedMillis
   *   when the document was taken, in epoch milliseconds
   */
  final case class Entry(fromEpoch: Long, fetchedMillis: Long, document: MetadataDocument)

  val empty: RouteHistory = RouteHistory(Vector.empty)
  val Kept = 2
  private val Format = 1L

  /** Reads the text of a history. `Left` contains the reason why it cannot be used. */
  def parse(text: String): Either[String, RouteHistory] = for {
    json <- Json.parse(text)
    _ <- Either.cond(json.field("format").flatMap(_.asLong).contains(Format), (), "its format is not known")
    entries <- json.field("entries").collect { case Json.Arr(items) => items }.toRight("it has no entries")
    read <- entries.foldLeft[Either[String, Vector[Entry]]](Right(Vector.empty)) { (done, item) =>
      for {
        list <- done
        epoch <- item.field("fromEpoch").flatMap(_.asLong).toRight("an entry has no 'fromEpoch'")
        millis <- item.field("fetchedMillis").flatMap(_.asLong).toRight("an entry has no 'fetchedMillis'")
        document <- item.field("document").toRight("an entry has no 'document'")
        parsed <- DocumentParser.recorded(document)
      } yield list :+ Entry(epoch, millis, parsed)
    }
  } yield RouteHistory(read)
}
