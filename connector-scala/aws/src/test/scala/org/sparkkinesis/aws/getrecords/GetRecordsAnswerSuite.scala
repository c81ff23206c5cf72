package org.sparkkinesis.aws.getrecords

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.ByteBuffer
import java.util.Arrays

import scala.util.Using

import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}

import org.sparkkinesis.aws.record.UnreadableAnswer
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.RecordPage
import org.sparkkinesis.suite.TimedSuite

/** Decodes responses that Jackson encoded, complete and truncated at every position. */
class GetRecordsAnswerSuite extends TimedSuite {
  private val factory = new CBORFactory

  private def cbor(body: CBORGenerator => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(factory.createGenerator(bytes))(body)
    bytes.toByteArray
  }

  /** Decodes the bytes in pieces, each in the middle of an array that changes afterwards. */
  private def read(bytes: Array[Byte], piece: Int = 64): RecordPage = read(bytes, piece, bytes.length.toLong)

  /** Decodes the bytes as of a response without `Content-Length`. */
  private def readUnsized(bytes: Array[Byte], piece: Int = 64): RecordPage = read(bytes, piece, -1)

  private def read(bytes: Array[Byte], piece: Int, length: Long): RecordPage = {
    val answer = new GetRecordsAnswer(length)
    bytes.grouped(piece).foreach { part =>
      val array = Array[Byte](1, 2, 3) ++ part ++ Array[Byte](4)
      answer.add(array, 3, 3 + part.length)
      Arrays.fill(array, 99.toByte)
    }
    answer.page()
  }

  private val payload = Array.tabulate(300)(_.toByte)

  private def writeRecord(json: CBORGenerator, number: String, key: String, sized: Boolean): Unit = {
    if (sized) json.writeStartObject(null, 5) else json.writeStartObject()
    json.writeStringField("SequenceNumber", number)
    json.writeFieldName("ApproximateArrivalTimestamp")
    json.writeTag(1)
    json.writeNumber(1700000000123L)
    json.writeFieldName("Data")
    json.writeBinary(payload)
    json.writeStringField("PartitionKey", key)
    json.writeStringField("EncryptionType", if (sized) "NONE" else "KMS")
    json.writeEndObject()
  }

  private val answer = cbor { json =>
    json.writeStartObject()
    json.writeArrayFieldStart("Records")
    writeRecord(json, "4966" + "1" * 52, "key", sized = true)
    writeRecord(json, "4966" + "2" * 52, "ключ", sized = false)
    json.writeEndArray()
    json.writeNumberField("MillisBehindLatest", 4711L)
    json.writeObjectFieldStart("OfALaterTime")
    json.writeArrayFieldStart("a")
    json.writeNumber(1.5)
    json.writeNull()
    json.writeBoolean(true)
    json.writeNumber(-70000)
    json.writeEndArray()
    json.writeStringField("b", "x" * 100)
    json.writeEndObject()
    json.writeArrayFieldStart("ChildShards")
    json.writeStartObject()
    json.writeStringField("ShardId", "shardId-000000000001")
    json.writeArrayFieldStart("ParentShards")
    json.writeString("shardId-000000000000")
    json.writeEndArray()
    json.writeObjectFieldStart("HashKeyRange")
    json.writeStringField("StartingHashKey", "17")
    json.writeStringField("EndingHashKey", HashKeyRange.Max.toString)
    json.writeEndObject()
    json.writeEndObject()
    json.writeEndArray()
    json.writeStringField("NextShardIterator", "AAA" * 70)
    json.writeEndObject()
  }

  private def check(page: RecordPage): Unit = {
    assert(page.records.map(_.sequenceNumber) == IndexedSeq("4966" + "1" * 52, "4966" + "2" * 52))
    assert(page.records.map(_.partitionKey) == IndexedSeq("key", "ключ"))
    assert(page.records.map(_.arrivalMillis).distinct == IndexedSeq(1700000000123L))
    assert(page.records.map(_.encryptionType) == IndexedSeq(null, "KMS"))
    page.records.foreach(record => assert(record.data.toSeq == payload.toSeq))
    assert((page.millisBehindLatest, page.nextIterator) == (4711L, Option("AAA" * 70)))
    val child =
      ChildShard(ShardId.ofIndex(1), Seq(ShardId.ofIndex(0)), HashKeyRange(BigInt(17), HashKeyRange.Max))
    assert(page.children == Seq(child))
  }

  test("a response with definite and indefinite lengths is decoded, with and without Content-Length") {
    check(read(answer))
    check(readUnsized(answer))
  }

  test("a response is decoded in pieces of any size") {
    (1 to answer.length).foreach { size =>
      check(read(answer, size))
      check(readUnsized(answer, size))
    }
  }

