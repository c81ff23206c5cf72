package org.sparkkinesis.integration.localstack

import java.nio.file.{Files, Path}
import java.util.UUID

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.streaming.Trigger
import org.testcontainers.DockerClientFactory
import org.testcontainers.localstack.LocalStackContainer
import org.testcontainers.utility.DockerImageName
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisClient
import software.amazon.awssdk.services.kinesis.model.{PutRecordsRequestEntry, ScalingType}

import org.sparkkinesis.integration.SparkSuite

/**
 * Runs against LocalStack: at `LOCALSTACK_ENDPOINT` if it is set, else in a container if Docker is available, else
 * skipped. LocalStack's enhanced fan-out is too incomplete to test with.
 */
class LocalStackSuite extends SparkSuite {
  override protected def timeLimit: FiniteDuration = 5.minutes

  private lazy val container: Try[LocalStackContainer] =
    Try(hasDocker).filter(identity).flatMap { _ =>
      Try {
        val started =
          new LocalStackContainer(DockerImageName.parse("localstack/localstack:4.9")).withServices("kinesis")
        started.start()
        started
      }
    }

  private def hasDocker: Boolean = (sys.env.contains("DOCKER_HOST") || Files.exists(Path.of("/var/run/docker.sock"))) &&
    DockerClientFactory.instance().isDockerAvailable

  private lazy val endpoint: Try[String] =
    sys.env.get("LOCALSTACK_ENDPOINT").fold(container.map(_.getEndpoint.toString))(Success(_))

  private lazy val client: KinesisClient = KinesisClient
    .builder()
    .endpointOverride(java.net.URI.create(endpoint.get))
    .region(Region.US_EAST_1)
    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
    .httpClient(Apache5HttpClient.create())
    .build()

  override def afterAll(): Unit = {
    // Without an endpoint there is no session to stop, and accessing it would start one.
    if (endpoint.isSuccess) super.afterAll()
    container.foreach(_.stop())
  }

  override protected def connection(stream: String): Map[String, String] = Map(
    "streamName" -> stream,
    "endpoint" -> endpoint.get,
    "region" -> "us-east-1",
    "awsAccessKey" -> "test",
    "awsSecretKey" -> "test"
  )

  private def testWithLocalStack(name: String)(body: => Unit): Unit = test(name) {
    endpoint match {
      case Success(_) => body
      case Failure(why) => assume(false, s"no LOCALSTACK_ENDPOINT, and no Docker: $why")
    }
  }

  private def newStream(shards: Int): String = {
    val name = s"it-${UUID.randomUUID()}"
    client.createStream(request => request.streamName(name).shardCount(shards))
    client.waiter().waitUntilStreamExists(request => request.streamName(name))
    name
  }

  private def put(stream: String, values: Seq[Int]): Unit = values.grouped(500).foreach { some =>
    val entries = some.map { i =>
      PutRecordsRequestEntry.builder().partitionKey(s"k$i").data(SdkBytes.fromUtf8String(i.toString)).build()
    }
    val answer = client.putRecords(request => request.streamName(stream).records(entries.asJava))
    assert(answer.failedRecordCount.intValue == 0)
  }

  private def readAll(stream: String, checkpoint: String): Set[Int] = {
    val rows = collection.mutable.Set.empty[Int]
    val query = readStream(stream).load().selectExpr("CAST(CAST(data AS STRING) AS INT)").writeStream
      .option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow)
      .foreachBatch { (batch: org.apache.spark.sql.Dataset[org.apache.spark.sql.Row], _: Long) =>
        val some = batch.collect().map(_.getInt(0))
        assert(some.toSet.intersect(rows) == Set.empty[Int])
        rows ++= some
        ()
      }
      .start()
    query.awaitTermination()
    rows.toSet
  }

  testWithLocalStack("a stream is read once, across a restart") {
    val stream = newStream(2)
    val place = checkpoint()
    put(stream, 0 until 1000)
    assert(readAll(stream, place) == (0 until 1000).toSet)
    put(stream, 1000 until 1500)
    assert(readAll(stream, place) == (1000 until 1500).toSet)
  }

  testWithLocalStack("records before and after an increase of the shard count are read once") {
    val stream = newStream(1)
    put(stream, 0 until 500)
    client.updateShardCount(request =>
      request.streamName(stream).targetShardCount(2).scalingType(ScalingType.UNIFORM_SCALING)
    )
    client.waiter().waitUntilStreamExists(request => request.streamName(stream))
    put(stream, 500 until 1000)
    assert(readAll(stream, checkpoint()) == (0 until 1000).toSet)
  }

  testWithLocalStack("written rows can be read") {
    val stream = newStream(2)
    spark.range(1000).selectExpr("CAST(id AS STRING) AS partitionKey", "CAST(id AS STRING) AS data").write
      .format("kinesis").options(connection(stream)).mode("append").save()
    assert(readAll(stream, checkpoint()) == (0 until 1000).toSet)
  }
}
