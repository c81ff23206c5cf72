package org.sparkkinesis.aws.transport

import java.io.ByteArrayInputStream
import java.net.URI
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.time.{Clock, Instant, ZoneOffset}

import scala.jdk.CollectionConverters._

import org.scalacheck.Gen
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, AwsCredentials, AwsSessionCredentials}
import software.amazon.awssdk.http.auth.aws.signer.{AwsV4FamilyHttpSigner, AwsV4HttpSigner}
import software.amazon.awssdk.http.auth.spi.signer.{HttpSigner, SignRequest}
import software.amazon.awssdk.http.{ContentStreamProvider, SdkHttpMethod, SdkHttpRequest}

import org.sparkkinesis.suite.PropertySuite

/** Signatures are those of the SDK's signer. */
class SignatureSuite extends PropertySuite {
  private case class Case(
      credentials: AwsCredentials,
      region: String,
      service: String,
      endpoint: URI,
      now: Instant,
      operation: String,
      content: Array[Byte],
      length: Int
  )

  private val text: Gen[String] = Gen.nonEmptyListOf(Gen.oneOf(('!' to '~').filter(_ != ','))).map(_.mkString)

  private val credentials: Gen[AwsCredentials] = for {
    id <- Gen.nonEmptyListOf(Gen.alphaNumChar).map(_.mkString)
    secret <- text
    token <- Gen.option(text)
  } yield token.fold[AwsCredentials](AwsBasicCredentials.create(
    id,
    secret
  ))(AwsSessionCredentials.create(id, secret, _))

  private val cases: Gen[Case] = for {
    who <- credentials
    region <- Gen.oneOf("us-east-1", "cn-north-1", "eu-central-1")
    service <- Gen.oneOf("kinesis", "firehose")
    scheme <- Gen.oneOf("http", "https")
    host <- Gen.oneOf("kinesis.us-east-1.amazonaws.com", "localhost", "127.0.0.1")
    port <- Gen.oneOf("", ":80", ":443", ":4567")
    path <- Gen.oneOf("", "/", "/a", "/a/b", "/a-b_c.d~e/", "/a%20b")
    seconds <- Gen.choose(1_700_000_000L, 1_900_000_000L)
    operation <- Gen.oneOf("Kinesis_20131202.GetRecords", "Firehose_20150804.PutRecordBatch")
    bytes <- Gen.containerOf[Array, Byte](Gen.choose(Byte.MinValue, Byte.MaxValue))
    length <- Gen.choose(0, bytes.length)
  } yield Case(
    who,
    region,
    service,
    URI.create(s"$scheme://$host$port$path"),
    Instant.ofEpochSecond(seconds),
    operation,
    bytes,
    length
  )

  private def own(one: Case, signature: Signature): Map[String, String] = {
    val request = signature.sign(
      one.credentials,
      one.now,
      Target.of(one.endpoint),
      Signature.pathOf(one.endpoint),
      "application/x-amz-cbor-1.1",
      one.operation,
      one.content,
      one.length
    )
    val lines = new String(request.head(None), ISO_8859_1).split("\r\n")
    lines.tail.map { line =>
      val end = line.indexOf(": ")
      line.take(end).toLowerCase -> line.drop(end + 2)
    }.toMap
  }

  private def ofSdk(one: Case): Map[String, String] = {
    val request = SdkHttpRequest.builder().method(SdkHttpMethod.POST).uri(one.endpoint)
      .putHeader("Content-Type", "application/x-amz-cbor-1.1")
      .putHeader("Content-Length", one.length.toString)
      .putHeader("X-Amz-Target", one.operation)
      .putHeader("User-Agent", "spark-kinesis")
      .build()
    val payload: ContentStreamProvider = () => new ByteArrayInputStream(one.content, 0, one.length)
    AwsV4HttpSigner.create().sign(
      SignRequest.builder(one.credentials).request(request).payload(payload)
        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, one.service)
        .putProperty(AwsV4HttpSigner.REGION_NAME, one.region)
        .putProperty(HttpSigner.SIGNING_CLOCK, Clock.fixed(one.now, ZoneOffset.UTC))
        .build()
    ).request.headers.asScala.map { case (name, values) => name.toLowerCase -> values.get(0) }.toMap
  }

  test("a request has the headers and the signature of the SDK's signer") {
    forAllNoShrink(cases, Gen.const(())) { (one, _) =>
      assert(own(one, new Signature(one.service, one.region, "spark-kinesis")) == ofSdk(one))
    }
  }

  test("one signer signs for several days and credentials in turn") {
    forAllNoShrink(cases, cases) { (one, other) =>
      val signer = new Signature(one.service, one.region, "spark-kinesis")
      val same = other.copy(service = one.service, region = one.region)
      assert(Seq(one, same, one).map(own(_, signer)) == Seq(one, same, one).map(ofSdk))
    }
  }
}
