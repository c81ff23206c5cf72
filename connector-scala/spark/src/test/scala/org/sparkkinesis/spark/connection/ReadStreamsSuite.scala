package org.sparkkinesis.spark.connection

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.{CheckedStream, StreamIdentity}
import org.sparkkinesis.suite.TimedSuite

class ReadStreamsSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:us-east-1:000000000000:stream/a"
  private def stream(endpoint: String, arn: String = arn, created: Long = 1) =
    CheckedStream(StreamRef.ByName("a"), StreamIdentity(arn, created, endpoint), 1 << 20)

  private def isRefused(read: CheckedStream, written: CheckedStream): Boolean = {
    val sources = ReadStreams.reading(Seq(read.identity))
    try {
      sources.refuse(written)
      false
    } catch {
      case error: KinesisConnectorException =>
        assert(error.condition == "KINESIS_SINK_LOOP")
        true
    }
  }

  test("a stream that the query reads is an error, with any endpoint of AWS") {
    val addresses =
      Seq(
        "",
        "https://kinesis.us-east-1.amazonaws.com",
        "https://kinesis-fips.us-east-1.amazonaws.com",
        "https://kinesis.us-east-1.api.aws",
        "https://000000000000.data-kinesis.us-east-1.amazonaws.com",
        "https://vpce-1.kinesis.us-east-1.vpce.amazonaws.com"
      )
    // Also if it was recreated.
    for (read <- addresses; written <- addresses) assert(isRefused(stream(read), stream(written, created = 2)))
    assert(isRefused(stream("http://127.0.0.1:1"), stream("http://127.0.0.1:1")))
  }

  test("a stream of another name, account, region or service is accepted") {
    assert(!isRefused(stream(""), stream("", arn.replace("stream/a", "stream/b"))))
    assert(!isRefused(stream(""), stream("", arn.replace("000000000000", "000000000001"))))
    assert(!isRefused(stream(""), stream("", arn.replace("us-east-1", "us-east-2"))))
    assert(!isRefused(stream("http://127.0.0.1:1"), stream("http://127.0.0.1:2", created = 2)))
    assert(!isRefused(stream("http://127.0.0.1:1"), stream("", created = 2)))
  }

  test("a stream that the query reads is an error through a private name, because it was created at the same time") {
    assert(isRefused(stream("https://kinesis.corp.example.com"), stream("")))
    assert(isRefused(stream("http://127.0.0.1:1"), stream("http://localhost:1")))
    assert(!isRefused(stream("https://notamazonaws.com"), stream("", created = 2)))
  }

  test("a consumer has one owner, whatever the address is") {
    val inUse = new ConsumersInUse
    val (one, other) = (new Object, new Object)
    assert(inUse.claim("consumer", 1, one))
    assert(inUse.claim("consumer", 1, one))
    assert(!inUse.claim("consumer", 1, other))
    // At another service, which has a stream of the same ARN.
    assert(inUse.claim("consumer", 2, other))
    inUse.release(one)
    assert(inUse.claim("consumer", 1, other))
  }

  test("a stream that the query reads is an error even if it was recreated") {
    assert(isRefused(stream("", created = 1), stream("", created = 2)))
  }
}
