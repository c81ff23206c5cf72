package org.sparkkinesis.aws.client

import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.emulator.EmulatorConfig
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/** Registers consumers with a service that enforces its quotas on calls and consumers. */
class RegistrarWithinQuotaSuite extends WithEmulator(EmulatorConfig()) {
  test("consumers are registered up to the limit at any rate of calls, and the error at the limit names them") {
    val arn = emulator.admin.createStream("crowded", 1)
    val scheduler = new SystemScheduler("registrar", 1)
    try {
      val registrar =
        new StreamConsumerRegistrar(service, scheduler, RetryPolicies.of(Options.defaults), RetryRules.Default)
      val names = (1 to KinesisQuotas.Count.ConsumersPerStream).map(i => s"team-$i")
      names.grouped(4).foreach(_.map(registrar.ensure(arn, _)).foreach(await(_)))
      val error = intercept[java.util.concurrent.ExecutionException](await(registrar.ensure(arn, "one-more"))).getCause
      error match {
        case known: KinesisConnectorException =>
          assert(known.condition == "KINESIS_CONSUMER_LIMIT")
          names.foreach(name => assert(known.getMessage.contains(name), known.getMessage))
        case other => fail(s"unexpected result: $other")
      }
      assert(registrar.deregisterOwn(90.seconds).get(100, TimeUnit.SECONDS) == Set.empty[String])
    } finally scheduler.close()
  }

  test("drivers that register the same name concurrently get one consumer that one of them owns") {
    val arn = emulator.admin.createStream("raced", 1)
    val scheduler = new SystemScheduler("registrar", 1)
    try {
      val registrars = Seq.fill(6)(new StreamConsumerRegistrar(
        service,
        scheduler,
        RetryPolicies.of(Options.defaults),
        RetryRules.Default
      ))
      val arns = registrars.map(_.ensure(arn, "etl")).map(await(_))
      assert(arns.distinct.size == 1)
      assert(registrars.count(_.registered.nonEmpty) == 1)
    } finally scheduler.close()
  }
}
