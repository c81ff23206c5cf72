package org.sparkkinesis.simulation.write.route

import scala.collection.mutable

import org.sparkkinesis.metadata.MetadataDocument
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.sink.route.Routes

/**
 * Checks the routes of micro-batches: they are those of one document that the service has given, no stream of them was
 * retired before, and a batch that runs again has the same ones, as long as none of their streams is retired.
 */
final class RouteVerdict {
  private var served = Set.empty[MetadataDocument]

  /** The newest document that the service gave to the present run, and the version below which it takes none. */
  private var newest = Option.empty[MetadataDocument]
  private var highestVersion = 0L

  /** The documents of the micro-batches, and what the present run found about them in the checkpoint. */
  private val used = mutable.LongMap.empty[MetadataDocument]
  private var cached: Long => Option[MetadataDocument] = _ => None
  private var last = Option.empty[MetadataDocument]
  private var again = 0L
  private var switched = 0L

  /** Number of micro-batches that ran again with the routes that they had before. */
  def repeats: Long = again

  /** Number of micro-batches with other routes than the one before. */
  def switches: Long = switched

  /**
   * Records a start of the query.
   *
   * @param version
   *   the version of the last document in the checkpoint
   * @param documentOf
   *   returns the document that the checkpoint has for a micro-batch
   */
  def started(version: Option[Long], documentOf: Long => Option[MetadataDocument]): Unit = {
    newest = None
    highestVersion = version.getOrElse(0)
    cached = documentOf
  }

  /**
   * Records an answer of the service. One without any stream is no reason to leave the streams, but the query may
   * refuse older documents after it.
   */
  def answered(document: MetadataDocument): Unit = {
    served += document
    if (document.version >= highestVersion) {
      highestVersion = document.version
      if (document.physical.nonEmpty) newest = Some(document)
    }
  }

  /** Checks the document that a micro-batch uses from now on. */
  def pinned(epoch: Long, document: MetadataDocument): Unit = {
    if (!served(document)) throw new Violation("route", s"batch $epoch uses $document, which no service has given")
    val retired = newest.filter(_.version >= document.version).fold(Set.empty[String])(active(document) -- active(_))
    if (retired.nonEmpty)
      throw new Violation("retired", s"batch $epoch writes to ${retired.mkString(", ")}, which $newest retires")
    used.get(epoch).foreach { before =>
      val isUsable = active(before).nonEmpty && newest.forall(known => active(before).subsetOf(active(known)))
      if (document == before) again += 1
      else if (isUsable && !cached(epoch).contains(document))
        throw new Violation("rerun", s"batch $epoch uses $document when it runs again, and $before before")
    }
    if (last.exists(active(_) != active(document))) switched += 1
    last = Some(document)
    used(epoch) = document
  }

  private def active(document: MetadataDocument): Set[String] = Routes.of(document).all.map(_.arn).toSet
}
