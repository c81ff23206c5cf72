package org.sparkkinesis.emulator.engine.shard

import org.scalacheck.Gen

import org.sparkkinesis.emulator.engine.shard.{SequenceNumbers, SequenceParts}
import org.sparkkinesis.suite.PropertySuite

class SequenceNumbersSuite extends PropertySuite {
  private val real = "49674026002850188218576229259473476449429298564223254594"

  test("a sequence number of the real service is decoded into its known parts") {
    assert(SequenceNumbers.decode(real) == Some(SequenceParts(1777319237L, 3076, 0x50ccb9d26L, 1777320018L)))
  }

  test("the parts are encoded as the original sequence number") {
    assert(SequenceNumbers.encode(1777319237L, 3076, 0x50ccb9d26L, 1777320018L) == real)
  }

  test("starting and ending numbers of a shard and its child match the collected vectors") {
    val created = 1777319237L
    assert(
      SequenceNumbers.encode(created, 0, 0, created) ==
        "49674026002760985237755885761747339499393848411775041538"
    )
    assert(
      SequenceNumbers.encode(created, 0, SequenceNumbers.EndSeqIx, created + 600) ==
        "49674026002772135610355151073316898432710599195039367170"
    )
    assert(
      SequenceNumbers.encode(created + 601, 2, 0, created + 601) ==
        "49674026217249552557223419137037877845725830676700200994"
    )
  }

  test("a text that is not a version 2 sequence number is not decoded") {
    Seq("0", "1", "9" * 56, real.dropRight(1), real.dropRight(1) + "5").foreach { number =>
      assert(SequenceNumbers.decode(number) == None, number)
    }
  }

  private val parts = for {
    created <- Gen.choose(1400000000L, 4000000000L)
    index <- Gen.choose(0L, 1000000L)
    seqIx <- Gen.choose(0L, Long.MaxValue)
    later <- Gen.choose(0L, 100000L)
  } yield SequenceParts(created, index, seqIx, created + later)

  test("decoding an encoded sequence number returns its parts") {
    forAll(parts)(p => assert(SequenceNumbers.decode(SequenceNumbers.encode(p)) == Some(p)))
  }

  test("a greater seqIx gives a greater sequence number at any time") {
    forAll(parts, Gen.choose(0L, 100000L)) { (p, time) =>
      val next = p.copy(seqIx = p.seqIx - 1, recordSeconds = p.shardCreatedSeconds + time)
      assert(p.seqIx == 0 || SequenceNumbers.encode(next) < SequenceNumbers.encode(p))
    }
  }
}
