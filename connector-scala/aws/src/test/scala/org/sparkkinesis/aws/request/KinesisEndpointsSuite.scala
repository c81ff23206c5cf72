package org.sparkkinesis.aws.request

import java.net.URI
import java.util.concurrent.CompletionException

import software.amazon.awssdk.regions.Region

import org.sparkkinesis.suite.TimedSuite

/** Addresses of calls that the SDK's client does not make. They are those that it would use. */
class KinesisEndpointsSuite extends TimedSuite {
  private val stream = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
  private val consumer = s"$stream/consumer/spark:1"

  /** Sets system properties of the JVM for a while. */
  private def withProperties(settings: (String, String)*)(body: => Unit): Unit = {
    settings.foreach { case (key, value) => System.setProperty(key, value) }
    try body
    finally settings.foreach { case (key, _) => System.clearProperty(key) }
  }

  private def addresses(region: Region, overridden: Option[URI] = None): Seq[String] = {
    val endpoints = new KinesisEndpoints(region, new EndpointSettings("Kinesis", overridden, None))
    Seq(endpoints.ofStream(None), endpoints.ofStream(Some(stream)), endpoints.ofConsumer(consumer)).map(_.toString)
  }

  test("an ARN selects the address of its account, a name that of the region") {
    val ofAccount = "https://123456789012.data-kinesis.us-east-1.amazonaws.com"
    assert(addresses(Region.US_EAST_1) == Seq("https://kinesis.us-east-1.amazonaws.com", ofAccount, ofAccount))
    val ofChina = new KinesisEndpoints(Region.CN_NORTH_1, new EndpointSettings("Kinesis", None, None))
    val chinese = "arn:aws-cn:kinesis:cn-north-1:123456789012:stream/orders"
    assert(Seq(None, Some(chinese)).map(ofChina.ofStream(_).toString) == Seq(
      "https://kinesis.cn-north-1.amazonaws.com.cn",
      "https://123456789012.data-kinesis.cn-north-1.amazonaws.com.cn"
    ))
  }

  test("FIPS and dual-stack endpoints are used as the SDK's settings say") {
    withProperties("aws.useFipsEndpoint" -> "true") {
      assert(addresses(Region.US_EAST_1).forall(_.contains("kinesis-fips.us-east-1.amazonaws.com")))
    }
    withProperties("aws.useDualstackEndpoint" -> "true") {
      assert(addresses(Region.US_EAST_1).forall(_.endsWith("kinesis.us-east-1.api.aws")))
    }
  }

  test("an ARN of another partition than the region is refused") {
    val refused = intercept[CompletionException](new KinesisEndpoints(
      Region.CN_NORTH_1,
      new EndpointSettings("Kinesis", None, None)
    ).ofStream(Some(stream)))
    assert(refused.getMessage.contains("Partition"), refused.getMessage)
  }

  test("an address that is set is the address of all calls") {
    val address = "http://localhost:4566"
    assert(addresses(Region.US_EAST_1, Some(URI.create(address))).toSet == Set(address))
  }
}
