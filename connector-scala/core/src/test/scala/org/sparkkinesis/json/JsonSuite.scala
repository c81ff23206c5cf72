package org.sparkkinesis.json

import scala.collection.immutable.VectorMap

import org.scalacheck.Gen

import org.sparkkinesis.suite.PropertySuite

class JsonSuite extends PropertySuite {
  import Json._

  test("all kinds of JSON values are read") {
    val table = Seq(
      "null" -> Null,
      "true" -> Bool(true),
      "-1.5e3" -> Num(BigDecimal("-1.5e3")),
      "\"a\\u00e9\\n\"" -> Str("aé\n"),
      "[]" -> Arr(Vector.empty),
      "{\"a\": [1, {\"b\": null}]}" -> obj("a" -> Arr(Vector(num(1), obj("b" -> Null))))
    )
    table.foreach { case (text, value) => assert(parse(text) == Right(value), text) }
  }

  test("fields keep their order") {
    val Right(Obj(fields)) = parse("{\"z\":1,\"a\":2,\"m\":3,\"b\":4,\"y\":5}"): @unchecked
    assert(fields.keys.toSeq == Seq("z", "a", "m", "b", "y"))
  }

  test("integers keep all digits") {
    val digits = "49674026002760985237755885761747339499393848411775041538"
    assert(parse(digits).map(render) == Right(digits))
    assert(parse("9007199254740993").map(_.asLong) == Right(Some(9007199254740993L)))
    assert(parse("1.5").map(_.asLong) == Right(None))
  }

  test("a text that is not one JSON document is rejected with the position") {
    Seq("", " ", "{", "[1,", "{\"a\":}", "nul", "{\"a\":1,\"a\":2}", "1 2", "{'a':1}").foreach { text =>
      val why = parse(text).swap.getOrElse(fail(s"read '$text'"))
      assert(text.isBlank || why.matches("(?s).*line \\d+, column \\d+"), s"'$text': $why")
    }
  }

  test("a field is found by name, and only objects have fields") {
    assert(parse("{\"a\":\"b\"}").toOption.flatMap(_.field("a")).flatMap(_.asString) == Some("b"))
    assert(num(1).field("a") == None)
    assert(Null.asString == None)
  }

  private val leaf: Gen[Json] = Gen.oneOf(
    Gen.const(Null),
    Gen.oneOf(true, false).map(Bool(_)),
    Gen.long.map(num),
    Gen.asciiPrintableStr.map(Str(_)),
    Gen.stringOf(Gen.choose('\u0001', '\ud7ff')).map(Str(_))
  )

  private def tree(depth: Int): Gen[Json] =
    if (depth == 0) leaf
    else
      Gen.oneOf(
        leaf,
        Gen.listOfN(3, tree(depth - 1)).map(items => Arr(items.toVector)),
        Gen.mapOfN(3, Gen.zip(Gen.asciiPrintableStr, tree(depth - 1))).map(fields => Obj(VectorMap.from(fields)))
      )

  test("written JSON is read back as the same value") {
    forAll(tree(3))(value => assert(parse(render(value)) == Right(value)))
  }
}
