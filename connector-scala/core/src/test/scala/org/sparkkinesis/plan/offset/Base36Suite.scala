package org.sparkkinesis.plan.offset

import org.scalacheck.Gen

import org.sparkkinesis.suite.PropertySuite

class Base36Suite extends PropertySuite {
  private def of(decimal: String): String = {
    val out = new java.lang.StringBuilder("before ")
    Base36.append(out, decimal)
    out.toString.stripPrefix("before ")
  }

  private val numbers = Gen.choose(1, 129).flatMap(n => Gen.listOfN(n, Gen.numChar).map(_.mkString))

  test("the digits are those of the JDK")(forAll(numbers)(digits => assert(of(digits) == BigInt(digits).toString(36))))

  // Numbers around the powers of 36^6 and 10^9, which are the sizes of the limbs.
  (1 to 20).flatMap(n => Seq(BigInt(36).pow(6 * n), BigInt(10).pow(9 * n))).flatMap(n => Seq(n - 1, n, n + 1))
    .appended(BigInt(0)).foreach { n =>
      test(s"$n")(assert(of(n.toString) == n.toString(36)))
    }
}
