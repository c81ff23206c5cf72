package org.sparkkinesis.spark.coordinator.state

import org.sparkkinesis.suite.TimedSuite

class ReadRateSuite extends TimedSuite {

  test("rates cover the time since the last measurement") {
    val rate = new ReadRate
    assert(rate.at(10000).isEmpty)
    rate.add(reads = 4, rows = 100, bytes = 8000)
    rate.add(reads = 4, rows = 100, bytes = 8000)
    assert(rate.at(12000).contains(FetchRates(4, 100, 8000, 2000)))
    rate.add(reads = 1, rows = 0, bytes = 0)
    assert(rate.at(13000).contains(FetchRates(1, 0, 0, 0)))
    assert(rate.at(15000).contains(FetchRates(0, 0, 0, 0)))
  }

  test("two measurements shortly after each other give the same rates, and lose no read") {
    val rate = new ReadRate
    rate.at(0)
    rate.add(2, 10, 100)
    val first = rate.at(1000)
    rate.add(6, 10, 100)
    assert(rate.at(1999) == first)
    assert(rate.at(2000).contains(FetchRates(6, 10, 100, 100.0 / 6)))
  }

  test("a clock that is set back gives the last rates") {
    val rate = new ReadRate
    rate.at(5000)
    assert(rate.at(4000).isEmpty)
  }
}
