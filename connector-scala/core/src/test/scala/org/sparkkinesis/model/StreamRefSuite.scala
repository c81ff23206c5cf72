package org.sparkkinesis.model

import org.sparkkinesis.suite.TimedSuite

class StreamRefSuite extends TimedSuite {
  test("a name is a stream of the caller's own account and region") {
    Seq("orders", "a", "Orders_2026.eu-1", "x" * 128).foreach { name =>
      val stream = StreamRef.parse(name)
      assert(stream == Some(StreamRef.ByName(name)))
      assert(stream.flatMap(_.arn) == None)
      assert(stream.map(_.toString) == Some(name))
    }
  }

  test("an ARN tells region, account and name") {
    Seq("aws", "aws-cn", "aws-us-gov").foreach { partition =>
      val arn = s"arn:$partition:kinesis:eu-central-1:123456789012:stream/orders"
      assert(StreamRef.parse(arn) == Some(StreamRef.ByArn(arn, "eu-central-1", "123456789012", "orders")))
      assert(StreamRef.parse(arn).map(_.toString) == Some(arn))
    }
  }

  test("what is neither a name nor a stream's ARN is no stream") {
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

  test("shard ids carry the index with twelve digits and sort by it") {
    assert(ShardId.ofIndex(0).value == "shardId-000000000000")
    assert(ShardId.ofIndex(3076).value == "shardId-000000003076")
    assert(Seq(10L, 9L, 100L).map(ShardId.ofIndex).sorted == Seq(9L, 10L, 100L).map(ShardId.ofIndex))
  }
}
