package org.sparkkinesis.suite

import org.scalacheck.Gen

class PropertySuiteSuite extends PropertySuite {
  test("a property is checked with 100 cases") {
    var cases = 0
    forAll(Gen.choose(0, 10)) { n =>
      cases += 1
      assert(n <= 10)
    }
    assert(cases == 100)
  }

  test("a property that returns a Boolean does not compile: ScalaTest would ignore it") {
    assertDoesNotCompile("forAll(Gen.choose(0, 10))(n => n == 99)")
    assertCompiles("forAll(Gen.choose(0, 10))(n => assert(n == 99))")
  }
}
