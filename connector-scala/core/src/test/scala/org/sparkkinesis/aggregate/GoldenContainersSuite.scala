package org.sparkkinesis.aggregate

import scala.io.Source
import scala.util.Using

import org.sparkkinesis.json.Json
import org.sparkkinesis.suite.TimedSuite

/** Checks aggregates that the reference library created with `tests/interop/golden_aggregates.py`. */
class GoldenContainersSuite extends TimedSuite {
  import GoldenContainersSuite._

  for (golden <- load()) {
    test(s"${golden.name}: the aggregator creates the aggregate of the reference library") {
      val aggregator = new Aggregator(Int.MaxValue)
      golden.users.foreach(user => assert(aggregator.tryAdd(user.key, user.hashKey, user.data.toArray)))
      assert(aggregator.result().toSeq == golden.container)
    }

    test(s"${golden.name}: the de-aggregator reads the aggregate of the reference library") {
      val opened = Deaggregator.open(golden.container.toArray)
      val users = (0 until opened.count).map { i =>
        User(opened.partitionKey(i), Option(opened.explicitHashKey(i)), opened.data(i).toSeq)
      }
      assert(users == golden.users)
    }
  }
}

object GoldenContainersSuite {
  final private case class User(key: String, hashKey: Option[String], data: Seq[Byte])
  final private case class Golden(name: String, users: Seq[User], container: Seq[Byte])

  private def load(): Seq[Golden] = {
    val text = Using.resource(Source.fromResource("golden/aggregated-records.json"))(_.mkString)
    items(Json.parse(text).fold(problem => throw new AssertionError(problem), identity)).map { golden =>
      Golden(string(golden, "case"), items(field(golden, "records")).map(user), hex(golden, "container"))
    }
  }

  private def user(json: Json): User = User(string(json, "key"), field(json, "hashKey").asString, hex(json, "data"))

  private def items(json: Json): Seq[Json] = json match {
    case Json.Arr(items) => items
    case other => throw new AssertionError(s"not a list: $other")
  }

  private def field(json: Json, name: String): Json = json.field(name).getOrElse(throw new AssertionError(s"no $name"))
  private def string(json: Json, name: String): String = field(json, name).asString.get
  private def hex(json: Json, name: String): Seq[Byte] = Containers.hex(string(json, name)).toSeq
}
