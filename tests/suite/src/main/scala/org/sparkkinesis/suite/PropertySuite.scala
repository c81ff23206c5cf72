package org.sparkkinesis.suite

import org.scalacheck.{Gen, Shrink}
import org.scalactic.source
import org.scalatest.Assertion
import org.scalatestplus.scalacheck.{CheckerAsserting, ScalaCheckPropertyChecks}

/** The base of suites with properties. Each property is checked with 100 generated cases, ScalaCheck's default. */
abstract class PropertySuite extends TimedSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 100)

  /** Like `forAll`, but reports a failing case as it was generated: a shrunk case may be outside of the generators. */
  protected def forAllNoShrink[A, B](first: Gen[A], second: Gen[B])(property: (A, B) => Assertion)(implicit
      position: source.Position
  ): Assertion = {
    implicit def asGenerated[T]: Shrink[T] = Shrink.shrinkAny
    forAll(first, second)(property)
  }

  // ScalaTest ignores what a property returns unless it is an assertion. Two candidates make a Boolean a compile error.
  implicit protected def aBooleanIsIgnored: CheckerAsserting[Boolean] = throw new IllegalStateException("no assertion")
  implicit protected def assertItInstead: CheckerAsserting[Boolean] = aBooleanIsIgnored
}
