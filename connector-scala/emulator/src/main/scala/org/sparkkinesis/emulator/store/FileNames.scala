package org.sparkkinesis.emulator.store

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.{HexFormat, Locale}

/**
 * Derives folder names from names that clients choose. A folder name is one path component and differs from the folder
 * names of all other names, also on file systems that ignore case.
 */
private[store] object FileNames {
  private val Plain = "[a-z0-9][a-z0-9_-]{0,99}".r
  private val MaxReadable = 100
  private val HashBytes = 8

  /** Returns a plain name as it is, and any other one in a readable form with a hash of the name at its end. */
  def of(name: String): String =
    if (Plain.matches(name)) name
    else {
      val readable = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "_").take(MaxReadable)
      val hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(UTF_8)).take(HashBytes)
      s"$readable~${HexFormat.of().formatHex(hash)}"
    }
}
