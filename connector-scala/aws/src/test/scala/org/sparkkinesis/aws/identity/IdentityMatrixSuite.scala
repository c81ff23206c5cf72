package org.sparkkinesis.aws.identity

import java.nio.file.Files
import java.time.{Clock, Duration => JavaDuration}
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{CompletableFuture, Executors, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.aws.client.{SdkClients, SdkKinesisService, WithEmulator}
import org.sparkkinesis.aws.http.DaemonThreads
import org.sparkkinesis.concurrent.{Cancellable, Futures, Scheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.emulator.EmulatorConfig
import org.sparkkinesis.emulator.wire.auth.{EmulatorCredential, EmulatorSession}
import org.sparkkinesis.event.{ConnectorEvent, EventSink, OutageBegan, OutageEnded}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamRef}
import org.sparkkinesis.reference.GeneratedFiles
import org.sparkkinesis.retry.{Outages, Retrier, RetryPolicies, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{
  Operation, PutEntry, ServiceErrorKind, ServiceException, ShardFilter, ShardSubscriber, SubscribeToShardEvent
}

/**
 * What each call does with each identity when the credentials, their source or the clock fail. Prints its table. The
 * time of pauses passes at once.
 */
class IdentityMatrixSuite
    extends WithEmulator(EmulatorConfig(
      quotas = false,
      credentials = Seq(EmulatorCredential(IdentitySources.Key, IdentitySources.Secret, "123456789012")),
      roles = Seq(IdentitySources.Hub, IdentitySources.Reader),
      checksTime = true
    )) {
  import IdentityMatrixSuite._

  private lazy val folder = Files.createTempDirectory("identity")
  private lazy val arn = emulator.admin.createStream("orders", 1)
  private lazy val stream = StreamRef.parse(arn).get
  private lazy val consumer = await(service.registerStreamConsumer(arn, "reader")).arn
  private lazy val sources = IdentitySources.of(emulator, folder)
  private val table = mutable.LinkedHashMap.empty[(String, String), String]

  private type Call = SdkKinesisService => CompletableFuture[_]

  private def calls: Seq[(Operation, Call)] = Seq(
    Operation.DescribeStreamSummary -> (_.describeStream(stream)),
    Operation.ListShards -> (_.listShards(stream, ShardFilter.AtLatest, None)),
    Operation.GetShardIterator -> (_.getShardIterator(stream, First, StartingPosition.TrimHorizon)),
    Operation.GetRecords -> {
      val iterator = await(service.getShardIterator(stream, First, StartingPosition.TrimHorizon))
      _.getRecords(stream, iterator, 10)
    },
    Operation.PutRecords -> (_.putRecords(stream, IndexedSeq(PutEntry("key", None, Array[Byte](1))))),
    Operation.SubscribeToShard -> subscribe
  )

  private def subscribe(by: SdkKinesisService): CompletableFuture[_] = {
    val begun = new CompletableFuture[Unit]
    val call = by.subscribeToShard(
      consumer,
      First,
      StartingPosition.TrimHorizon,
      new ShardSubscriber {
        override def onSubscribed(): Unit = {
          begun.complete(())
          ()
        }
        override def onEvent(event: SubscribeToShardEvent): Unit = ()
        override def onError(failure: ServiceException): Unit = {
          // The caller is admitted; another test's subscription is younger than five seconds.
          if (failure.kind == ServiceErrorKind.ResourceInUse) begun.complete(())
          else begun.completeExceptionally(failure)
          ()
        }
        override def onComplete(): Unit = ()
      }
    )
    begun.thenAccept(_ => call.cancel())
  }

  /** A client of one source, whose calls are retried as a query does it. */
  final private class Query(source: IdentitySource, machine: Clock, policy: RetryPolicy) extends AutoCloseable {
    val scheduler = new PassingTime
    val events = new java.util.concurrent.ConcurrentLinkedQueue[ConnectorEvent]
    var failures = 0
    private val outages = new Outages(scheduler, event => { events.add(event); () })
    val service: SdkKinesisService = {
      val client = settings.copy(credentials = source.settings)
      SdkClients.create(client, EventSink.Discard, machine, () => scheduler.nanoTime)
    }

    /** Makes a call, and runs `atFailure` at each failure that is retried. Returns how the call ends. */
    def run(call: Call)(atFailure: => Unit): Either[ServiceException, Unit] = {
      failures = 0
      val retrier = new Retrier(
        scheduler,
        RetryRules.Default,
        () => 0.5,
        (error, inARow) => {
          failures = inARow
          outages.failed("orders", None, inARow, error)
          atFailure
        }
      )
      val ended = await(retrier.retry(policy)(() => call(service).thenApply[Unit](_ => ())).handle[
        Either[ServiceException, Unit]
      ]((_, failure) =>
        Option(failure).map(Futures.unwrap) match {
          case None => Right(())
          case Some(error: ServiceException) => Left(error)
          case Some(other) => throw other
        }
      ))
      if (ended.isRight && failures >= Outages.Notable) outages.recovered("orders", None)
      ended
    }

    override def close(): Unit = {
      service.close()
      scheduler.close()
    }
  }

  private def withProperties(source: IdentitySource)(body: => Unit): Unit = {
    source.properties.foreach { case (key, value) => System.setProperty(key, value) }
    try body
    finally {
      source.properties.keys.foreach(System.clearProperty)
      emulator.faults.clear()
    }
  }

  /** Before a query starts, reads retry a few times only. */
  private val start = RetryPolicies.of(Options.defaults)(Operation.DescribeStreamSummary)
  private val running = RetryPolicies.of(Options.defaults)(Operation.GetRecords)

  private def note(source: IdentitySource, moment: String, results: Seq[String]): Unit =
    table((source.name, moment)) = results.distinct.mkString(" | ")

  private def warned(query: Query): Unit = {
    val seen = query.events.toArray.toSeq
    if (query.failures >= Outages.Notable) {
      assert(seen.collect { case began: OutageBegan => began.failures } == Seq(Outages.Notable))
      assert(seen.exists(_.isInstanceOf[OutageEnded]))
    } else assert(seen.isEmpty)
  }

  private def outcome(ended: Either[ServiceException, Unit], query: Query): String = ended match {
    case Right(()) if query.failures == 0 => "succeeds at once"
    case Right(()) => "is retried"
    case Left(error) => s"ends: ${error.errorCode}"
  }

  private def each(moment: String)(check: (IdentitySource, Operation, Call) => String): Unit =
    (0 until Sources).foreach { index =>
      test(s"$moment: identity ${index + 1} of $Sources") {
        val source = sources(index)
        withProperties(source) {
          note(
            source,
            moment,
            calls.map { case (operation, call) =>
              source.give(emulator.createSession())
              try check(source, operation, call)
              catch { case failed: Throwable => throw new AssertionError(s"$source, $operation: $failed", failed) }
            }
          )
        }
      }
    }

  each("the source fails at the start for 10 s") { (source, _, call) =>
    if (source.isFixed) "cannot happen"
    else {
      source.fail()
      Using.resource(new Query(source, Clock.systemUTC, start)) { query =>
        val ended = query.run(call)(if (query.scheduler.elapsed >= 10.seconds) source.give(emulator.createSession()))
        assert(ended == Right(()))
        assert(query.failures >= Outages.Notable)
        warned(query)
        outcome(ended, query)
      }
    }
  }

  each("the source fails in the middle for 10 s") { (source, _, call) =>
    if (source.isFixed) "cannot happen"
    else
      Using.resource(new Query(source, Clock.systemUTC, running)) { query =>
        assert(query.run(_.describeStream(stream))(()) == Right(()))
        source.fail()
        emulator.expireSessions()
        val began = query.scheduler.elapsed
        val ended =
          query.run(call)(if (query.scheduler.elapsed - began >= 10.seconds) source.give(emulator.createSession()))
        assert(ended == Right(()))
        assert(query.failures >= Outages.Notable)
        warned(query)
        outcome(ended, query)
      }
  }

  each("the credentials expire in the middle, and new ones come 2 s later") { (source, _, call) =>
    Using.resource(new Query(source, Clock.systemUTC, running)) { query =>
      assert(query.run(_.describeStream(stream))(()) == Right(()))
      emulator.expireSessions()
      val began = query.scheduler.elapsed
      val ended =
        query.run(call)(if (query.scheduler.elapsed - began >= 2.seconds) source.give(emulator.createSession()))
      val isSession = source.isFixed && source.name.contains("token")
      assert(ended.left.map(_.errorCode) == (if (isSession) Left("ExpiredTokenException") else Right(())))
      outcome(ended, query)
    }
  }

  Seq(JavaDuration.ofMinutes(10), JavaDuration.ofMinutes(-10)).foreach { difference =>
    each(s"the clock of the machine differs by ${difference.toMinutes} min") { (source, operation, call) =>
      Using.resource(new Query(source, Clock.offset(Clock.systemUTC, difference), start)) { query =>
        val ended = query.run(call)(())
        assert(ended == Right(()))
        // A subscription cannot be repeated by the client.
        assert(query.failures <= (if (operation == Operation.SubscribeToShard) 1 else 0))
        outcome(ended, query)
      }
    }
  }

  each("the service does not know the key") { (source, _, call) =>
    val unknown = EmulatorSession("ASIAUNKNOWN", "secret", "token")
    source.give(unknown)
    val isOfSts = !source.isFixed && source.properties.contains("aws.endpointUrlSts") || source.name.contains("role")
    if (isOfSts || source.name == "static keys") "cannot happen here"
    else
      Using.resource(new Query(source, Clock.systemUTC, running)) { query =>
        val ended = query.run(call)(())
        assert(ended.left.map(_.errorCode) == Left("UnrecognizedClientException"))
        val limit = if (source.isFixed) Duration.Zero else 1.minute + running.max
        assert(query.scheduler.elapsed <= limit)
        outcome(ended, query) + (if (source.isFixed) " at once" else " after 1 min")
      }
  }

  test("the table of identities and moments") {
    val moments = table.keys.map(_._2).toSeq.distinct
    assert(table.size == Sources * moments.size)
    sources.foreach { source =>
      info(source.name)
      moments.foreach(moment => info(s"  $moment: ${table((source.name, moment))}"))
    }
    val rows = moments.map(moment => s"${moment.capitalize} | ${sources.map(s => cell(s, moment)).mkString(" | ")}")
    val titles = "When" +: sources.map(_.name.capitalize)
    val page = (titles.mkString(" | ") +: Seq.fill(titles.size)("---").mkString(" | ") +: rows)
      .map(row => s"| $row |").mkString("\n")
    val file = GeneratedFiles.root.resolve("docs/cluster.md")
    assert(Files.readString(file).contains(page), s"docs/cluster.md must have this table:\n$page")
  }

  /** What a user sees of the results: whether a call is repeated depends on what the client knows already. */
  private def cell(source: IdentitySource, moment: String): String = table((source.name, moment)).split(" \\| ")
    .map(result => if (result == "succeeds at once" || result == "is retried") "goes on" else result)
    .distinct.mkString(", ")

  override def afterAll(): Unit = {
    sources.foreach(_.close())
    super.afterAll()
  }
}

private object IdentityMatrixSuite {
  val Sources = 8
  val First: ShardId = ShardId.ofIndex(0)

  /** Runs tasks at once, in their order; their delays only move the time. */
  final class PassingTime extends Scheduler {
    private val nanos = new AtomicLong
    private val threads = Executors.newSingleThreadExecutor(DaemonThreads.named("passing-time"))

    def elapsed: FiniteDuration = nanos.get.nanos
    override def nanoTime: Long = nanos.get
    override def currentMillis: Long = TimeUnit.NANOSECONDS.toMillis(nanos.get)
    override def execute(task: Runnable): Unit = threads.execute(task)
    override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = {
      threads.execute { () =>
        nanos.addAndGet(delay.toNanos)
        task
      }
      Cancellable.None
    }
    def close(): Unit = {
      threads.shutdownNow()
      ()
    }
  }
}
