package org.sparkkinesis.metadata

/** A physical stream that both documents have with other properties. */
final case class StreamChange(before: PhysicalStream, after: PhysicalStream)

/** The difference between two versions of a document. Streams are in the order of their ARNs. */
final case class MetadataDiff(
    added: Seq[PhysicalStream],
    removed: Seq[PhysicalStream],
    changed: Seq[StreamChange]
) {
  def isEmpty: Boolean = added.isEmpty && removed.isEmpty && changed.isEmpty

  /** Describes the difference for a log line, without the properties of the streams. */
  override def toString: String = {
    val parts = Seq(
      "added" -> added.map(_.toString),
      "removed" -> removed.map(_.arn),
      "changed" -> changed.map(one =>
        if (one.before.state == one.after.state) one.after.arn
        else s"${one.after.arn} (${one.before.state.word} to ${one.after.state.word})"
      )
    ).collect { case (what, streams) if streams.nonEmpty => s"$what ${streams.mkString(", ")}" }
    if (parts.isEmpty) "no difference" else parts.mkString("; ")
  }
}

object MetadataDiff {

  /** Compares two documents. Pure. */
  def between(before: MetadataDocument, after: MetadataDocument): MetadataDiff = MetadataDiff(
    added = after.physical.valuesIterator.filterNot(one => before.physical.contains(one.arn)).toSeq,
    removed = before.physical.valuesIterator.filterNot(one => after.physical.contains(one.arn)).toSeq,
    changed = after.physical.valuesIterator.flatMap(now =>
      before.physical.get(now.arn).filter(_ != now).map(StreamChange(_, now))
    ).toSeq
  )
}
