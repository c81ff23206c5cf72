package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap

import org.scalacheck.Gen

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Start, Within}
import org.sparkkinesis.suite.PropertySuite
class OffsetCodecSuite extends PropertySuite {
  private val golden = SourceOffset(
    Seq(
      StreamOffset(
        "orders",
        "arn:aws:kinesis:eu-central-1:123456789012:stream/orders",
        1777319237000L,
        SortedMap(
          ShardId.ofIndex(0) -> ShardEnd,
          ShardId.ofIndex(1) -> Horizon,
          ShardId.ofIndex(2) -> Start(StartingPosition.AtTimestamp(1777320018123L)),
          ShardId.ofIndex(3076) ->
            After(SequenceNumber("49674026002850188218576229259473476449429298564223254594"), 1777320018123L),
          ShardId.ofIndex(3077) -> Start(StartingPosition.AtSequenceNumber(
            SequenceNumber("49674026002760985237755885761747339499393848411775041538")
          )),
          ShardId("main") -> After(SequenceNumber("0"), 1777320010000L)
        )
      )
    )
  )

  test("offsets of version 1 in the golden file are still read") {
    val text = new String(getClass.getResourceAsStream("/golden/offset-v1.json").readAllBytes(), "UTF-8").trim
    assert(OffsetCodec.decode(text) == golden)
    assert(OffsetCodec.encode(golden) == text)
  }

  private val goldenWithin = golden.copy(streams = golden.streams.map { case (arn, stream) =>
    val within = Within(
      SequenceNumber("49674026002850188218576229259473476449429298564223254595"),
      41,
      1777320018500L
    )
    arn -> stream.copy(shards = stream.shards + (ShardId.ofIndex(3078) -> within))
  })

  test("offsets of version 2 in the golden file are still read") {
    val text = new String(getClass.getResourceAsStream("/golden/offset-v2.json").readAllBytes(), "UTF-8").trim
    assert(OffsetCodec.decode(text) == goldenWithin)
    assert(OffsetCodec.encode(goldenWithin) == text)
  }

  private val goldenPhases = goldenWithin.copy(
    streams = goldenWithin.streams ++ Seq(
      "draining" -> StreamPhase.Draining(1777320018123L),
      "drained" -> StreamPhase.Parked(1777320018123L, isDrained = true),
      "parked" -> StreamPhase.Parked(1777320018123L, isDrained = false)
    ).map { case (name, phase) =>
      val arn = s"arn:aws:kinesis:eu-central-1:123456789012:stream/$name"
      arn -> StreamOffset(name, arn, 1777319237000L, SortedMap(ShardId.ofIndex(0) -> Horizon), phase = phase)
    },
    version = 42
  )

  test("offsets of version 2 with a metadata version and phases in the golden file are still read") {
    val text = new String(getClass.getResourceAsStream("/golden/offset-v2-phases.json").readAllBytes(), "UTF-8").trim
    assert(OffsetCodec.decode(text) == goldenPhases)
    assert(OffsetCodec.encode(goldenPhases) == text)
  }

  test("version 1 is written as long as no stream has left and no metadata log is used") {
    def version(offset: SourceOffset) = OffsetCodec.encode(offset).take("{\"v\":1".length)
    assert(version(golden) == "{\"v\":1")
    assert(version(golden.copy(version = 1)) == "{\"v\":2")
    assert(version(golden.copy(streams = golden.streams.map { case (arn, stream) =>
      arn -> stream.copy(phase = StreamPhase.Draining(1))
    })) == "{\"v\":2")
  }

  private val phases: Gen[StreamPhase] = Gen.oneOf(
    Gen.const(StreamPhase.Active),
    Gen.choose(0L, 4102444800000L).map(StreamPhase.Draining(_)),
    Gen.zip(Gen.choose(0L, 4102444800000L), Gen.oneOf(true, false)).map { case (at, is) => StreamPhase.Parked(at, is) }
  )

