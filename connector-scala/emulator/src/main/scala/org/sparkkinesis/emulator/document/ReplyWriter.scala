package org.sparkkinesis.emulator.document

/** Writes an answer in the encoding of its request. Members are written in order; null strings are omitted. */
trait ReplyWriter {
  def startObject(): Unit
  def endObject(): Unit
  def startArray(): Unit
  def endArray(): Unit
  def name(member: String): Unit
  def value(text: String): Unit
  def value(number: Long): Unit
  def value(flag: Boolean): Unit
  def blobValue(bytes: Array[Byte]): Unit
  def timestampValue(epochMillis: Long): Unit

  final def field(member: String, text: String): Unit = if (text != null) {
    name(member)
    value(text)
  }

  final def field(member: String, number: Long): Unit = {
    name(member)
    value(number)
  }

  final def field(member: String, flag: Boolean): Unit = {
    name(member)
    value(flag)
  }

  final def blob(member: String, bytes: Array[Byte]): Unit = {
    name(member)
    blobValue(bytes)
  }

  final def timestamp(member: String, epochMillis: Long): Unit = {
    name(member)
    timestampValue(epochMillis)
  }

  final def obj(body: => Unit): Unit = {
    startObject()
    body
    endObject()
  }

  final def obj(member: String)(body: => Unit): Unit = {
    name(member)
    obj(body)
  }

  final def array[A](member: String, items: Iterable[A])(write: A => Unit): Unit = {
    name(member)
    startArray()
    items.foreach(write)
    endArray()
  }

  final def strings(member: String, items: Iterable[String]): Unit = array(member, items)(value(_))
}
