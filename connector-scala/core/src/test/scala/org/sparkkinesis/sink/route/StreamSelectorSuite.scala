package org.sparkkinesis.sink.route

import org.scalacheck.Gen

import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.RouterOption
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream, StreamState}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.suite.PropertySuite

class StreamSelectorSuite extends PropertySuite {
  import StreamSelectorSuite._

  private val keys = (1 to 100000).map(n => s"customer-$n")

  private def placed(streams: Vector[PhysicalStream]): Map[String, String] = {
    val selector = new RendezvousSelector
    keys.iterator.map(key => key -> selector.choose(record(key), streams).arn).toMap
  }

  private def turns(maxBatchSize: Int, start: Int = 0) = new RoundRobinSelector(maxBatchSize, 1000, start)

  test("hash: the tenth stream takes 10 ± 2 % of 100,000 keys, and no key moves between the others") {
    val nine = streams(9)
    val ten = nine :+ stream("new")
    val (before, after) = (placed(nine), placed(ten))
    val moved = keys.filter(key => before(key) != after(key))
    assert(moved.size >= 8000 && moved.size <= 12000, s"${moved.size} keys moved")
    assert(moved.forall(key => after(key) == ten.last.arn))
  }

  test("hash: the keys of a removed stream spread over the others, and no other key moves") {
    val all = streams(5)
    val (before, after) = (placed(all), placed(all.tail))
    val moved = keys.filter(key => before(key) != after(key))
    assert(moved.forall(key => before(key) == all.head.arn))
    assert(moved.map(after).toSet == all.tail.map(_.arn).toSet)
  }

  test("hash: streams get keys in proportion to their weights") {
    val weighted = Vector(stream("a", weight = 100), stream("b", weight = 300))
    val share = placed(weighted).values.count(_ == weighted(1).arn) / keys.size.toDouble
    assert(math.abs(share - 0.75) < 0.01, share)
  }

  test("hash: a new selector, as in another task or run, chooses the same stream") {
    forAll(Gen.zip(Gen.alphaNumStr, Gen.chooseNum(1, 20))) { case (key, count) =>
      val all = streams(count)
      assert(new RendezvousSelector().choose(record(key), all) eq new RendezvousSelector().choose(record(key), all))
    }
  }

  test("roundRobin: a stream gets a full request of records before the next one") {
    val selector = turns(3)
    val all = streams(2)
    val chosen = (1 to 12).map(_ => selector.choose(record("k"), all).stream.name)
    assert(chosen.mkString(" ") == "s0 s0 s0 s1 s1 s1 s0 s0 s0 s1 s1 s1")
  }

  test("roundRobin: a request also ends at its number of bytes") {
    val selector = turns(100)
    val chosen = (1 to 6).map(_ => selector.choose(record("k", 400), streams2).stream.name)
    assert(chosen.mkString(" ") == "s0 s0 s1 s1 s0 s0")
  }

  test("roundRobin: streams take turns in proportion to their weights, spread out evenly") {
    val selector = turns(1)
    val all = Vector(stream("a", weight = 5), stream("b", weight = 1), stream("c", weight = 1))
    val chosen = (1 to 14).map(_ => selector.choose(record("k"), all).stream.name)
    assert(chosen.mkString == "aabacaa" * 2)
  }

  test("roundRobin: the tasks of a write begin with different streams") {
    val all = streams(4)
    assert((0 until 8).map(task => turns(1, task).choose(record("k"), all).stream.name).distinct.size == 4)
  }

  test("roundRobin: 100,000 records over 4 streams differ by less than 2 %") {
    val selector = turns(500)
    val counts = keys.groupBy(key => selector.choose(record(key), streams4).arn).values.map(_.size)
    assert(counts.size == 4 && counts.max - counts.min <= 500)
  }

  test("roundRobin: it leaves a stream at once that is not among the streams any more") {
    val selector = turns(500)
    val both = streams2
    val first = selector.choose(record("k"), both)
    val others = both.filterNot(_ eq first)
    assert(selector.choose(record("k"), others) eq others.head)
  }

  test("priority: only the streams with the highest priority are used, in turn") {
    val selector = new PrioritySelector(turns(1))
    val all = Vector(stream("a"), stream("b", priority = 7), stream("c", priority = 7), stream("d", priority = 3))
    assert((1 to 4).map(_ => selector.choose(record("k"), all).stream.name).mkString == "bcbc")
    val without = all.filterNot(_.priority == 7)
    assert(selector.choose(record("k"), without).stream.name == "d")
  }

