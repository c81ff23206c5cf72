package org.sparkkinesis.aws.record

import org.sparkkinesis.model.packed.PackedBytes

/**
 * Reads a response or an event, forward only. Implementations decode CBOR and JSON. Not thread-safe.
 *
 * Every method reads one value. A null is an absent text, empty bytes, the number 0, or no element.
 */
private[aws] trait RecordInput {

  /** Calls `fields` with the number of each name of the next map. It must read or skip the value. */
  def map(fields: FieldReader): Unit

  /** Calls `element` for each element of the next array. It must read or skip it. */
  def array(element: => Unit): Unit

  /** Returns the next text, or null. */
  def text(): String

  /** Appends the next text to `column`. */
  def text(column: PackedBytes.Builder): Unit

  /** Returns the next text, which has few different values, or null. Known names are not allocated. */
  def word(): String
  def bytes(): Array[Byte]
  def integer(): Long

  /** Returns the next time in milliseconds since the epoch. */
  def time(): Long

  /** Skips the value of an unknown name, or fails if the implementation does not support it. */
  def skip(): Unit
}

/** Reads the values of a map. */
private[aws] trait FieldReader {

  /** @param field number of the name, see [[FieldNames]] */
  def read(field: Int): Unit
}
