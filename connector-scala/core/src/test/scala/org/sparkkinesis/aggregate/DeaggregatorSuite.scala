package org.sparkkinesis.aggregate

import org.scalacheck.Gen

import org.sparkkinesis.aggregate.Containers.User
import org.sparkkinesis.suite.PropertySuite
class DeaggregatorSuite extends PropertySuite {
  private def users(container: AggregatedRecord): Seq[User] = (0 until container.count).map { i =>
    User(container.partitionKey(i), new String(container.data(i), "UTF-8"), Option(container.explicitHashKey(i)))
  }
  private def isPlain(data: Array[Byte]): Boolean = Deaggregator.open(data) == null

  test("the example of the format description is read") {
    val golden = Containers.hex("f3899ac20a026b310a026b321a0508001a01411a0508011a0142233eeb3ceb54a5bad3249e423d1c1547")
    assert(users(Deaggregator.open(golden)) == Seq(User("k1", "A"), User("k2", "B")))
  }

  private val userRecords: Gen[List[User]] = Gen.nonEmptyListOf(for {
    key <- Gen.oneOf(Gen.alphaNumStr.map(_.take(20)), Gen.const("ключ"))
    data <- Gen.asciiStr
    hash <- Gen.option(Gen.choose(0L, Long.MaxValue).map(_.toString))
  } yield User(key, data, hash))

  test("all aggregated records are returned in order") {
    forAll(userRecords)(packed => assert(users(Deaggregator.open(Containers.of(packed: _*))) == packed))
  }

  test("an aggregate with one byte changed, removed or added is a plain record") {
    forAll(userRecords, Gen.choose(0, Int.MaxValue), Gen.choose(1, 255)) { (packed, at, change) =>
      val sound = Containers.of(packed: _*)
      val changed = sound.clone()
      val index = at % changed.length
      changed(index) = (changed(index) ^ change).toByte
      assert(isPlain(changed))
      assert(isPlain(sound.take(index)))
      assert(isPlain(sound :+ 0.toByte))
    }
  }

  test("random bytes with a valid checksum are an aggregate or a plain record, and never fail") {
    forAll(Gen.containerOf[Array, Byte](Gen.choose(Byte.MinValue, Byte.MaxValue))) { noise =>
      val container = Deaggregator.open(Containers.seal(noise))
      assert(container == null || container.keyCount > 0)
    }
  }

  test("a malformed message with a valid checksum is an aggregate or a plain record, and never fails") {
    forAll(userRecords, Gen.listOf(Gen.zip(Gen.choose(0, Int.MaxValue), Gen.choose(0, 255)))) { (packed, changes) =>
      val message = Containers.message(packed)
      changes.foreach { case (at, value) => message(at % message.length) = value.toByte }
      val container = Deaggregator.open(Containers.seal(message))
      if (container != null) users(container).foreach(user => assert(user.data.length <= message.length))
    }
  }

  private val key = Containers.bytesField(1, "k".getBytes)
  private def record(fields: Array[Byte]*): Array[Byte] = Containers.bytesField(3, fields.flatten.toArray)
  private val index = Containers.varintField(1, 0)
  private val data = Containers.bytesField(3, "d".getBytes)

  private val plain: Seq[(String, Array[Byte])] = Seq(
    "no keys" -> Containers.varintField(9, 1),
    "no bytes" -> Array.emptyByteArray,
    "a key index beyond the table" -> (key ++ record(Containers.varintField(1, 1), data)),
    "a key index that only fits a long" -> (key ++ record(Containers.varintField(1, 1L << 40), data)),
    "a negative key index" -> (key ++ record(Containers.varintField(1, -1), data)),
    "a hash key index beyond the table" ->
      (key ++ Containers.bytesField(2, "7".getBytes) ++ record(index, Containers.varintField(2, 1), data)),
    "a record without a key" -> (key ++ record(data)),
    "a record without data" -> (key ++ record(index)),
    "a length beyond the end" -> (key ++ Containers.varint(3 << 3 | 2) ++ Containers.varint(1000)),
    "a length that overflows an int" -> (key ++ Containers.varint(3 << 3 | 2) ++ Containers.varint(Long.MaxValue)),
    "a record's field that reaches into the next record" ->
      (key ++ record(index, Containers.varint(3 << 3 | 2) ++ Containers.varint(4)) ++ record(index, data)),
    "a group" -> (key ++ record(index, data) ++ Containers.varint(5 << 3 | 3)),
    "field number zero" -> (key ++ record(index, data) ++ Array[Byte](0, 0)),
    "an endless number" -> (key ++ record(index, data) ++ Array.fill[Byte](11)(-1)),
    "a table of numbers" -> (Containers.varintField(1, 5) ++ key ++ record(index, data))
  )
  for ((what, message) <- plain) test(s"a message with $what is a plain record") {
    assert(isPlain(Containers.seal(message)))
  }

  test("an aggregate with keys and without records has no row, as in the KCL") {
    assert(Deaggregator.open(Containers.seal(key)).count == 0)
  }

  test("an index into an empty table of explicit hash keys is ignored") {
    val records = (1 to 100).map(_ => record(index, Containers.varintField(2, 0), data))
    val opened = Deaggregator.open(Containers.seal(key ++ records.flatten))
    assert(users(opened) == Seq.fill(100)(User("k", "d")))
  }

  test("tags and unknown fields are skipped") {
    val tag = Containers.bytesField(4, Containers.bytesField(1, "t".getBytes))
    val fixed = Containers.varint(9 << 3 | 1) ++ new Array[Byte](8) ++ Containers.varint(10 << 3 | 5) ++
      new Array[Byte](4)
    val message = fixed ++ record(tag, index, data, fixed) ++ key ++ Containers.varintField(77, 5)
    assert(users(Deaggregator.open(Containers.seal(message))) == Seq(User("k", "d")))
  }

  test("reading a large aggregate of tiny records needs memory in proportion to its size") {
    val one = record(index, Containers.bytesField(3, Array.emptyByteArray))
    val many = 10 * 1024 * 1024 / one.length
    val message = new Array[Byte](key.length + many * one.length)
    key.copyToArray(message)
    (0 until many).foreach(i => System.arraycopy(one, 0, message, key.length + i * one.length, one.length))
    val whole = Containers.seal(message)
    val threads = java.lang.management.ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
    val before = threads.getCurrentThreadAllocatedBytes
    val container = Deaggregator.open(whole)
    val allocated = threads.getCurrentThreadAllocatedBytes - before
    assert(container.count == many)
    // Arrays of four ints per record, doubled twice while they grow.
    assert(allocated < many * 16L * 4 + 1024 * 1024, allocated)
  }
}
