package org.sparkkinesis.model

import org.sparkkinesis.suite.TimedSuite

class StreamRefSuite extends TimedSuite {
  test("a name refers to a stream of the caller's account and region") {
    Seq("orders", "a", "Orders_2026.eu-1", "x" * 128).foreach { name =>
      val stream = StreamRef.parse(name)
      assert(stream == Some(StreamRef.ByName(name)))
      assert(stream.flatMap(_.arn) == None)
      assert(stream.map(_.toString) == Some(name))
    }
  }

  test("an ARN contains region, account and name") {
    Seq("aws", "aws-cn", "aws-us-gov").foreach { partition =>
      val arn = s"arn:$partition:kinesis:eu-central-1:123456789012:stream/orders"
      assert(StreamRef.parse(arn) == Some(StreamRef.ByArn(arn, "eu-central-1", "123456789012", "orders")))
      assert(StreamRef.parse(arn).map(_.toString) == Some(arn))
    }
  }

  test("a text that is neither a stream name nor a stream ARN is rejected") {
    val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
    val wrong = Seq(
      "",
      "two words",
      "a/b",
      "x" * 129,
      "orders ",
      s"$arn/consumer/etl:1",
      "arn:aws:s3:::bucket",
      arn.replace("123", "12")
    )
    wrong.foreach(text => assert(StreamRef.parse(text) == None, text))
  }

  test("shard ids contain the index with twelve digits and are sorted by it") {
    assert(ShardId.ofIndex(0).value == "shardId-000000000000")
    assert(ShardId.ofIndex(3076).value == "shardId-000000003076")
    assert(Seq(10L, 9L, 100L).map(ShardId.ofIndex).sorted == Seq(9L, 10L, 100L).map(ShardId.ofIndex))
  }
}
