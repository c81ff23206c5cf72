package org.sparkkinesis.consume.fanout

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, VirtualScheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.FakeKinesis
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event._
import org.sparkkinesis.model.{ConsumerStatus, KinesisQuotas}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, StreamConsumer, StreamConsumerPage}
import org.sparkkinesis.suite.TimedSuite

class StreamConsumerRegistrarSuite extends TimedSuite {
  private val Stream = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"

  /** The consumers of one stream. A consumer is active two seconds after its registration. */
  private class Consumers(scheduler: VirtualScheduler) extends FakeKinesis(scheduler, 50.millis) {
    final private class Registered(val name: String, val arn: String, val at: Long, var status: Option[ConsumerStatus])
    private val consumers = mutable.LinkedHashMap.empty[String, Registered]
    var limit: Int = KinesisQuotas.Count.ConsumersPerStream
    private var made = 0

    /** Maximum number of deregistrations per second. The service rejects further ones. */
    var changesPerSecond: Int = Int.MaxValue
    private val changes = mutable.ArrayBuffer.empty[Long]

    /** Whether a consumer cannot be deregistered before it is active, as the service has it. */
    var refusesUntilActive = false

    /** Whether registrations take effect and have no answer. */
    var losesRegistrations = false

    /** Whether no call but a registration has an answer. */
    var isDown = false

    def names: Set[String] = consumers.keySet.toSet
    def add(name: String, status: ConsumerStatus): String = {
      made += 1
      consumers(name) = new Registered(name, s"$Stream/consumer/$name:$made", scheduler.nanoTime, Some(status))
      consumers(name).arn
    }
    def remove(name: String): Unit = consumers -= name
    def set(name: String, status: ConsumerStatus): Unit = consumers(name).status = Some(status)

    override def registerStreamConsumer(streamArn: String, name: String): CompletableFuture[StreamConsumer] =
      answer(Operation.RegisterStreamConsumer) {
        if (consumers.contains(name)) refuse(ServiceErrorKind.ResourceInUse, Operation.RegisterStreamConsumer)
        if (consumers.size >= limit) refuse(ServiceErrorKind.LimitExceeded, Operation.RegisterStreamConsumer)
        made += 1
        consumers(name) = new Registered(name, s"$streamArn/consumer/$name:$made", scheduler.nanoTime, None)
        if (losesRegistrations) refuse(ServiceErrorKind.Network, Operation.RegisterStreamConsumer)
        view(consumers(name))
      }
    override def describeStreamConsumer(streamArn: String, name: String): CompletableFuture[StreamConsumer] =
      answer(Operation.DescribeStreamConsumer) {
        if (isDown) refuse(ServiceErrorKind.Network, Operation.DescribeStreamConsumer)
        view(found(consumers.get(name), Operation.DescribeStreamConsumer))
      }
    override def describeStreamConsumer(arn: String): CompletableFuture[StreamConsumer] =
      answer(Operation.DescribeStreamConsumer)(view(found(
        consumers.values.find(_.arn == arn),
        Operation.DescribeStreamConsumer
      )))
    override def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage] =
      answer(Operation.ListStreamConsumers) {
        val (page, rest) = consumers.values.toSeq.map(view).drop(next.fold(0)(_.toInt)).splitAt(7)
        StreamConsumerPage(page, if (rest.isEmpty) None else Some((next.fold(0)(_.toInt) + 7).toString))
      }
    override def deregisterStreamConsumer(arn: String): CompletableFuture[Unit] =
      answer(Operation.DeregisterStreamConsumer) {
        if (changes.count(_ > scheduler.nanoTime - 1.second.toNanos) >= changesPerSecond)
          refuse(ServiceErrorKind.LimitExceeded, Operation.DeregisterStreamConsumer)
        changes += scheduler.nanoTime
        if (refusesUntilActive && consumers.values.exists(c => c.arn == arn && view(c).status != ConsumerStatus.Active))
          refuse(ServiceErrorKind.ResourceInUse, Operation.DeregisterStreamConsumer)
        consumers -= found(consumers.values.find(_.arn == arn), Operation.DeregisterStreamConsumer).name
        ()
      }

