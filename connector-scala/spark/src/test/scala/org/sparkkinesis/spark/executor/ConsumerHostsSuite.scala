package org.sparkkinesis.spark.executor

import java.util.concurrent.{Executor, TimeoutException}

import scala.concurrent.duration._

import org.apache.spark.{SparkException, TaskKilledException}

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.{BlockingWait, VirtualScheduler}
import org.sparkkinesis.config.{ConnectorVersion, Options}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{ConsumersCrashed, CoordinatorLost, CoordinatorUnreachable}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.{LatencyCounts, LiveShard, TaskEnd}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.protocol.{
  Assign, Assigned, Broken, DriverPeer, Endpoint, ExecutorWire, OtherMessage, ProtocolCodec, Report, SendFullReport,
  StopAll, TaskEnded, ToDriver
}
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

/** How an executor's consumers react when the coordinator is gone or a message cannot be handled. */
class ConsumerHostsSuite extends TimedSuite {

  /** An executor on virtual time, and a coordinator that the test controls. */
  final private class Rig extends ExecutorWire {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    val environment = new VirtualEnvironment(time, service)
    var notFound = Option.empty[Exception]

    /** The error of the next message to the coordinator. */
    var nextError = Option.empty[Error]
    var isAlive = true
    var heard = Vector.empty[ToDriver]
    var tell: Array[Byte] => Unit = _ => ()
    val hosts = new ConsumerHosts(this, environment)
    private val client = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)

    def start(): Unit =
      hosts.ensureStarted("source", ReadSettings(Options.defaults, Map(FakeDirectory.arn("orders") -> client)))

