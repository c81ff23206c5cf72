package org.sparkkinesis.aggregate

import java.io.ByteArrayOutputStream
import java.security.MessageDigest

/** Encodes valid and malformed KPL aggregates for tests. Independent of the code under test. */
object Containers {
  final case class User(key: String, data: String, hashKey: Option[String] = None)

  def hex(text: String): Array[Byte] = text.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray

  def of(users: User*): Array[Byte] = seal(message(users))

  def seal(message: Array[Byte]): Array[Byte] =
    hex("f3899ac2") ++ message ++ MessageDigest.getInstance("MD5").digest(message)

  def message(users: Seq[User]): Array[Byte] = {
    val keys = users.map(_.key).distinct
    val hashKeys = users.flatMap(_.hashKey).distinct
    val out = new ByteArrayOutputStream
    keys.foreach(key => out.write(bytesField(1, key.getBytes("UTF-8"))))
    hashKeys.foreach(key => out.write(bytesField(2, key.getBytes("UTF-8"))))
    users.foreach { user =>
      val record = varintField(1, keys.indexOf(user.key).toLong) ++
        user.hashKey.fold(Array.empty[Byte])(key => varintField(2, hashKeys.indexOf(key).toLong)) ++
        bytesField(3, user.data.getBytes("UTF-8"))
      out.write(bytesField(3, record))
    }
    out.toByteArray
  }

  def bytesField(number: Int, content: Array[Byte]): Array[Byte] = varint(number.toLong << 3 | 2) ++
    varint(content.length.toLong) ++ content
  def varintField(number: Int, value: Long): Array[Byte] = varint(number.toLong << 3) ++ varint(value)

  def varint(value: Long): Array[Byte] = {
    val out = new ByteArrayOutputStream
    var rest = value
    while ((rest & ~0x7fL) != 0) {
      out.write((rest & 0x7f | 0x80).toInt)
      rest >>>= 7
    }
    out.write(rest.toInt)
    out.toByteArray
  }
}