  test("a router of the user gets records and streams, and hears when the streams change") {
    val all = streams(3).updated(1, stream("s1", weight = 500))
    val option = RouterOption.OfClass(classOf[BySize].getName)
    val router = StreamSelectors.of(option, requests).fold(why => fail(why), create => create(0))
    assert(router.choose(record("k"), all).arn == all(0).arn)
    assert(router.choose(record("k", bytes = 200), all).arn == all(1).arn)
    assert(router.choose(new SinkRecord("k", Some("s2"), new Array[Byte](1)), all).arn == all(2).arn)
    val fewer = all.take(1)
    assert(router.choose(record("k", bytes = 200), fewer).arn == all(0).arn)
    assert(BySize.heard == Vector(3, 1))
  }

  test("a class of the user chooses an ARN, and an answer that is none of them is an error") {
    def selector(of: Class[_]) = StreamSelectors.of(RouterOption.OfClass(of.getName), requests).map(_(0))
    val all = streams(3)
    assert(selector(classOf[LastArn]).map(_.choose(record("k"), all)) == Right(all.last))
    val wrong = intercept[KinesisConnectorException](selector(classOf[NoArn]).map(_.choose(record("k"), all)))
    assert(wrong.condition == "KINESIS_SINK_ROUTER_FAILED")
    assert(StreamSelectors.of(RouterOption.OfClass("no.such.Class"), requests).isLeft)
    assert(StreamSelectors.of(RouterOption.OfClass("java.lang.String"), requests).isLeft)
  }

  test("every word of the option has its selector, and other texts are refused") {
    assert(RouterOption.builtIn.forall(StreamSelectors.of(_, requests).isRight))
    assert(RouterOption.optionType.parse("HASH") == Right(RouterOption.Hash))
    assert(RouterOption.optionType.parse("class:a.B") == Right(RouterOption.OfClass("a.B")))
    assert(RouterOption.optionType.parse("random").isLeft)
  }

  test("routes have the active streams with a weight, ordered by ARN") {
    val document = MetadataDocument(
      4,
      scala.collection.immutable.SortedMap(
        "orders" -> Vector(
          stream("b"),
          stream("a"),
          stream("old").copy(state = StreamState.Draining),
          stream("idle").copy(state = StreamState.Standby),
          stream("none", weight = 0)
        ),
        "empty" -> Vector.empty[PhysicalStream]
      )
    )
    val routes = Routes.of(document)
    assert(routes.version == 4)
    assert(routes.of("orders").map(_.stream.name) == Vector("a", "b"))
    assert(routes.byId.contains("empty") && routes.of("unknown").isEmpty)
  }
}

object StreamSelectorSuite {
  private val requests = KinesisSinkSettings.of(Options.defaults).requests
  private lazy val streams2 = streams(2)
  private lazy val streams4 = streams(4)

  def stream(name: String, weight: Int = 100, priority: Int = 0): PhysicalStream = PhysicalStream(
    StreamRef.ByArn(s"arn:aws:kinesis:us-east-1:000000000000:stream/$name", "us-east-1", "000000000000", name),
    weight = weight,
    priority = priority
  )

  def streams(count: Int): Vector[PhysicalStream] = (0 until count).map(n => stream(s"s$n")).toVector

  def record(key: String, bytes: Int = 1): SinkRecord = new SinkRecord(key, None, new Array[Byte](bytes))

  class LastArn extends java.util.function.BiFunction[String, java.util.List[String], String] {
    override def apply(key: String, arns: java.util.List[String]): String = arns.get(arns.size - 1)
  }

  /** Chooses the stream with the highest weight for large records, and one by the region for others. */
  class BySize extends RecordRouter {
    private var present = java.util.List.of[RouterStream]()
    override def streamsChanged(streams: java.util.List[RouterStream]): Unit = {
      present = streams
      BySize.heard = BySize.heard :+ streams.size
    }
    override def choose(record: RouterRecord): String = {
      val streams = present.stream()
      (if (record.size > 100) streams.max((a, b) => Integer.compare(a.weight, b.weight))
       else streams.filter(one => one.name == record.explicitHashKey.orElse("s0")).findFirst()).get().arn
    }
  }

  object BySize {
    @volatile var heard = Vector.empty[Int]
  }

  class NoArn extends java.util.function.BiFunction[String, java.util.List[String], String] {
    override def apply(key: String, arns: java.util.List[String]): String = "none"
  }
}
