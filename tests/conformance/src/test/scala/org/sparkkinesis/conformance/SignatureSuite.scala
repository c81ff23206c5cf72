package org.sparkkinesis.conformance

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._

import org.scalatest.BeforeAndAfterAll
import software.amazon.awssdk.auth.credentials._
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model.{CreateStreamRequest, KinesisException}
import software.amazon.awssdk.services.sts.StsClient
import software.amazon.awssdk.services.sts.model.{AssumeRoleRequest, StsException}

import org.sparkkinesis.conformance.client.Calls
import org.sparkkinesis.emulator.wire.auth.{EmulatorCredential, EmulatorRole}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.suite.TimedSuite

/** Tests signatures and roles as the AWS SDK creates and uses them. */
class SignatureSuite extends TimedSuite with BeforeAndAfterAll {
  private val role = "arn:aws:iam::222222222222:role/reader"
  private lazy val emulator = KinesisEmulator.start(
    EmulatorConfig(
      quotas = false,
      changeDelay = 0.seconds,
      credentials = Seq(EmulatorCredential("AKIAOWNER", "the-secret", "123456789012")),
      roles = Seq(EmulatorRole(role, Some("a-b-c")))
    )
  )
  override def afterAll(): Unit = emulator.close()

  private def withClient[A](
      credentials: AwsCredentials,
      region: Region = Region.US_EAST_1,
      endpoint: String = emulator.endpoint
  )(body: KinesisAsyncClient => A): A = {
    val client = KinesisAsyncClient
      .builder()
      .region(region)
      .endpointOverride(URI.create(endpoint))
      .credentialsProvider(if (credentials == null) AnonymousCredentialsProvider.create()
      else StaticCredentialsProvider.create(credentials))
      .httpClientBuilder(NettyNioAsyncHttpClient.builder())
      .build()
    try body(client)
    finally client.close()
  }

  private def refusal(credentials: AwsCredentials): String = withClient(credentials) { client =>
    intercept[KinesisException](Calls.await(client.listStreams())).awsErrorDetails.errorCode
  }

  private val owner = AwsBasicCredentials.create("AKIAOWNER", "the-secret")

  test("a request that is signed with the key's secret is served") {
    withClient(owner) { client =>
      Calls.await(client.createStream((r: CreateStreamRequest.Builder) => r.streamName("mine").shardCount(1)))
      assert(Calls.await(client.listStreams()).streamNames.size == 1)
    }
  }

  test("a wrong secret, an unknown key and a missing signature are the service's errors") {
    assert(refusal(AwsBasicCredentials.create("AKIAOWNER", "another-secret")) == "InvalidSignatureException")
    assert(refusal(AwsBasicCredentials.create("AKIASTRANGER", "the-secret")) == "UnrecognizedClientException")
    assert(refusal(null) == "MissingAuthenticationTokenException")
  }

  private def assumeRole(externalId: String): AwsSessionCredentials = {
    val sts = StsClient
      .builder()
      .region(Region.US_EAST_1)
      .endpointOverride(URI.create(emulator.endpoint))
      .credentialsProvider(StaticCredentialsProvider.create(owner))
      .httpClientBuilder(Apache5HttpClient.builder())
      .build()
    try {
      val request = AssumeRoleRequest.builder().roleArn(
        role
      ).roleSessionName("test").externalId(externalId).durationSeconds(900).build()
      val found = sts.assumeRole(request).credentials
      AwsSessionCredentials.create(found.accessKeyId, found.secretAccessKey, found.sessionToken)
    } finally sts.close()
  }

  test("an assumed role acts in its own account until its session expires") {
    val session = assumeRole("a-b-c")
    withClient(session) { client =>
      Calls.await(client.createStream((r: CreateStreamRequest.Builder) => r.streamName("theirs").shardCount(1)))
      assert(
        Calls.await(client.listStreams()).streamSummaries.get(0).streamARN ==
          "arn:aws:kinesis:us-east-1:222222222222:stream/theirs"
      )
    }
    emulator.admin.advanceClock(901 * 1000)
    assert(refusal(session) == "ExpiredTokenException")
  }

  test("a session key without its token and a role with a wrong external id are refused") {
    val session = assumeRole("a-b-c")
    assert(
      refusal(AwsBasicCredentials.create(session.accessKeyId, session.secretAccessKey)) ==
        "UnrecognizedClientException"
    )
    assert(intercept[StsException](assumeRole("wrong")).awsErrorDetails.errorCode == "AccessDenied")
  }

  test("one name is another stream in each region and in each account") {
    val accounts = Seq("111111111111", "222222222222")
    val several = KinesisEmulator.start(
      EmulatorConfig(quotas = false, changeDelay = 0.seconds).withAccounts(accounts)
    )
    try {
      val places = for (account <- accounts; region <- Seq(Region.US_EAST_1, Region.EU_WEST_1)) yield (account, region)
      def inPlace[A](place: (String, Region))(body: Calls => A): A =
        withClient(AwsBasicCredentials.create(place._1, "emulator"), place._2, several.endpoint)(client =>
          body(new Calls(client))
        )
      places.foreach { place =>
        inPlace(place) { calls =>
          calls.createStream("orders", 1)
          assert(calls.summary("orders").streamARN == s"arn:aws:kinesis:${place._2}:${place._1}:stream/orders")
          calls.put("orders", "key", place.toString)
        }
      }
      places.foreach { case (account, region) =>
        val stored = several.admin.in(account, region.id).records("orders")
        assert(stored.map(record => new String(record.data, UTF_8)) == Seq((account, region).toString))
      }
    } finally several.close()
  }

  test("streams of one key are separate in each region") {
    withClient(owner, Region.EU_WEST_1)(client => assert(Calls.await(client.listStreams()).streamNames.size == 0))
  }
}