  test("a response that is truncated anywhere is rejected") {
    (0 until answer.length).foreach { length =>
      intercept[UnreadableAnswer](read(answer.take(length)))
      intercept[UnreadableAnswer](readUnsized(answer.take(length)))
    }
  }

  test("large payloads are decoded in pieces of any size, with and without Content-Length") {
    val sizes = Seq(0, 1, 1023, 1024, 1025, 70000, 300000)
    val large = cbor { json =>
      json.writeStartObject()
      json.writeArrayFieldStart("Records")
      sizes.foreach { size =>
        json.writeStartObject()
        json.writeFieldName("Data")
        json.writeBinary(Array.tabulate(size)(_.toByte))
        json.writeStringField("SequenceNumber", size.toString)
        json.writeEndObject()
      }
      json.writeEndArray()
      json.writeEndObject()
    }
    for (
      piece <- Seq(1, 7, 1000, 1024, 65536, large.length); page <- Seq(read(large, piece), readUnsized(large, piece))
    )
      assert(
        page.records.map(record => (record.sequenceNumber, record.data.toSeq)) ==
          sizes.map(size => (size.toString, Array.tabulate(size)(_.toByte).toSeq))
      )
  }

  test("a response with a wrong byte gives another response or an I/O error") {
    answer.indices.foreach { i =>
      Seq(0x00, 0x1f, 0x7f, 0xff).foreach { other =>
        val wrong = answer.clone()
        wrong(i) = other.toByte
        try {
          read(wrong)
          readUnsized(wrong)
        } catch { case _: IOException | _: IllegalArgumentException => () }
      }
    }
  }

  test("the decoded last response of a closed shard has no iterator") {
    Seq[CBORGenerator => Unit](_.writeNullField("NextShardIterator"), _ => ()).foreach { iterator =>
      val page = read(cbor { json =>
        json.writeStartObject()
        json.writeArrayFieldStart("Records")
        json.writeEndArray()
        iterator(json)
        json.writeNullField("ChildShards")
        json.writeEndObject()
      })
      assert(page == RecordPage(IndexedSeq.empty, None, 0L, Nil))
    }
  }

  test("text and bytes in pieces, a floating-point time and a missing payload are decoded") {
    def bytes(values: Int*): Array[Byte] = values.map(_.toByte).toArray
    def name(text: String): Array[Byte] = bytes(0x60 + text.length) ++ text.getBytes("UTF-8")
    val time = bytes(0xc1, 0xfb) ++ ByteBuffer.allocate(8).putDouble(1700000000123.4).array
    val longName = bytes(0x78, "ApproximateArrivalTimestamp".length) ++ "ApproximateArrivalTimestamp".getBytes("UTF-8")
    val whole = bytes(0xbf) ++ name("Records") ++ bytes(0x9f, 0xbf) ++
      name("SequenceNumber") ++ bytes(0x7f, 0x61, '1', 0x62, '2', '3', 0xff) ++
      name("Data") ++ bytes(0x5f, 0x42, 1, 2, 0x41, 3, 0xff) ++ longName ++ time ++ bytes(0xff, 0xa1) ++
      name("SequenceNumber") ++ name("4") ++ bytes(0xff, 0xff)
    val records = read(whole).records
    assert(records.map(_.sequenceNumber) == IndexedSeq("123", "4"))
    assert(records.map(_.data.toSeq) == IndexedSeq(Seq[Byte](1, 2, 3), Seq.empty[Byte]))
    assert(records.map(_.arrivalMillis) == IndexedSeq(1700000000123L, 0L))
    assert(records.map(_.partitionKey) == IndexedSeq[String](null, null))
  }

  test("an announced length without the bytes allocates no memory") {
    val announced = Array[Byte](0xa1.toByte, 0x64, 'D', 'a', 't', 'a', 0x5a, 0x7f, -1, -1, -1)
    intercept[UnreadableAnswer](read(announced))
    intercept[UnreadableAnswer](readUnsized(announced))
    val data = Array[Byte](0xa1.toByte, 0x67) ++ "Records".getBytes("UTF-8") ++ Array[Byte](0x81.toByte) ++ announced
    intercept[UnreadableAnswer](read(data))
    intercept[UnreadableAnswer](readUnsized(data))
  }

  test("too deep nesting is rejected") {
    val deep = Array[Byte](0xa1.toByte, 0x61, 'x') ++ Array.fill[Byte](100000)(0x81.toByte)
    intercept[UnreadableAnswer](read(deep))
  }

  test("bytes after the response are ignored") {
    check(read(answer ++ Array.fill[Byte](200)(7), 11))
  }
}
