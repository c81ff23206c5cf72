package org.sparkkinesis.aws.network

import java.io.IOException
import java.net.URI
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.{Failure, Success, Try, Using}

import software.amazon.awssdk.awscore.exception.AwsServiceException
import software.amazon.awssdk.regions.Region

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, Credentials, SdkClients, SdkKinesisService}
import org.sparkkinesis.aws.http.PlainHttp
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamRef}
import org.sparkkinesis.network.Network
import org.sparkkinesis.reference.NetworkTable
import org.sparkkinesis.service._

/** Makes every call of [[NetworkTable]], each with clients of its own, so that each opens a connection. */
object NetworkCalls {
  private val Account = "123456789012"

  /** The `User-Agent` of the calls. */
  val Caller = "spark-kinesis/1.2.3 app/application_1 name/nightly-etl"
  private val keys = CredentialSettings.Static(Account, "emulator", None)
  private val Arn = s"arn:aws:kinesis:us-east-1:$Account:stream/orders"
  private val ConsumerArn = s"$Arn/consumer/spark:1"
  val RoleArn = s"arn:aws:iam::$Account:role/reader"

  /**
   * Makes a call. Returns nothing if the service has answered, possibly with an error, else the failure.
   *
   * @param endpoint
   *   the option, if it is set
   */
  def make(call: String, endpoint: Option[String], network: Network): Option[Throwable] = {
    val settings = ClientSettings(Some("us-east-1"), endpoint, keys, network, Caller)
    val made = Try(call match {
      case NetworkTable.AssumeRole =>
        val role = CredentialSettings.AssumeRole(RoleArn, "test", None, endpoint, keys)
        Using.resource(Credentials.of(role, Region.US_EAST_1, network))(done(_)(_.resolveIdentity()))
      case NetworkTable.Metadata =>
        val http = new PlainHttp(network, 20.seconds, 1 << 20)
        val service = endpoint.getOrElse(NetworkTable.MetadataAddress)
        Using.resource(http)(_.get(URI.create(s"$service/metadata?id=x"), Nil).status)
      case Operation.PutRecordBatch.name =>
        val body = """{"DeliveryStreamName":"orders","Records":[{"Data":"eA=="}]}""".getBytes
        Using.resource(SdkClients.firehose(settings))(done(_)(_.call(Operation.PutRecordBatch, body)(_ => ())))
      case operation => Using.resource(SdkClients.create(settings))(done(_)(kinesis(operation)))
    })
    made match {
      case Success(_) => None
      case Failure(error) => Futures.unwrap(error) match {
          case answered: ServiceException
              if answered.kind != ServiceErrorKind.Network &&
                answered.kind != ServiceErrorKind.Client => None
          case _: AwsServiceException => None
          case other => Some(other)
        }
    }
  }

  private def done[C](client: C)(call: C => CompletableFuture[_]): Unit = {
    call(client).get(60, TimeUnit.SECONDS)
    ()
  }

  private val stream = StreamRef.ByName("orders")

  private def kinesis(operation: String)(service: SdkKinesisService): CompletableFuture[_] =
    Operation.all.find(_.name == operation).get match {
      case Operation.GetRecords => service.getRecords(stream, "iterator", 10)
      case Operation.GetShardIterator =>
        service.getShardIterator(stream, ShardId.ofIndex(0), StartingPosition.TrimHorizon)
      case Operation.ListShards => service.listShards(stream, ShardFilter.AtLatest, None)
      case Operation.RegisterStreamConsumer => service.registerStreamConsumer(Arn, "spark")
      case Operation.DeregisterStreamConsumer => service.deregisterStreamConsumer(ConsumerArn)
      case Operation.ListStreamConsumers => service.listStreamConsumers(Arn, None)
      case Operation.DescribeStreamConsumer => service.describeStreamConsumer(ConsumerArn)
      case Operation.DescribeStreamSummary => service.describeStream(stream)
      case Operation.ListStreams => service.listStreams(None)
      case Operation.PutRecords => service.putRecords(stream, Vector(PutEntry("k", None, Array[Byte](1))))
      case Operation.SubscribeToShard =>
        val result = new CompletableFuture[Unit]
        service.subscribeToShard(
          ConsumerArn,
          ShardId.ofIndex(0),
          StartingPosition.TrimHorizon,
          new ShardSubscriber {
            override def onSubscribed(): Unit = { result.complete(()); () }
            override def onEvent(event: SubscribeToShardEvent): Unit = ()
            override def onError(error: ServiceException): Unit = { result.completeExceptionally(error); () }
            override def onComplete(): Unit = { result.complete(()); () }
          }
        )
        result
      case other => CompletableFuture.failedFuture(new IOException(s"the test does not make $other"))
    }

  /** Makes all calls and prints which failed: for a process with an environment of its own. */
  def main(args: Array[String]): Unit = NetworkTable.calls.foreach { call =>
    println(s"CALL\t$call\t${make(call, Some(args(0)), Network.Standard).fold("answered")(_.toString)}")
  }
}
