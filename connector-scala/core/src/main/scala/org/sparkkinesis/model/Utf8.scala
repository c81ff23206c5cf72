package org.sparkkinesis.model

/** Computes the length of a string in UTF-8 without encoding it. */
object Utf8 {
  def length(text: String): Int = {
    var bytes = 0
    var i = 0
    while (i < text.length) {
      val c = text.charAt(i)
      if (c < 0x80) bytes += 1
      else if (c < 0x800) bytes += 2
      else if (Character.isHighSurrogate(c) && i + 1 < text.length && Character.isLowSurrogate(text.charAt(i + 1))) {
        bytes += 4
        i += 1
      } else bytes += 3
      i += 1
    }
    bytes
  }
}
