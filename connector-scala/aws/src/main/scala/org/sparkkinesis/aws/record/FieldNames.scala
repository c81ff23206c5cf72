package org.sparkkinesis.aws.record

import java.nio.charset.StandardCharsets.US_ASCII
import java.util.Arrays

/**
 * Finds the numbers of expected names in the bytes of a response, without allocating a string for each. The number of a
 * name is its index in `names`. Thread-safe.
 */
final private[aws] class FieldNames(names: String*) {
  private val known: Array[Array[Byte]] = names.map(_.getBytes(US_ASCII)).toArray
  private val byLength: Array[Array[Int]] = Array.tabulate(known.map(_.length).max + 1) { length =>
    known.indices.filter(known(_).length == length).toArray
  }

  /** Returns the number of the name in this range of `array`, or [[FieldNames.Unknown]]. */
  def at(array: Array[Byte], from: Int, length: Int): Int =
    if (length == 0 || length >= byLength.length) FieldNames.Unknown
    else {
      val candidates = byLength(length)
      var i = 0
      while (i < candidates.length && !isAt(known(candidates(i)), array, from)) i += 1
      if (i < candidates.length) candidates(i) else FieldNames.Unknown
    }

  private def isAt(name: Array[Byte], array: Array[Byte], from: Int): Boolean =
    name(0) == array(from) && Arrays.equals(array, from, from + name.length, name, 0, name.length)
}

private[aws] object FieldNames {
  final val Unknown = -1
}
