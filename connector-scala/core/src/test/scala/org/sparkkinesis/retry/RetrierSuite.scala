package org.sparkkinesis.retry

import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.service.ServiceErrorKind._
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, TunableOperation}
import org.sparkkinesis.suite.TimedSuite

class RetrierSuite extends TimedSuite {
  private val all: Seq[ServiceErrorKind] = Seq(
    Throttled,
    LimitExceeded,
    ResourceInUse,
    ResourceNotFound,
    ExpiredIterator,
    ExpiredNextToken,
    InvalidArgument,
    AccessDenied,
    Encryption,
    Internal,
    Network,
    Client,
    NoCredentials,
    StaleIdentity,
    KeyUnavailable
  )

  /**
   * Copied from the service's documentation and not from the code. Failures that end by themselves are retried for all.
   */
  private val retried: Map[Operation, Set[ServiceErrorKind]] = Map[Operation, Set[ServiceErrorKind]](
    Operation.GetRecords -> Set(Throttled, Internal, Network),
    Operation.GetShardIterator -> Set(Throttled, Internal, Network),
    Operation.ListShards -> Set(Throttled, LimitExceeded, Internal, Network, ResourceInUse),
    Operation.SubscribeToShard -> Set(Throttled, LimitExceeded, Internal, Network, ResourceInUse),
    Operation.RegisterStreamConsumer -> Set(Throttled, LimitExceeded, Internal, Network),
    Operation.DeregisterStreamConsumer -> Set(Throttled, LimitExceeded, Internal, Network),
    Operation.DescribeStreamConsumer -> Set(Throttled, LimitExceeded, Internal, Network),
    Operation.ListStreamConsumers -> Set(Throttled, LimitExceeded, Internal, Network),
    Operation.DescribeStreamSummary -> Set(Throttled, LimitExceeded, Internal, Network),
    Operation.ListStreams -> Set(Throttled, LimitExceeded, Internal, Network),
    Operation.PutRecords -> Set(Throttled, LimitExceeded, Internal, Network, ResourceInUse),
    Operation.PutRecordBatch -> Set(Throttled, Internal, Network),
    Operation.AssumeRole -> Set(Throttled, Internal, Network)
  ).view.mapValues(_ ++ Set(NoCredentials, StaleIdentity, KeyUnavailable)).toMap
  test("every operation is in the table")(assert(retried.keySet == Operation.all.toSet))

  for (operation <- retried.keys.toSeq.sortBy(_.name); kind <- all)
    test(s"$kind of $operation is ${if (retried(operation)(kind)) "retried" else "final"}") {
      assert(RetryRules.Default.isRecoverable(error(operation, kind)) == retried(operation)(kind))
    }

  test("users can add error codes that are retried") {
    val rules = RetryRules(Set("ClientException"))
    assert(rules.isRecoverable(error(Operation.GetRecords, Client)))
    assert(!rules.isRecoverable(error(Operation.GetRecords, AccessDenied)))
  }

  for (name <- Seq("IllegalStateException", "java.lang.IllegalStateException"))
    test(s"users can add exception classes at any depth of the causes: $name") {
      def failed(cause: Throwable) =
        new ServiceException(Client, Operation.GetRecords, "SdkClientException", "x", None, new RuntimeException(cause))
      val rules = RetryRules(Set(name))
      assert(rules.isRecoverable(failed(new IllegalStateException)))
      assert(!rules.isRecoverable(failed(new IllegalArgumentException)))
      assert(!RetryRules.Default.isRecoverable(failed(new IllegalStateException)))
    }

  private def error(operation: Operation, kind: ServiceErrorKind) =
    new ServiceException(kind, operation, s"${kind}Exception", "injected")
  private val policy = RetryPolicy(Some(3), 100.millis, 1.second, 2)

  private class Calls(failures: Throwable*) {
    val scheduler = new VirtualScheduler
    var times = Vector.empty[FiniteDuration]
    private var left = failures
    def next(): CompletableFuture[String] = {
      times :+= scheduler.nanoTime.nanos
      val answer =
        left.headOption.fold(CompletableFuture.completedFuture("done"))(CompletableFuture.failedFuture[String](_))
      left = left.drop(1)
      answer
    }
    def run(random: Double = 0.5): CompletableFuture[String] = {
      val result = new Retrier(scheduler, RetryRules.Default, () => random).retry(policy)(() => next())
      scheduler.advance(1.hour)
      result
    }
  }

  test("after a recoverable failure the call is repeated with growing jittered pauses") {
    val calls = new Calls(Seq.fill(3)(error(Operation.GetRecords, Internal)): _*)
    assert(calls.run().join() == "done")
    assert(calls.times.map(_.toMillis) == Vector(0L, 50L, 150L, 350L))
  }

  test("a pause is between zero and its bound, which does not exceed the maximum") {
    assert(policy.pause(1, 0) == 0.millis)
    assert(Seq(1, 2, 3, 4, 5, 50).map(policy.bound(_).toMillis) == Seq(100L, 200L, 400L, 800L, 1000L, 1000L))
    for (retry <- 1 to 10; random <- Seq(0.0, 0.3, 0.999)) assert(policy.pause(retry, random) <= policy.bound(retry))
  }

