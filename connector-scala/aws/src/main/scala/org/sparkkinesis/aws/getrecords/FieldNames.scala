package org.sparkkinesis.aws.getrecords

import java.nio.charset.StandardCharsets.US_ASCII
import java.util.Arrays

/** Finds the names of expected fields in the bytes of a response without allocating a string for each. Thread-safe. */
final private[aws] class FieldNames(names: String*) {
  private val byLength: Array[Array[(String, Array[Byte])]] = Array.tabulate(names.map(_.length).max + 1) { length =>
    names.filter(_.length == length).map(name => name -> name.getBytes(US_ASCII)).toArray
  }

  /** Returns the name in this range of `array`, or null if it is none of the expected names. */
  def at(array: Array[Byte], from: Int, length: Int): String =
    if (length >= byLength.length) null
    else {
      val candidates = byLength(length)
      var i = 0
      while (i < candidates.length && !Arrays.equals(array, from, from + length, candidates(i)._2, 0, length)) i += 1
      if (i < candidates.length) candidates(i)._1 else null
    }
}