    private def view(c: Registered): StreamConsumer = {
      val grown = if (scheduler.nanoTime - c.at >= 2.seconds.toNanos) ConsumerStatus.Active else ConsumerStatus.Creating
      StreamConsumer(c.name, c.arn, c.status.getOrElse(grown), 0)
    }
    private def found(c: Option[Registered], operation: Operation): Registered =
      c.getOrElse(refuse(ServiceErrorKind.ResourceNotFound, operation))
    private def refuse(kind: ServiceErrorKind, operation: Operation): Nothing =
      throw new ServiceException(kind, operation, s"${kind}Exception", "message of the service")
  }

  private def registrarOf(
      setup: Setup,
      random: () => Double,
      options: Options = Options.defaults
  ) = new StreamConsumerRegistrar(
    setup.service,
    setup.scheduler,
    RetryPolicies.of(options),
    RetryRules.Default,
    random = random,
    events = setup.events
  )

  private class Setup {
    val scheduler = new VirtualScheduler
    val service = new Consumers(scheduler)
    val events = new RecordedEvents
    def registrar(random: Double = 0.5): StreamConsumerRegistrar =
      registrarOf(this, () => random)
    def await[A](future: CompletableFuture[A], limit: FiniteDuration = 10.minutes): A = {
      scheduler.advanceUntil(limit)(future.isDone)
      try future.join()
      catch { case error: java.util.concurrent.CompletionException => throw Futures.unwrap(error) }
    }
  }

  test("a consumer that does not exist is registered, and the registrar waits until it is active") {
    val s = new Setup
    val registrar = s.registrar()
    val arn = s.await(registrar.ensure(Stream, "etl"))
    assert(arn == s"$Stream/consumer/etl:1")
    assert(s.scheduler.nanoTime >= 2.seconds.toNanos)
    assert(registrar.registered == Set(arn))
    assert(s.events.all == Vector(ConsumerRegistered(Stream, arn), ConsumerReady(Stream, arn)))
  }

  test("an existing active consumer is used immediately and not owned") {
    val s = new Setup
    val arn = s.service.add("etl", ConsumerStatus.Active)
    val registrar = s.registrar()
    assert(s.await(registrar.ensure(Stream, "etl")) == arn)
    assert(s.service.calls.map(_._1).toSeq == Seq(Operation.DescribeStreamConsumer))
    assert(s.await(registrar.deregisterOwn(10.seconds)) == Set.empty[String])
    assert(s.service.names == Set("etl"))
  }

  test("an adopted consumer is deregistered like a registered one") {
    val s = new Setup
    val arn = s.service.add("etl", ConsumerStatus.Active)
    s.service.add("other", ConsumerStatus.Active)
    val registrar = s.registrar()
    registrar.adopt(arn)
    assert(s.await(registrar.ensure(Stream, "etl")) == arn)
    assert(registrar.registered == Set(arn))
    assert(s.await(registrar.deregisterOwn(10.seconds)) == Set.empty[String])
    assert(s.service.names == Set("other"))
    assert(s.await(registrar.isThere(Stream, "etl")) == false)
    assert(s.await(registrar.isThere(Stream, "other")) == true)
    assert(s.events.all ==
      Vector(ConsumerAdopted(Stream, arn), ConsumerReady(Stream, arn), ConsumerDeregistered(Stream, arn)))
  }

  test("a consumer whose registration is running when the query stops is deregistered, whenever it stops") {
    for (stopMillis <- 0 to 3000 by 50) {
      val s = new Setup
      val registrar = s.registrar()
      val ensured = registrar.ensure(Stream, "etl")
      s.scheduler.advance(stopMillis.millis)
      assert(s.await(registrar.deregisterOwn(10.seconds)) == Set.empty[String], s"stopped after $stopMillis ms")
      s.scheduler.advance(1.minute)
      assert(s.service.names == Set.empty[String] && !registrar.isUncertain, s"stopped after $stopMillis ms")
      assert(ensured.isDone || stopMillis < 3000)
    }
  }

  test("a consumer that is still created is deregistered when the service allows it") {
    val s = new Setup
    s.service.refusesUntilActive = true
    val registrar = s.registrar()
    registrar.ensure(Stream, "etl"): Unit
    s.scheduler.advance(1.second)
    assert(s.service.names == Set("etl"))
    assert(s.await(registrar.deregisterOwn(10.seconds)) == Set.empty[String])
    assert(s.service.names == Set.empty[String])
  }

  test("a consumer whose registration had no answer is looked for, and the registrar says that it is not certain") {
    for (answersLater <- Seq(true, false)) {
      val s = new Setup
      s.service.losesRegistrations = true
      val registrar = registrarOf(s, () => 0.5, Options.read(Map("retry.registerStreamConsumer.maxRetries" -> "0")))
      val failed = intercept[ServiceException](s.await(registrar.ensure(Stream, "etl")))
      assert(failed.kind == ServiceErrorKind.Network)
      assert(registrar.isUncertain && registrar.registered.isEmpty && s.service.names == Set("etl"))
      s.service.isDown = !answersLater
      s.await(registrar.deregisterOwn(10.seconds)): Unit
      assert(registrar.isUncertain == !answersLater)
      assert(s.service.names == (if (answersLater) Set.empty[String] else Set("etl")))
    }
  }

  test("a consumer whose registration was refused is not looked for") {
    val s = new Setup
    s.service.limit = 0
    val registrar = registrarOf(s, () => 0.5, Options.read(Map("retry.registerStreamConsumer.maxRetries" -> "0")))
    intercept[Exception](s.await(registrar.ensure(Stream, "etl")))
    assert(!registrar.isUncertain)
  }

  test("drivers that register the same name concurrently get the same consumer, and exactly one owns it") {
    for (seed <- 1 to 20) {
      val s = new Setup
      val random = new scala.util.Random(seed)
      val registrars = Seq.fill(8)(s.registrar(random.nextDouble()))
      val futures = registrars.map(_.ensure(Stream, "etl"))
      assert(futures.map(s.await(_)).distinct.size == 1, s"seed $seed")
      assert(registrars.count(_.registered.nonEmpty) == 1, s"seed $seed")
    }
  }

  test("drivers that register at exactly the same moment get the same consumer") {
    val s = new Setup
    val registrars = Seq.fill(5)(s.registrar(0))
    val futures = registrars.map(_.ensure(Stream, "etl"))
    assert(futures.map(s.await(_)).distinct.size == 1)
    assert(registrars.count(_.registered.nonEmpty) == 1)
  }

  test("drivers register a consumer after a random part of the configured first pause") {
    val s = new Setup
    val options = Seq("base" -> "100s", "max" -> "100s").map { case (name, value) =>
      s"retry.registerStreamConsumer.backoff.$name" -> value
    }
    val registrars = Seq(0.25, 0.75).map(part => registrarOf(s, () => part, Options.read(options.toMap)))
    val futures = registrars.map(_.ensure(Stream, "etl"))
    assert(futures.map(s.await(_)).distinct.size == 1)
    assert(registrars.map(_.registered.size) == Seq(1, 0))
    // Both describe the consumer at the start, and no answer takes longer than a second.
    assert(s.service.callsOf(Operation.RegisterStreamConsumer).map(_.nanos.toSeconds) == Seq(25L, 75L))
  }

  test("a consumer that is being deleted is registered again after its deletion") {
    val s = new Setup
    val old = s.service.add("etl", ConsumerStatus.Deleting)
    val future = s.registrar().ensure(Stream, "etl")
    s.scheduler.advance(10.seconds)
    assert(!future.isDone)
    s.service.remove("etl")
    assert(s.await(future) != old)
  }

  test("a consumer that is not active in time is an error with its status") {
    val s = new Setup
    s.service.add("etl", ConsumerStatus.Creating)
    val error = intercept[KinesisConnectorException](s.await(s.registrar().ensure(Stream, "etl")))
    assert(error.condition == "KINESIS_CONSUMER_NOT_READY")
    assert(error.getMessage.contains("CREATING"), error.getMessage)
    assert(s.scheduler.nanoTime < 6.minutes.toNanos)
  }

  test("the error at the limit of consumers names all registered consumers") {
    val s = new Setup
    (1 to 20).foreach(i => s.service.add(s"team-$i", ConsumerStatus.Active))
    val error = intercept[KinesisConnectorException](s.await(s.registrar().ensure(Stream, "etl")))
    assert(error.condition == "KINESIS_CONSUMER_LIMIT")
    (1 to 20).foreach(i => assert(error.getMessage.contains(s"team-$i"), error.getMessage))
  }

  test("the error at the limit of consumers is that of the service if the query may not list them") {
    val s = new Setup
    (1 to 20).foreach(i => s.service.add(s"team-$i", ConsumerStatus.Active))
    s.service.fail(Operation.ListStreamConsumers, ServiceErrorKind.AccessDenied)
    val error = intercept[ServiceException](s.await(s.registrar().ensure(Stream, "etl")))
    assert((error.kind, error.operation) == ((ServiceErrorKind.LimitExceeded, Operation.RegisterStreamConsumer)))
  }

  test("calls that exceed the rate limit are retried and not reported as too many consumers") {
    val s = new Setup
    s.service.fail(Operation.RegisterStreamConsumer, Seq.fill(5)(ServiceErrorKind.LimitExceeded): _*)
    assert(s.await(s.registrar().ensure(Stream, "etl")) == s"$Stream/consumer/etl:1")
  }

  test("calls that still exceed the rate limit after all retries fail with the message of the service") {
    val s = new Setup
    s.service.fail(Operation.RegisterStreamConsumer, Seq.fill(20)(ServiceErrorKind.LimitExceeded): _*)
    val error = intercept[ServiceException](s.await(s.registrar().ensure(Stream, "etl")))
    assert(error.kind == ServiceErrorKind.LimitExceeded)
    assert(s.service.callsOf(Operation.RegisterStreamConsumer).size == 11)
  }

  for (operation <- Seq(Operation.DescribeStreamConsumer, Operation.RegisterStreamConsumer))
    test(s"AccessDenied of $operation is not retried") {
      val s = new Setup
      s.service.fail(operation, ServiceErrorKind.AccessDenied)
      val error = intercept[ServiceException](s.await(s.registrar().ensure(Stream, "etl")))
      assert(error.kind == ServiceErrorKind.AccessDenied)
      assert(s.service.callsOf(operation).size == 1)
    }

  test("a consumer that the user registered must exist and is never deregistered") {
    val s = new Setup
    val registrar = s.registrar()
    val arn = s.service.add("theirs", ConsumerStatus.Active)
    assert(s.await(registrar.existing(Stream, arn)) == arn)
    s.await(registrar.deregisterOwn(10.seconds))
    assert(s.service.names == Set("theirs"))
    val error = intercept[KinesisConnectorException](s.await(registrar.existing(Stream, s"$Stream/consumer/none:9")))
    assert(error.condition == "KINESIS_CONSUMER_NOT_FOUND")
  }

  test(
    "registered consumers are deregistered with retries, and a consumer that no longer exists counts as deregistered"
  ) {
    val s = new Setup
    val registrar = s.registrar()
    s.await(registrar.ensure(Stream, "a"))
    s.await(registrar.ensure(Stream, "b"))
    s.service.remove("a")
    s.service.fail(Operation.DeregisterStreamConsumer, ServiceErrorKind.LimitExceeded, ServiceErrorKind.Internal)
    assert(s.await(registrar.deregisterOwn(10.seconds)) == Set.empty[String])
    assert(s.service.names == Set.empty[String])
  }

  test("the maximum number of consumers of a stream is deregistered within the rate limit") {
    for (seed <- 1 to 20) {
      val s = new Setup
      val random = new scala.util.Random(seed)
      val registrar = registrarOf(s, () => random.nextDouble())
      (1 to s.service.limit).foreach(i => s.await(registrar.ensure(Stream, s"team-$i")))
      s.service.changesPerSecond = KinesisQuotas.CallRate.ConsumerChangePerStream
      assert(s.await(registrar.deregisterOwn(20.seconds)) == Set.empty[String], s"seed $seed")
    }
  }

  test("deregistration ends at its time limit and returns the remaining consumers") {
    val s = new Setup
    val registrar = s.registrar()
    val arn = s.await(registrar.ensure(Stream, "a"))
    s.service.fail(Operation.DeregisterStreamConsumer, Seq.fill(100)(ServiceErrorKind.Network): _*)
    val from = s.scheduler.nanoTime
    assert(s.await(registrar.deregisterOwn(2.seconds)) == Set(arn))
    assert((s.scheduler.nanoTime - from).nanos == 2.seconds)
    assert(s.events.of[ConsumerLeft] == Vector(ConsumerLeft(Stream, arn, "the call took longer than 2 seconds")))
  }
}