    override def executorId: String = "7"
    override def executorHost: String = "host"
    override def driver(name: String): DriverPeer = new DriverPeer {
      override def send(message: Array[Byte]): Unit = {
        val error = nextError
        nextError = None
        error.foreach(throw _)
        heard :+= ProtocolCodec.decodeToDriver(message)
      }
      override def deliver(message: Array[Byte]): Unit = {
        notFound.foreach(throw _)
        heard :+= ProtocolCodec.decodeToDriver(message)
      }
      override def register(message: Array[Byte], self: Endpoint): Unit = notFound.foreach(throw _)
      override def ping(executor: Executor)(answer: Boolean => Unit): Unit =
        executor.execute(() => answer(isAlive))
    }
    override def open(name: String)(handler: Array[Byte] => Unit): Endpoint = {
      tell = handler
      () => ()
    }
  }

  /** Returns the exception of Spark's RPC for a call without an answer, which only Spark can create. */
  private def rpcTimeout(message: String): Exception = {
    val constructor = Class.forName("org.apache.spark.rpc.RpcTimeoutException")
      .getDeclaredConstructor(classOf[String], classOf[TimeoutException])
    constructor.setAccessible(true)
    constructor.newInstance(message, new TimeoutException) match {
      case timeout: Exception => timeout
      case other => fail(s"not an exception: $other")
    }
  }

  Seq[(String, Exception)](
    "is not found" -> new SparkException("no such endpoint"),
    "does not answer their introduction" -> rpcTimeout("no such endpoint")
  ).foreach { case (what, failure) =>
    test(s"consumers whose coordinator $what are closed, and can be started again") {
      val rig = new Rig
      rig.notFound = Some(failure)
      rig.start()
      assert(rig.environment.recorded.of[CoordinatorUnreachable] ==
        Vector(CoordinatorUnreachable("7", "no such endpoint")))
      assert(rig.hosts.find("source").isEmpty && rig.environment.open == 0)
      rig.notFound = None
      rig.start()
      assert(rig.hosts.find("source").nonEmpty)
    }
  }

  test("the end of a task is sent with the place of its executor, and the task fails if the driver does not answer") {
    val rig = new Rig
    rig.start()
    val host = rig.hosts.find("source").get
    val end = TaskEnd(Vector.empty, 3, 0, LatencyCounts.Empty)
    host.deliver(5, end)
    assert(rig.heard == Vector(TaskEnded("7", "host", 5, end)))
    Seq(new SparkException("no such endpoint"), rpcTimeout("no answer")).foreach { lost =>
      rig.notFound = Some(lost)
      val failure = intercept[KinesisConnectorException](host.deliver(6, end))
      assert(failure.condition == "KINESIS_REAL_TIME_DRIVER_UNREACHABLE" && failure.getCause == lost)
    }
    rig.tell(ProtocolCodec.encode(StopAll))
    rig.time.runDue()
    intercept[TaskKilledException](host.deliver(6, end))
  }

  private val orders = StreamShard(FakeDirectory.arn("orders"), ShardId.ofIndex(0))

  Seq[(String, Rig => Unit, Throwable => Boolean)](
    (
      "killed when its query stops",
      _.tell(ProtocolCodec.encode(StopAll)),
      // The driver may lack the connector's classes, so Spark must know the exception.
      _.getClass == classOf[TaskKilledException]
    ),
    ("failed when its consumers close", _.hosts.find("source").get.close(), _.isInstanceOf[LiveFeedFailed])
  ).foreach { case (how, stop, isExpected) =>
    test(s"a task of a real-time batch is $how") {
      val rig = new Rig
      rig.start()
      val feed = new LiveFeed(5, rig.time, BlockingWait)
      rig.hosts.find("source").get.claim(
        feed,
        Seq(LiveShard(orders, "orders", ShardPosition.Horizon, None)),
        areChildren = false
      )
      assert(feed.take(0).contains(orders))
      stop(rig)
      rig.time.runDue()
      assert(isExpected(intercept[RuntimeException](feed.take(0))))
    }
  }

  test("a task keeps its consumers after its end was sent, however long it takes, and for a while when it leaves") {
    val rig = new Rig
    rig.start()
    rig.service.isSilent = true
    val host = rig.hosts.find("source").get
    val shard = StreamShard(FakeDirectory.arn("orders"), ShardId.ofIndex(0))
    def isRead: Boolean = host.head(shard, StartingPosition.TrimHorizon).nonEmpty
    val feed = new LiveFeed(5, rig.time, rig.environment.waiting)
    host.claim(feed, Seq(LiveShard(shard, "orders", ShardPosition.Horizon, None)), areChildren = false)
    host.deliver(5, TaskEnd(Vector.empty, 3, 0, LatencyCounts.Empty))
    // The sink waits for the end of an outage.
    rig.time.advance(ConsumerHost.IdlePeriod * 20)
    assert(isRead && feed.isOpen)
    host.leave(feed)
    rig.time.advance(ConsumerHost.IdlePeriod - 1.milli)
    assert(isRead)
    rig.time.advance(1.milli)
    assert(!isRead)
  }

  test("consumers whose coordinator misses three pings are closed, and one that answers in time keeps them") {
    val rig = new Rig
    rig.start()
    rig.time.advance(ConsumerHost.PingPeriod * 10)
    rig.isAlive = false
    rig.time.advance(ConsumerHost.PingPeriod * 2)
    rig.isAlive = true
    rig.time.advance(ConsumerHost.PingPeriod)
    assert(rig.environment.recorded.of[CoordinatorLost].isEmpty && rig.hosts.find("source").nonEmpty)
    rig.isAlive = false
    rig.time.advance(ConsumerHost.PingPeriod * 3)
    assert(rig.environment.recorded.of[CoordinatorLost] == Vector(CoordinatorLost("7", ConsumerHost.PingsToMiss)))
    assert(rig.hosts.find("source").isEmpty)
  }

  Seq[Error](new OutOfMemoryError("for this test"), new NoClassDefFoundError("org/example/Missing")).foreach { error =>
    test(s"consumers whose background task fails with ${error.getClass.getSimpleName} tell the coordinator") {
      val rig = new Rig
      rig.start()
      rig.nextError = Some(error)
      // A report without a change, which the scheduler's thread sends.
      rig.tell(ProtocolCodec.encode(SendFullReport))
      val thrown =
        try { rig.time.runDue(); None }
        catch { case fatal: Error => Some(fatal) }
      assert(thrown.contains(error))
      assert(rig.environment.recorded.of[ConsumersCrashed].map(_.failure) == Vector(error))
      assert(rig.heard.collect { case broken: Broken => broken.reason } == Vector(error.toString))
      assert(rig.hosts.find("source").isEmpty)
    }
  }

  test("an error in a callback of the service is reported to the coordinator as a failure of the shard") {
    val rig = new Rig
    rig.start()
    rig.service.iteratorError = Some(new NoClassDefFoundError("org/example/Missing"))
    rig.tell(ProtocolCodec.encode(Assign(Seq(Assigned(orders, StartingPosition.TrimHorizon, 5, None, 0)), 0)))
    rig.time.advance(1.second)
    val failures = rig.heard.collect { case report: Report => report.shards.flatMap(_.failure) }.flatten
    assert(failures.map(_.errorCode).distinct == Vector("java.lang.NoClassDefFoundError"))
  }

  test("consumers whose driver has another version of the connector are closed, with both versions in the event") {
    val rig = new Rig
    rig.start()
    rig.tell(OtherMessage.of("9.8.7", ProtocolCodec.Format + 1))
    rig.time.runDue()
    val crashes = rig.environment.recorded.of[ConsumersCrashed].map(_.failure)
    assert(crashes.collect { case error: KinesisConnectorException => error.parameters } == Vector(Map(
      "driver" -> s"9.8.7 (format ${ProtocolCodec.Format + 1})",
      "executor" -> "executor 7",
      "executorVersion" -> ConnectorVersion.text
    )))
    // The driver takes it for a message of another version, and ends the query with both versions.
    assert(rig.heard.collect { case broken: Broken => broken.reason } == Vector(crashes.head.toString))
    assert(rig.hosts.find("source").isEmpty)
  }

  test("consumers that cannot handle a message are closed, and the coordinator is told why") {
    val rig = new Rig
    rig.start()
    rig.tell(ProtocolCodec.encode(StopAll).dropRight(1) :+ 99.toByte)
    rig.time.runDue()
    val crashes = rig.environment.recorded.of[ConsumersCrashed]
    assert(crashes.map(_.id) == Vector("7"))
    assert(rig.heard.collect { case broken: Broken => broken.reason } == Vector(crashes.head.failure.toString))
    assert(rig.hosts.find("source").isEmpty)
  }
}
