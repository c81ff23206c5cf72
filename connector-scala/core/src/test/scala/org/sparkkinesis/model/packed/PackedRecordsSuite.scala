package org.sparkkinesis.model.packed

import org.scalacheck.Gen

import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.suite.PropertySuite

class PackedRecordsSuite extends PropertySuite {
  private type Fields = (String, String, Long, Seq[Byte], String)

  private def fields(record: KinesisRecord): Fields =
    (record.sequenceNumber, record.partitionKey, record.arrivalMillis, record.data.toSeq, record.encryptionType)

  private def add(to: PackedRecords.Builder, record: KinesisRecord): Unit = {
    val number = record.sequenceNumber.getBytes("UTF-8")
    to.data(record.data)
    to.sequenceNumbers.add(number, 0, number.length)
    to.encryptionType(record.encryptionType)
    to.keys.add(record.partitionKey)
    to.arrivalMillis(record.arrivalMillis)
    to.endRecord()
  }

  private def pack(records: Seq[KinesisRecord], expectedRows: Int): PackedRecords = {
    val builder = new PackedRecords.Builder(expectedRows)
    records.foreach(add(builder, _))
    builder.result()
  }

  private val sizes = Gen.frequency(20 -> Gen.choose(0, 400), 1 -> Gen.choose(100000, PackedRecords.MaxBytes + 10))
  private val records = Gen.listOf(
    for {
      size <- sizes
      key <- Gen.oneOf("", "key", "ключ", "k" * 256)
      encryption <- Gen.frequency(9 -> Gen.const(None), 1 -> Gen.const(Some("KMS")))
      arrival <- Gen.choose(0L, 1000L)
    } yield (i: Int) =>
      new KinesisRecord(s"4966$i", key, arrival, Array.tabulate(size)(n => (n + i).toByte), encryption.orNull)
  ).map(_.zipWithIndex.map { case (make, i) => make(i) })

  test("the fields of all records are kept in order, whatever number of records was expected") {
    forAll(records, Gen.choose(0, 5000)) { (records, expected) =>
      val packed = pack(records, expected)
      assert(packed.length == records.length)
      assert(packed.map(fields) == records.map(fields).toIndexedSeq)
      assert(packed.lastOption.map(fields) == records.lastOption.map(fields))
      assert(packed.bytes == records.map(r => r.data.length + r.partitionKey.getBytes("UTF-8").length).sum)
      assert(packed.segments.map(_.newestArrivalMillis) ==
        packed.segments.map(s => s.arrivalMillis.take(s.rows).max))
    }
  }

  test("segments are within the limits of rows and bytes, or have one record") {
    val many = (1 to PackedRecords.MaxRows * 2 + 1).map(i => new KinesisRecord(s"$i", "k", 0, Array[Byte](1), null))
    assert(pack(many, 10).segments.map(_.rows) == Vector(PackedRecords.MaxRows, PackedRecords.MaxRows, 1))
    forAll(records) { records =>
      pack(records, 10).segments.foreach { segment =>
        assert(segment.rows == 1 || (segment.rows <= PackedRecords.MaxRows && segment.bytes <= PackedRecords.MaxBytes))
      }
    }
  }

  test("a record without partition key, payload and encryption has a null key and an empty payload") {
    val builder = new PackedRecords.Builder(1)
    Seq("1" -> "NONE", "2" -> null).foreach { case (number, encryption) =>
      builder.sequenceNumbers.add(number)
      builder.encryptionType(encryption)
      builder.endRecord()
    }
    assert(builder.result().map(fields) == Vector(("1", null, 0L, Nil, null), ("2", null, 0L, Nil, null)))
  }

  test("a record must have one sequence number and at most one partition key") {
    Seq[PackedRecords.Builder => Unit](
      _ => (),
      _.sequenceNumbers.add(null),
      { builder =>
        builder.sequenceNumbers.add("1")
        builder.sequenceNumbers.add("2")
      },
      { builder =>
        builder.sequenceNumbers.add("1")
        builder.keys.add("a")
        builder.keys.add("b")
      }
    ).foreach { record =>
      val builder = new PackedRecords.Builder(1)
      record(builder)
      intercept[IllegalArgumentException](builder.endRecord())
    }
  }

  test("access to the last record creates no other record") {
    val packed = pack((1 to 3).map(i => new KinesisRecord(s"$i", "k", 0, Array[Byte](1), null)), 3)
    assert(packed.last.data eq packed.segments.last.data(2))
    // Its implementation of `last` iterates over all elements.
    assert(!classOf[scala.collection.AbstractIterable[_]].isInstance(packed))
    intercept[IndexOutOfBoundsException](packed(3))
    intercept[IndexOutOfBoundsException](packed(-1))
  }
}
