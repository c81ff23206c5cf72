package org.sparkkinesis.model.hash

import org.scalacheck.Gen

import org.sparkkinesis.suite.PropertySuite

class HashKeyRangeSuite extends PropertySuite {
  private val max = BigInt("340282366920938463463374607431768211455")

  test("a partition key's hash is the MD5 of its UTF-8 bytes") {
    assert(HashKey.ofPartitionKey("a") == BigInt("16955237001963240173058271559858726497"))
    assert(HashKey.ofPartitionKey("é") == BigInt("66ddcd97cfdeabb2f6fb8a999b4bc76f", 16))
    assert(HashKey.ofPartitionKey("") == BigInt("d41d8cd98f00b204e9800998ecf8427e", 16))
  }

  test("four shards split the key space as the service does") {
    assert(
      HashKeyRange.uniform(4).map(range => (range.start.toString, range.end.toString)) ==
        IndexedSeq(
          ("0", "85070591730234615865843651857942052863"),
          ("85070591730234615865843651857942052864", "170141183460469231731687303715884105727"),
          ("170141183460469231731687303715884105728", "255211775190703847597530955573826158591"),
          ("255211775190703847597530955573826158592", max.toString)
        )
    )
  }

  test("three shards have equal ranges, and the last one has the remainder") {
    val ranges = HashKeyRange.uniform(3)
    assert(ranges.last.end == max)
    assert(ranges.map(range => range.end - range.start + 1).distinct.size == 2)
    assert(ranges.last.end - ranges.last.start == ranges.head.end - ranges.head.start + 1)
  }

  test("a range contains both of its ends") {
    val range = HashKeyRange(10, 20)
    assert(Seq(9, 10, 20, 21).map(key => range.contains(BigInt(key))) == Seq(false, true, true, false))
  }

  test("ranges are adjacent if one begins right after the other") {
    assert(HashKeyRange(0, 9).isAdjacentTo(HashKeyRange(10, 20)))
    assert(HashKeyRange(10, 20).isAdjacentTo(HashKeyRange(0, 9)))
    assert(!HashKeyRange(0, 9).isAdjacentTo(HashKeyRange(11, 20)))
    assert(HashKeyRange(0, 9).union(HashKeyRange(10, 20)) == HashKeyRange(0, 20))
  }

  test("a range outside the key space or with its ends swapped is rejected") {
    Seq(BigInt(-1) -> BigInt(1), BigInt(2) -> BigInt(1), BigInt(0) -> (max + 1)).foreach { case (start, end) =>
      intercept[IllegalArgumentException](HashKeyRange(start, end))
    }
    intercept[IllegalArgumentException](HashKeyRange.uniform(0))
  }

  test("an explicit hash key is a plain decimal up to 2^128 - 1") {
    assert(HashKey.parse("0") == Some(BigInt(0)))
    assert(HashKey.parse(max.toString) == Some(max))
    Seq("", "00", "-1", "1.0", (max + 1).toString, "1" * 40, "x").foreach(text =>
      assert(HashKey.parse(text) == None, text)
    )
  }

  test("the ranges of a new stream cover the key space without gap or overlap") {
    forAll(Gen.choose(1, 2000)) { count =>
      val ranges = HashKeyRange.uniform(count)
      assert(
        ranges.size == count && ranges.head.start == 0 && ranges.last.end == max &&
          ranges.zip(ranges.drop(1)).forall { case (a, b) => a.end + 1 == b.start }
      )
    }
  }

  test("every key is in exactly one range") {
    forAll(Gen.asciiPrintableStr, Gen.choose(1, 50)) { (key, count) =>
      assert(HashKeyRange.uniform(count).count(_.contains(HashKey.ofPartitionKey(key))) == 1)
    }
  }
}
