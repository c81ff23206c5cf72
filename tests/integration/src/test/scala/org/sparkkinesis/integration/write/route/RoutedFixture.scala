package org.sparkkinesis.integration.write.route

import scala.concurrent.duration._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

import org.sparkkinesis.emulator.wire.auth.EmulatorRole
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.integration.write.SinkFixture
import org.sparkkinesis.kit.stream.MemoryInput
import org.sparkkinesis.model.KinesisRecord

/** Streams in two regions and two accounts, and a metadata service that tells them. */
abstract class RoutedFixture extends SinkFixture {
  protected val own = "111111111111"
  protected val other = "222222222222"
  protected val here = "us-east-1"
  protected val there = "eu-west-1"
  protected val role = s"arn:aws:iam::$other:role/writer"

  override protected lazy val kinesis: KinesisEmulator = KinesisEmulator.start(
    EmulatorConfig(quotas = false, roles = Seq(EmulatorRole(role, Some("planted-external-id"))))
      .withAccounts(Seq(own, other))
  )

  override protected def timeLimit: FiniteDuration = 6.minutes

  override protected def connection(stream: String): Map[String, String] =
    super.connection(stream) ++ Map("awsAccessKey" -> own, "awsSecretKey" -> "emulator")

  protected def arn(name: String, region: String = here, account: String = own): String =
    s"arn:aws:kinesis:$region:$account:stream/$name"

  protected def create(name: String, region: String = here, account: String = own, shards: Int = 2): String =
    kinesis.admin.in(account, region).createStream(name, shards)

  protected def stored(name: String, region: String = here, account: String = own): Seq[KinesisRecord] =
    kinesis.admin.in(account, region).records(name)

  protected def texts(records: Seq[KinesisRecord]): Seq[String] = records.map(one => new String(one.data, "UTF-8"))

  /** Publishes the streams of `orders`, each as the members of its JSON object. */
  protected def publish(version: Long, streams: String*): Unit = {
    val members = streams.map(fields => s"{$fields}").mkString(",")
    kinesis.admin.setMetadata(s"""{"version":$version,"streams":{"orders":[$members]}}""")
    ()
  }

  protected def active(arn: String, more: String = ""): String = s""""arn":"$arn","state":"active"$more"""

  protected def logical: Map[String, String] = (target - "region") ++ Map(
    "streamId" -> "orders",
    "metadataService" -> kinesis.metadataUrl,
    "metadataRefreshInterval" -> "1s"
  )

  /** A query whose rows have their number as payload and as key. */
  final protected class Numbers(set: (String, String)*) {
    private val session = spark
    import session.implicits._
    private val input = MemoryInput[Int](session)
    private var next = 0

    private val rows: DataFrame = input.toDF()
      .select(col("value").cast("string").as("partitionKey"), col("value").cast("string").as("data"))
    val folder: String = set.toMap.getOrElse("checkpointLocation", checkpoint())

    def start(more: (String, String)*): StreamingQuery = {
      val options = logical ++ set ++ more
      val writer = rows.writeStream.format(format).options(options).trigger(Trigger.ProcessingTime(0))
      (if (options.contains("queryName")) writer else writer.option("checkpointLocation", folder)).start()
    }

    def add(count: Int): Unit = {
      input.addData(next until next + count)
      next += count
    }

    def written: Int = next
    def expected: Seq[String] = (0 until next).map(_.toString)
  }

  /** Adds rows at a rate for a time, on the calling thread. */
  protected def feed(numbers: Numbers, perSecond: Int, time: FiniteDuration): Unit = {
    val step = 100.millis
    val begin = System.nanoTime()
    (1 to (time / step).toInt).foreach { n =>
      numbers.add((perSecond * step.toMillis / 1000).toInt)
      val ahead = begin + step.toNanos * n - System.nanoTime()
      if (ahead > 0) java.util.concurrent.locks.LockSupport.parkNanos(ahead)
    }
  }
}
