package org.sparkkinesis.architecture

/** Finds top-level types of Scala sources by name. A nested type is ignored, because its owner is part of its name. */
object TypeNames {
  private val Declaration =
    """(?m)^(?:(?:final|sealed|abstract|case|implicit|private(?:\[\w+])?) )*(?:class|object|trait) (\w+)""".r

  /**
   * Returns the names that more than one file declares, with these files.
   *
   * @param sources
   *   path and text of each file; a companion object is in the file of its class
   */
  def repeated(sources: Seq[(String, String)]): Map[String, Seq[String]] = {
    val declared = for {
      (path, text) <- sources
      name <- Declaration.findAllMatchIn(text).map(_.group(1)).distinct
    } yield name -> path
    declared.groupMap(_._1)(_._2).filter(_._2.size > 1)
  }
}
