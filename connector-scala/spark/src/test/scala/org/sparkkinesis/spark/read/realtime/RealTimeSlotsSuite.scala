package org.sparkkinesis.spark.read.realtime

import org.sparkkinesis.suite.TimedSuite

class RealTimeSlotsSuite extends TimedSuite {
  test("a single source may use all slots, in every batch") {
    val slots = new RealTimeSlots
    slots.join("a")
    assert(slots.available("a", 8) == 8)
    slots.use("a", 8)
    assert(slots.available("a", 8) == 8)
  }

  test("sources of one query that begin together get equal shares, the last one what is left") {
    val slots = new RealTimeSlots
    Seq("a", "b", "c").foreach(slots.join)
    assert(slots.available("a", 8) == 2)
    slots.use("a", 1)
    assert(slots.available("b", 8) == 3)
    slots.use("b", 3)
    assert(slots.available("c", 8) == 4)
  }

  test("a source that begins while another one runs gets the free slots, and all when that one has ended") {
    val slots = new RealTimeSlots
    slots.join("a")
    slots.use("a", 8)
    slots.join("b")
    assert(slots.available("b", 8) == 0)
    slots.leave("a")
    assert(slots.available("b", 8) == 8)
  }
}
