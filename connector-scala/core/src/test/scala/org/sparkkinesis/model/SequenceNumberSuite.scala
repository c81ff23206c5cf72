package org.sparkkinesis.model

import org.scalacheck.Gen

import org.sparkkinesis.suite.PropertySuite

class SequenceNumberSuite extends PropertySuite {

  // Sequence numbers of the service, or derived from their structure: shard 0 created at epoch second 1777319237, its
  // end 600 s later, and the first number of its child.
  private val start = "49674026002760985237755885761747339499393848411775041538"
  private val within = "49674026002850188218576229259473476449429298564223254594"
  private val end = "49674026002772135610355151073316898432710599195039367170"
  private val child = "49674026217249552557223419137037877845725830676700200994"

  test("sequence numbers are ordered by value: shard start, shard end, start of the child") {
    val ordered = Seq("0", "9", "10", start, end, within, child).map(SequenceNumber(_))
    assert(ordered.reverse.sorted.map(_.value) == ordered.map(_.value))
    assert(SequenceNumber(start) < SequenceNumber(end))
    assert(SequenceNumber(child) > SequenceNumber(end))
    assert(SequenceNumber(start).compare(SequenceNumber(start)) == 0)
  }

  test("a sequence number must match the pattern of the service") {
    Seq("0", "1", start, "9" * 129).foreach(text => assert(SequenceNumber.parse(text).map(_.value) == Some(text)))
    Seq("", "00", "01", "-1", "+1", "1.0", " 1", "1 ", "a", "9" * 130, "١").foreach { text =>
      assert(SequenceNumber.parse(text) == None, text)
      intercept[IllegalArgumentException](SequenceNumber(text))
    }
  }

  private val number =
    Gen.choose(1, 129).flatMap(n => Gen.listOfN(n, Gen.numChar)).map(digits => BigInt(digits.mkString))

  test("the order is the numeric order") {
    forAll(number, number) { (a, b) =>
      assert(SequenceNumber(a.toString).compare(SequenceNumber(b.toString)).sign == a.compare(b).sign)
    }
  }
}
