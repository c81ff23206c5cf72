package org.sparkkinesis.config.value

import java.util.Locale

/** Finds the name that a user may have meant. */
object NearestName {

  /**
   * Returns the candidate with the fewest edits, ignoring case, or `None` if all candidates need too many edits: more
   * than 2 and more than half the length of the name.
   */
  def of(written: String, candidates: Seq[String]): Option[String] = {
    val wanted = written.toLowerCase(Locale.ROOT)
    candidates
      .map(name => (distance(wanted, name.toLowerCase(Locale.ROOT)), name))
      .minByOption(_._1)
      .collect { case (edits, name) if edits <= math.max(2, wanted.length / 2) => name }
  }

  /** Levenshtein distance, computed row by row. */
  private[config] def distance(a: String, b: String): Int =
    a.foldLeft((0 to b.length).toVector) { (previous, char) =>
      b.indices.scanLeft(previous.head + 1) { (left, j) =>
        val replaced = previous(j) + (if (b(j) == char) 0 else 1)
        math.min(math.min(left, previous(j + 1)) + 1, replaced)
      }.toVector
    }.last
}
