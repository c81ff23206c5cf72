package org.sparkkinesis.spark.read

import org.sparkkinesis.suite.TimedSuite

class ExecutionEndsSuite extends TimedSuite {
  test("the first scan of an execution fixes the end of each stream, and another execution has its own") {
    val ends = new ExecutionEnds(maxExecutions = 10)
    assert(ends.of(Some("1"), "orders", 100) == 100L)
    assert(ends.of(Some("1"), "orders", 200) == 100L)
    assert(ends.of(Some("1"), "clicks", 200) == 200L)
    assert(ends.of(Some("2"), "orders", 300) == 300L)
  }

  test("outside an execution each scan has its own end") {
    val ends = new ExecutionEnds(maxExecutions = 10)
    assert(Seq(100L, 200L).map(ends.of(None, "orders", _)) == Seq(100L, 200L))
  }

  test("the ends of old executions are forgotten") {
    val ends = new ExecutionEnds(maxExecutions = 2)
    Seq("1", "2", "3").foreach(id => ends.of(Some(id), "orders", id.toLong))
    assert(Seq("2", "3").map(id => ends.of(Some(id), "orders", 9)) == Seq(2L, 3L))
    assert(ends.of(Some("1"), "orders", 9) == 9L)
  }
}
