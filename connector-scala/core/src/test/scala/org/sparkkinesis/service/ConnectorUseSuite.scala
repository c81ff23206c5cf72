package org.sparkkinesis.service

import org.sparkkinesis.suite.TimedSuite

class ConnectorUseSuite extends TimedSuite {
  test("each operation belongs to a use or to an identity, or is optional") {
    val known = ConnectorUse.all.flatMap(_.operations) ++ ConnectorUse.optional ++ ConnectorUse.ofRoles
    assert(known.toSet == Operation.all.toSet)
  }

  test("each use has a key of its own, and names each operation once") {
    assert(ConnectorUse.all.map(_.key).distinct.size == ConnectorUse.all.size)
    ConnectorUse.all.foreach(use => assert(use.operations.distinct == use.operations, use.key))
  }
}
