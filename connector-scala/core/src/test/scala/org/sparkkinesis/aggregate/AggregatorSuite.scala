package org.sparkkinesis.aggregate

import org.scalacheck.Gen

import org.sparkkinesis.suite.PropertySuite

class AggregatorSuite extends PropertySuite {
  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"${b & 0xff}%02x").mkString
  private def bytes(text: String): Array[Byte] = text.getBytes("UTF-8")

  test("an aggregate has exactly the bytes that the KPL's format specifies") {
    val aggregator = new Aggregator
    assert(aggregator.tryAdd("k1", None, bytes("A")))
    assert(aggregator.tryAdd("k2", None, bytes("B")))
    val golden = "f3899ac20a026b310a026b321a0508001a01411a0508011a0142233eeb3ceb54a5bad3249e423d1c1547"
    assert(hex(aggregator.result()) == golden)
  }

  private val user: Gen[Containers.User] = for {
    key <- Gen.choose(0, 300).map(n => s"clé-$n")
    data <- Gen.choose(0, 400).map("x" * _)
    hash <- Gen.option(Gen.choose(0, 5).map(_.toString))
  } yield Containers.User(key, data, hash)

  test(
    "for any records the aggregate equals that of an independent encoder and has the predicted size"
  ) {
    forAll(Gen.nonEmptyListOf(user)) { users =>
      val aggregator = new Aggregator(Int.MaxValue)
      users.foreach(u => aggregator.tryAdd(u.key, u.hashKey, bytes(u.data)))
      val result = aggregator.result()
      assert(result.length == aggregator.size)
      assert(hex(result) == hex(Containers.of(users: _*)))
    }
  }

  test("de-aggregation returns the aggregated records") {
    forAll(Gen.nonEmptyListOf(user)) { users =>
      val aggregator = new Aggregator(Int.MaxValue)
      users.foreach(u => aggregator.tryAdd(u.key, u.hashKey, bytes(u.data)))
      val opened = Deaggregator.open(aggregator.result())
      assert(opened.count == users.size)
      users.zipWithIndex.foreach { case (u, i) =>
        assert(opened.partitionKey(i) == u.key)
        assert(Option(opened.explicitHashKey(i)) == u.hashKey)
        assert(new String(opened.data(i), "UTF-8") == u.data)
      }
    }
  }

  test("an aggregate does not exceed its limit, except for a single record") {
    val aggregator = new Aggregator(100)
    assert(aggregator.tryAdd("key", None, new Array[Byte](500)))
    assert(!aggregator.tryAdd("key", None, new Array[Byte](1)))
    val small = new Aggregator(100)
    while (small.tryAdd("key", None, new Array[Byte](7))) {}
    assert(small.size <= 100 && small.size > 100 - 15, small.size)
    assert(small.result().length == small.size)
  }
}
