package org.sparkkinesis.plan.prune

import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}
import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId}
import org.sparkkinesis.plan.prune.RowCondition._
import org.sparkkinesis.suite.TimedSuite

/** Which part of which shard a condition leaves, as tables. */
class RowConditionSuite extends TimedSuite {
  private val ranges = HashKeyRange.uniform(2)

  /** Shards 0 and 1 are open; shard 2 is an older one that was closed, with the hash keys of both. */
  private val shards = Seq(
    Shard(ShardId.ofIndex(0), None, None, ranges(0), SequenceNumber("5000"), None),
    Shard(ShardId.ofIndex(1), None, None, ranges(1), SequenceNumber("5001"), None),
    Shard(ShardId.ofIndex(2), None, None, HashKeyRange.Whole, SequenceNumber("1000"), Some(SequenceNumber("4999")))
  )
  private def id(index: Int): String = ShardId.ofIndex(index.toLong).value
  private def number(text: String) = Some(SequenceNumber(text))
  private def times(from: Long, to: Long) = ReadBounds(from, to)
  private val whole = ReadBounds.Whole
  private val (left, right) = ("k1", "k2")

  private def bounds(condition: RowCondition): Map[Int, ReadBounds] =
    shards.zipWithIndex.flatMap { case (shard, index) => condition.of("orders", shard).map(index -> _) }.toMap

  private val everyShard = Map(0 -> whole, 1 -> whole, 2 -> whole)
  private def every(of: ReadBounds): Map[Int, ReadBounds] = everyShard.map { case (index, _) => index -> of }

  private val table = Seq[(String, RowCondition, Map[Int, ReadBounds])](
    ("nothing is known", Always, everyShard),
    ("no row is wanted", Never, Map.empty),
    ("a time", Arrived(10, 20), every(times(10, 20))),
    ("an empty time", Arrived(20, 10), Map.empty),
    ("one shard", OfShard(Seq(id(1))), Map(1 -> whole)),
    ("some shards", OfShard(Seq(id(1), id(2), "other")), Map(1 -> whole, 2 -> whole)),
    ("all shards but one", OfShard(Seq(id(1)), isIn = false), Map(0 -> whole, 2 -> whole)),
    ("an unknown shard", OfShard(Seq("other")), Map.empty),
    ("this stream", OfStream(Seq("orders")), everyShard),
    ("another stream", OfStream(Seq("clicks")), Map.empty),
    ("not this stream", OfStream(Seq("orders"), isIn = false), Map.empty),
    (
      "a number in one of the open shards",
      Numbered(Seq("5500")),
      Map(
        0 -> ReadBounds(from = number("5500"), to = number("5500")),
        1 -> ReadBounds(from = number("5500"), to = number("5500"))
      )
    ),
    ("a number before all shards", Numbered(Seq("999")), Map.empty),
    ("a text that is no number", Numbered(Seq("05500", "x")), Map.empty),
    (
      "numbers of two shards",
      Numbered(Seq("4000", "3000")),
      Map(2 -> ReadBounds(from = number("3000"), to = number("4000")))
    ),
    (
      "a first number",
      NumberedWithin(Some("4500"), None),
      Map(0 -> whole, 1 -> whole, 2 -> ReadBounds(from = number("4500")))
    ),
    ("a last number", NumberedWithin(None, Some("4500")), Map(2 -> ReadBounds(to = number("4500")))),
    ("a number with fewer digits, which is greater as a text", NumberedWithin(Some("600"), None), everyShard),
    ("a number with more digits, which is less as a text", NumberedWithin(None, Some("10000")), everyShard),
    ("a key", OfKey(Seq(left)), ofKeys(left)),
    ("two keys", OfKey(Seq(left, right)), ofKeys(left, right)),
    ("AND of times", all(Seq(Arrived(10, 30), Arrived(20, 40))), every(times(20, 30))),
    ("AND of times without a common one", all(Seq(Arrived(10, 20), Arrived(30, 40))), Map.empty),
    ("AND of a shard and a time", all(Seq(OfShard(Seq(id(0))), Arrived(10, 20))), Map(0 -> times(10, 20))),
    ("AND with something unknown", all(Seq(Always, Arrived(10, 20))), every(times(10, 20))),
    ("AND with nothing", all(Seq(Never, Arrived(10, 20))), Map.empty),
    ("OR of times", any(Seq(Arrived(10, 20), Arrived(30, 40))), every(times(10, 40))),
    ("OR with something unknown", any(Seq(Always, Arrived(10, 20))), everyShard),
    ("OR with nothing", any(Seq(Never, Arrived(10, 20))), every(times(10, 20))),
    (
      "OR of shards with their own times",
      any(Seq(all(Seq(OfShard(Seq(id(0))), Arrived(10, 20))), all(Seq(OfShard(Seq(id(1))), Arrived(50, 60))))),
      Map(0 -> times(10, 20), 1 -> times(50, 60))
    ),
    (
      "OR of a time and a shard",
      any(Seq(Arrived(10, 20), OfShard(Seq(id(1))))),
      Map(0 -> times(10, 20), 1 -> whole, 2 -> times(10, 20))
    ),
    (
      "OR of a number and a time",
      any(Seq(Numbered(Seq("4000")), Arrived(10, 20))),
      Map(0 -> times(10, 20), 1 -> times(10, 20), 2 -> whole)
    )
  )

  private def ofKeys(keys: String*): Map[Int, ReadBounds] = shards.zipWithIndex.collect {
    case (shard, index) if keys.map(HashKey.ofPartitionKey).exists(shard.hashKeyRange.contains) => index -> whole
  }.toMap

  for ((what, condition, expected) <- table) test(s"$what leaves what it must") {
    assert(bounds(condition) == expected)
  }

  test("the keys of the table are of different shards, so that one excludes the other's") {
    assert(ofKeys(left).keySet != ofKeys(right).keySet)
    assert(ofKeys(left).size == 2 && ofKeys(right).size == 2)
  }

  test("conditions are shown like a WHERE clause") {
    val condition = all(Seq(
      Arrived(0, Long.MaxValue),
      any(Seq(OfShard(Seq("a")), OfStream(Seq("b", "c"), isIn = false))),
      NumberedWithin(Some("1"), None),
      OfKey((1 to 7).map(_.toString))
    ))
    assert(condition.text == "approximateArrivalTimestamp >= 1970-01-01T00:00:00Z AND " +
      "(shardId = 'a' OR stream NOT IN ('b', 'c')) AND sequenceNumber >= '1' AND " +
      "partitionKey IN ('1', '2', '3', '4', '5', … 2 more)")
  }
}
