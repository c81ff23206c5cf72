package org.sparkkinesis.spark.coordinator

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.{SparkConf, SparkContext}
import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.RecordedEvents
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.spark.connection.RecordingEnvironment
import org.sparkkinesis.spark.coordinator.cluster.SparkCluster
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

/** The common part of the coordinator's suites: a stream of four shards, and fake executors over Spark's RPC. */
abstract class CoordinatorFixture extends TimedSuite with BeforeAndAfterAll {
  protected val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  override protected def timeLimit: FiniteDuration = 1.minute

  protected lazy val context = new SparkContext(
    new SparkConf().setMaster("local[1]").setAppName("coordinator").set("spark.ui.enabled", "false")
      .set("spark.driver.bindAddress", "127.0.0.1").set("spark.driver.host", "127.0.0.1")
  )
  protected val settings = ReadSettings(
    Options.read(Map("streamName" -> "orders")),
    Map(arn -> ClientSettings.of(Some("us-east-1"), Some("http://127.0.0.1:9"), CredentialSettings.DefaultChain))
  )

  override def afterAll(): Unit = context.stop()

  protected def id(index: Int) = ShardId.ofIndex(index.toLong)
  protected def shard(index: Int) = StreamShard(arn, id(index))
  protected def number(value: Int) = SequenceNumber(value.toString)
  protected def offset(shards: (Int, ShardPosition)*) =
    SourceOffset(Seq(StreamOffset("orders", arn, 1, shards.map { case (i, p) => id(i) -> p }.to(SortedMap))))
  protected def after(last: Int) = ShardPosition.After(number(last), 0)
  protected val start = offset((0 until 4).map(_ -> ShardPosition.Horizon): _*)
  protected val listing = (0 until 4).map(i =>
    Shard(id(i), None, None, HashKeyRange.uniform(4)(i), number(1), None)
  )

  /** A coordinator with fake executors, so that no job has to start consumers. */
  protected class Setup(
      executors: Seq[String],
      list: String => Seq[Shard],
      streamsMayLeave: Boolean = false,
      listMillis: Long = 600000
  ) extends AutoCloseable {
    val sourceId: String = java.util.UUID.randomUUID().toString
    val events = new RecordedEvents
    val coordinator = new ShardCoordinator(
      new SparkCluster(context),
      sourceId,
      settings,
      Seq(arn),
      list,
      listMillis,
      () => System.currentTimeMillis(),
      () => 0L,
      0,
      new RecordingEnvironment(events),
      streamsMayLeave
    )
    val all: Map[String, FakeExecutor] = executors.map(id => id -> new FakeExecutor(id, sourceId)).toMap
    all.values.foreach(_.register())
    def apply(id: String): FakeExecutor = all(id)

    /** Returns executor and epoch by shard, after every executor has received its share. */
    def assigned(): Map[StreamShard, (String, Long)] =
      all.values.flatMap(e => e.nextAssign().map(a => a.shard -> (e.id -> a.epoch))).toMap

    override def close(): Unit = {
      coordinator.close()
      all.values.foreach(_.close())
    }
  }

  protected def withSetup(executors: String*)(body: Setup => Unit): Unit =
    Using.resource(new Setup(executors, _ => listing))(body)

  /** Waits until this number of rows is available. */
  protected def rows(setup: Setup)(count: Long): Unit = {
    val deadline = 20.seconds.fromNow
    while (setup.coordinator.prefetched.availableRows != count) {
      assert(deadline.hasTimeLeft(), s"${setup.coordinator.prefetched.availableRows} rows, not $count")
      setup.coordinator.prefetched.awaitChange(setup.coordinator.prefetched.changes, 100)
    }
    prove(setup)
    ()
  }

  /** Does what the query does when a description shows that no stream was recreated. */
  protected def prove(setup: Setup): Boolean = {
    val view = setup.coordinator.prefetched
    view.prove(view.unproven.keySet, System.nanoTime)
    false
  }
}