  private val positions: Gen[ShardPosition] = {
    val numbers = Gen.frequency(
      1 -> Gen.const("0"),
      9 -> Gen.choose(1, 128).flatMap(n => Gen.listOfN(n, Gen.numChar).map(digits => "7" + digits.mkString))
    ).map(SequenceNumber(_))
    Gen.oneOf(
      Gen.const(Horizon),
      Gen.const(ShardEnd),
      Gen.choose(0L, 4102444800000L).map(ms => Start(StartingPosition.AtTimestamp(ms))),
      numbers.map(number => Start(StartingPosition.AtSequenceNumber(number))),
      Gen.zip(numbers, Gen.choose(0L, 4102444800000L)).map { case (number, ms) => After(number, ms) },
      Gen.zip(numbers, Gen.choose(0L, 1L << 40), Gen.choose(0L, 4102444800000L)).map { case (number, sub, ms) =>
        Within(number, sub, ms)
      }
    )
  }

  private val offsets: Gen[SourceOffset] = {
    val ids = Gen.frequency(
      5 -> Gen.choose(0L, 999999999999L).map(ShardId.ofIndex),
      1 -> Gen.alphaNumStr.suchThat(_.nonEmpty).map(s => ShardId(s + "_.-"))
    )
    val times = Gen.mapOf(Gen.zip(ids, Gen.choose(0L, 4102444800000L)))
    val streams = Gen.zip(Gen.choose(0, 99), Gen.mapOf(Gen.zip(ids, positions)), times, times, phases).map {
      case (n, shards, begun, since, phase) =>
        val arn = s"arn:aws:kinesis:eu-central-1:123456789012:stream/s$n"
        StreamOffset(s"s$n", arn, n.toLong, shards.to(SortedMap), begun.to(SortedMap), since.to(SortedMap), phase)
    }
    Gen.zip(Gen.listOf(streams), Gen.choose(0L, 9999L)).map { case (all, version) =>
      SourceOffset(all).copy(version = version)
    }
  }

  test("an encoded offset is decoded to the same offset") {
    forAll(offsets)(offset => assert(OffsetCodec.decode(OffsetCodec.encode(offset)) == offset))
  }

  test("10,000 shards take at most 50 bytes each") {
    val shards = (0 until 10000).map { i =>
      ShardId.ofIndex(i.toLong) -> After(
        SequenceNumber((BigInt("49674026002850188218576229259473476449429298564223254594") + BigInt(i) * 16).toString),
        1777320018123L + i * 37
      )
    }
    val text = OffsetCodec.encode(SourceOffset(Seq(StreamOffset(
      "orders",
      "arn:aws:kinesis:eu-central-1:123456789012:stream/orders",
      1777319237000L,
      shards.to(SortedMap)
    ))))
    assert(text.length <= 500000, s"${text.length} bytes")
  }

  private val rejected = Seq(
    "" -> "it is not JSON",
    "{}" -> "it has no version",
    """{"v":3,"streams":[]}""" -> "its version is 3, this connector reads up to 2",
    """{"v":1}""" -> "it names no streams",
    """{"v":1,"streams":[{"name":"a"}]}""" -> "a stream lacks",
    """{"v":1,"streams":[{"name":"a","arn":"a","created":1,"base":0,"shards":"0?"}]}""" -> "is not a shard's position",
    """{"v":1,"streams":[{"name":"a","arn":"a","created":1,"base":0,"shards":"0+1"}]}""" -> "is not a shard's position",
    """{"v":2,"streams":[{"name":"a","arn":"a","created":1,"base":0,"shards":"0!:1"}]}""" -> "is not a shard's position"
  )
  rejected.foreach { case (text, reason) =>
    test(s"decoding rejects '$text' because $reason") {
      val error = intercept[KinesisConnectorException](OffsetCodec.decode(text))
      assert(error.condition == "KINESIS_OFFSET_INVALID")
      assert(error.getMessage.contains(reason), error.getMessage)
    }
  }
}