  test("after the last retry the call fails with the last failure") {
    val last = error(Operation.GetRecords, Throttled)
    val calls = new Calls(Seq.fill(3)(error(Operation.GetRecords, Internal)) :+ last: _*)
    val failure = intercept[CompletionException](calls.run().join())
    assert(failure.getCause eq last)
    assert(calls.times.size == 4)
  }

  test("a final failure is not retried, also if it is wrapped") {
    val denied = error(Operation.GetRecords, AccessDenied)
    val calls = new Calls(new CompletionException(denied))
    assert(intercept[CompletionException](calls.run().join()).getCause eq denied)
    assert(calls.times.size == 1)
  }

  test("failures that end by themselves are retried for the heal time, beyond the number of retries") {
    def times(kind: ServiceErrorKind, policy: RetryPolicy) = {
      val scheduler = new VirtualScheduler
      var calls = Vector.empty[FiniteDuration]
      val result = new Retrier(scheduler, RetryRules.Default, () => 0.5).retry(policy) { () =>
        calls :+= scheduler.nanoTime.nanos
        CompletableFuture.failedFuture[String](error(Operation.DescribeStreamSummary, kind))
      }
      scheduler.advance(1.hour)
      assert(result.isCompletedExceptionally)
      calls
    }
    val healing = policy.copy(healTime = 10.seconds)
    Seq(NoCredentials, StaleIdentity, KeyUnavailable).foreach { kind =>
      val calls = times(kind, healing)
      assert(calls.last >= 10.seconds && calls.dropRight(1).forall(_ < 10.seconds), kind)
      assert(times(kind, policy).size == 4, kind)
    }
    assert(times(Network, healing).size == 4)
  }

  test("a number of retries that the user sets is also the limit for failures that end by themselves") {
    def policyOf(options: (String, String)*) =
      RetryPolicies.of(Options.read(options.toMap))(Operation.DescribeStreamSummary)
    assert(policyOf().healTime == RetryPolicies.HealTime)
    assert(policyOf("retry.describeStreamSummary.maxRetries" -> "0").healTime == Duration.Zero)
  }

  test("the default policies are the documented ones") {
    val defaults = RetryPolicies.of(Options.defaults)
    val change = RetryPolicy(Some(10), 200.millis, 1.second, 1.5)
    val patient = RetryPolicy(None, 200.millis, 3.seconds, 1.5)
    val documented = Map[TunableOperation, RetryPolicy](
      Operation.RegisterStreamConsumer -> change,
      Operation.DeregisterStreamConsumer -> change,
      Operation.ListStreamConsumers -> change,
      Operation.DescribeStreamConsumer -> change,
      Operation.SubscribeToShard -> RetryPolicy(None, 1.second, 2.seconds, 1.5),
      Operation.GetRecords -> patient,
      Operation.GetShardIterator -> patient,
      Operation.ListShards -> patient,
      Operation.DescribeStreamSummary -> RetryPolicy(Some(5), 200.millis, 2.seconds, 1.5),
      Operation.ListStreams -> RetryPolicy(Some(5), 200.millis, 2.seconds, 1.5),
      Operation.PutRecords -> RetryPolicy(None, 50.millis, 5.seconds, 2),
      Operation.PutRecordBatch -> RetryPolicy(None, 50.millis, 5.seconds, 2)
    )
    assert(Operation.tunable.map(operation => operation -> defaults(operation)).toMap ==
      documented.view.mapValues(_.copy(healTime = 30.seconds)).toMap)
  }

  test("a write describes its streams without a limit of retries unless the option sets one") {
    val operation = Operation.DescribeStreamSummary
    assert(RetryPolicies.ofWrite(Options.defaults)(operation) ==
      RetryPolicy(None, 200.millis, 2.seconds, 1.5, RetryPolicies.HealTime))
    val limited = Options.read(Map("retry.describeStreamSummary.maxRetries" -> "2"))
    assert(Seq(RetryPolicies.of(limited), RetryPolicies.ofWrite(limited)).forall(_(operation).maxRetries.contains(2)))
    val others = Operation.tunable.filterNot(_ == operation)
    assert(others.forall(same =>
      RetryPolicies.ofWrite(Options.defaults)(same) == RetryPolicies.of(Options.defaults)(same)
    ))
  }

  test(
    "the options of a group set the policy of its operations, and a maximum pause below the first one is raised to it"
  ) {
    val set = Map("maxRetries" -> "3", "backoff.base" -> "5s", "backoff.max" -> "2s", "backoff.exponent" -> "2")
    val policies = RetryPolicies.of(Options.read(set.map { case (key, value) =>
      s"retry.listStreamConsumers.$key" -> value
    }))
    Seq(Operation.ListStreamConsumers, Operation.DescribeStreamConsumer)
      .foreach(operation => assert(policies(operation) == RetryPolicy(Some(3), 5.seconds, 5.seconds, 2)))
    assert(policies(Operation.GetRecords) == RetryPolicies.of(Options.defaults)(Operation.GetRecords))
  }
}
