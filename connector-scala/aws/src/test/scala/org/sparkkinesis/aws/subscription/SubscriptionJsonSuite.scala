package org.sparkkinesis.aws.subscription

import scala.util.Try

import org.sparkkinesis.aws.request.ErrorAnswer
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.SubscribeToShardEvent
import org.sparkkinesis.suite.TimedSuite

class SubscriptionJsonSuite extends TimedSuite {
  private def event(json: String): SubscribeToShardEvent = {
    val bytes = json.getBytes("UTF-8")
    SubscriptionJson.event(bytes, 0, bytes.length)
  }

  private val requests: Seq[(StartingPosition, String)] = Seq(
    TrimHorizon -> """{"Type":"TRIM_HORIZON"}""",
    Latest -> """{"Type":"LATEST"}""",
    AtTimestamp(1700000000007L) -> """{"Type":"AT_TIMESTAMP","Timestamp":1700000000.007}""",
    AtSequenceNumber(SequenceNumber("12")) -> """{"Type":"AT_SEQUENCE_NUMBER","SequenceNumber":"12"}""",
    AfterSequenceNumber(SequenceNumber("12")) -> """{"Type":"AFTER_SEQUENCE_NUMBER","SequenceNumber":"12"}"""
  )
  for ((position, json) <- requests) test(s"a request from $position has the form that the service requires") {
    assert(
      new String(SubscriptionJson.request("arn", ShardId("shardId-000000000001"), position), "UTF-8") ==
        s"""{"ConsumerARN":"arn","ShardId":"shardId-000000000001","StartingPosition":$json}"""
    )
  }

  test("the records of an event are decoded with times in every form") {
    val read = event(
      """{"Records":[
        |{"SequenceNumber":"11","ApproximateArrivalTimestamp":1.700000000123E9,"Data":"YWI=",
        |"PartitionKey":"k","EncryptionType":"KMS"},
        |{"Unknown":{"deep":[1,{"a":2}]},"PartitionKey":"ключ","Data":"","ApproximateArrivalTimestamp":1700000000,
        |"SequenceNumber":"12","EncryptionType":"NONE"},
        |{"SequenceNumber":"13","ApproximateArrivalTimestamp":1700000000.5,"Data":"YWI=","PartitionKey":null}
        |],"ContinuationSequenceNumber":"13","MillisBehindLatest":42}""".stripMargin
    )
    assert(
      read.records.map(r =>
        (r.sequenceNumber, r.partitionKey, r.arrivalMillis, new String(r.data, "UTF-8"), r.encryptionType)
      ) ==
        IndexedSeq(
          ("11", "k", 1700000000123L, "ab", "KMS"),
          ("12", "ключ", 1700000000000L, "", null),
          ("13", null, 1700000000500L, "ab", null)
        )
    )
    assert((read.continuation, read.millisBehindLatest, read.children) == (Some(SequenceNumber("13")), 42L, Nil))
  }

  private val plain =
    """{"Records":[
    |{"SequenceNumber":"11","ApproximateArrivalTimestamp":1.700000000123E9,
    |"Data":"TWFueSBieXRlcyBhcmUgcmVhZCBlaWdodCBhdCBhIHRpbWU=","PartitionKey":"k","EncryptionType":"KMS"},
    |{"SequenceNumber":"12","ApproximateArrivalTimestamp":1700000000.5, "Data" : "" ,
    |"PartitionKey":null, "EncryptionType":"NONE"}
    |],"ContinuationSequenceNumber":"13","MillisBehindLatest":42,"ChildShards":[]}""".stripMargin

  private def show(event: SubscribeToShardEvent) = (
    event.records.map(r => (r.sequenceNumber, r.partitionKey, r.arrivalMillis, r.data.toSeq, r.encryptionType)),
    event.continuation,
    event.millisBehindLatest,
    event.children
  )

  test("a plain event is decoded without the general parser and with the same result") {
    val bytes = plain.getBytes("UTF-8")
    val read = PlainEvent.read(bytes, 0, bytes.length)
    assert(read != null)
    assert(show(read) == show(SubscriptionJson.anyEvent(bytes, 0, bytes.length)))
    val padded = Array.fill[Byte](3)('"') ++ bytes ++ Array.fill[Byte](3)('1')
    assert(show(PlainEvent.read(padded, 3, bytes.length)) == show(read))
  }

  test("a truncated or changed event is decoded as by the general parser") {
    val bytes = plain.getBytes("UTF-8")
    val cut = bytes.indices.map(length => bytes.take(length))
    val wrong = for (i <- bytes.indices; other <- "\u0000\u001f\"\\ {}[],:0e.n\u007f\u0080\u00e9")
      yield bytes.updated(i, other.toByte)
    val whole = Try(show(SubscriptionJson.anyEvent(bytes, 0, bytes.length)))
    assert(whole.isSuccess)
    cut.foreach(part => assert(PlainEvent.read(part, 0, part.length) == null))
    wrong.foreach { changed =>
      val read = PlainEvent.read(changed, 0, changed.length)
      if (read != null) Try(SubscriptionJson.anyEvent(changed, 0, changed.length)).foreach { expected =>
        assert(show(read) == show(expected), new String(changed, "ISO-8859-1"))
      }
    }
  }

  test("seconds in any number format are converted to milliseconds") {
    for (
      (text, millis) <- Seq(
        "1.7E9" -> 1700000000000L,
        "17e8" -> 1700000000000L,
        "1.700000000123E+9" -> 1700000000123L,
        "1700000000.12" -> 1700000000120L,
        "1700000000.1234" -> 1700000000123L,
        "1700000000" -> 1700000000000L,
        "0" -> 0L,
        "-1.5" -> -1500L
      )
    ) assert(
      event(
        s"""{"Records":[{"SequenceNumber":"1","ApproximateArrivalTimestamp":$text}]}"""
      ).records.map(_.arrivalMillis) ==
        IndexedSeq(millis),
      text
    )
  }

  test("the last event of a shard has an absent or null continuation and names the children") {
    val child =
      """{"ShardId":"shardId-000000000002","ParentShards":["shardId-000000000000","shardId-000000000001"],""" +
        """"HashKeyRange":{"StartingHashKey":"0","EndingHashKey":"340282366920938463463374607431768211455"}}"""
    for (continuation <- Seq("", "\"ContinuationSequenceNumber\":null,")) {
      val read = event(s"""{"Records":[],$continuation"MillisBehindLatest":0,"ChildShards":[$child]}""")
      assert(read.continuation == None)
      assert(
        read.children ==
          Seq(ChildShard(ShardId.ofIndex(2), Seq(0L, 1L).map(ShardId.ofIndex), HashKeyRange.Whole))
      )
    }
  }

  test("error types are decoded without their namespace, and text that is not JSON gives no error") {
    def error(text: String) = {
      val bytes = text.getBytes("UTF-8")
      ErrorAnswer.read(bytes, 0, bytes.length)
    }
    assert(
      error("""{"__type":"com.amazonaws.kinesis#ResourceInUseException","message":"busy"}""") ==
        (Some("ResourceInUseException"), Some("busy"))
    )
    assert(error("""{"Message":"x","extra":[1]}""") == (None, Some("x")))
    for (text <- Seq("", "<html>", "[1]", "{\"mess")) assert(error(text)._1 == None)
  }
}
