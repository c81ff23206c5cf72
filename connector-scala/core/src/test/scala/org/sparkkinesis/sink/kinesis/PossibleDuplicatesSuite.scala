package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.AbortableFuture
import org.sparkkinesis.config.Options
import org.sparkkinesis.service.{Operation, PutResult, ServiceErrorKind, ServiceException}

/** `possibleDuplicates` counts the records of a request exactly if the service may have stored them. */
class PossibleDuplicatesSuite extends KinesisSinkTests {
  private def error(kind: ServiceErrorKind, wasNotDone: Boolean = false): ServiceException =
    new ServiceException(kind, Operation.PutRecords, s"${kind}Exception", "a message", None, null, wasNotDone)

  /** What happens to the first request, and whether its records count. */
  private val calls: Seq[(String, ServiceException, Boolean)] = Seq(
    ("got no answer", error(ServiceErrorKind.Network), true),
    ("was not sent as a whole", error(ServiceErrorKind.Network, wasNotDone = true), false),
    ("failed within the service", error(ServiceErrorKind.Internal), true),
    ("was refused as not processed", error(ServiceErrorKind.Internal, wasNotDone = true), false),
    ("was throttled", error(ServiceErrorKind.Throttled), false),
    ("exceeded a limit", error(ServiceErrorKind.LimitExceeded), false),
    ("had no credentials", error(ServiceErrorKind.NoCredentials), false),
    ("had expired credentials", error(ServiceErrorKind.StaleIdentity), false),
    ("met a disabled key", error(ServiceErrorKind.KeyUnavailable), false)
  )
  for {
    isAggregated <- Seq(false, true)
    (what, failure, isCounted) <- calls
  } test(s"records of a request that $what ${counted(isCounted)}${if (isAggregated) ", with aggregation" else ""}") {
    val rig = new Rig(2, settingsOf(isAggregated))
    rig.stream.failures.enqueue(failure)
    (1 to 3).foreach(n => rig.write(s"key $n", "data"))
    rig.flush()
    val metrics = rig.sink.metrics.requests
    assert(metrics.possibleDuplicates == (if (isCounted) 3 else 0), metrics)
    assert(metrics.entriesOut == 3 && rig.read.size == 3)
  }

  private val answers: Seq[(String, Boolean)] = Seq(
    "ProvisionedThroughputExceededException" -> false,
    "InternalFailure" -> false,
    "KMSThrottlingException" -> false,
    "KMSDisabledException" -> false
  )
  for ((code, isCounted) <- answers) test(s"a record that an answer refuses with $code ${counted(isCounted)}") {
    val rig = new Rig(1)
    var isFirst = true
    rig.stream.refuse = entry =>
      Option.when(isFirst && entry.partitionKey == "key 2") {
        isFirst = false
        PutResult.Rejected(code, "a message")
      }
    (1 to 3).foreach(n => rig.write(s"key $n", "data"))
    rig.flush()
    val metrics = rig.sink.metrics.requests
    assert((metrics.possibleDuplicates, metrics.retried, metrics.entriesOut) == ((0L, 1L, 3L)))
  }

  /** How a request ends when it is cancelled; none if it does not end at once. */
  private val cancels: Seq[(String, Option[ServiceException], Boolean)] = Seq(
    ("waits for a connection", Some(error(ServiceErrorKind.Network, wasNotDone = true)), false),
    ("has no answer", Some(error(ServiceErrorKind.Network)), true),
    ("does not end when it is cancelled", None, true)
  )
  for ((what, end, isCounted) <- cancels) {
    def open(): Rig = {
      val rig = new Rig(1)
      lazy val call: AbortableFuture[IndexedSeq[PutResult]] =
        new AbortableFuture(() => end.foreach(call.completeExceptionally(_)))
      rig.stream.nextPut = Some(call)
      (1 to 3).foreach(n => rig.write(s"key $n", "data"))
      rig.time.advance(1.second)
      rig
    }

    test(s"records that are taken back while their request $what ${counted(isCounted)}") {
      val rig = open()
      assert(rig.sink.takeBack().size == 3)
      assert(rig.sink.metrics.requests.possibleDuplicates == (if (isCounted) 3 else 0))
    }

    if (end.nonEmpty) test(s"records whose request times out while it $what ${counted(isCounted)}") {
      val rig = open()
      rig.time.advance(1.minute)
      rig.flush()
      val metrics = rig.sink.metrics.requests
      assert(metrics.possibleDuplicates == (if (isCounted) 3 else 0))
      assert((metrics.timedOutRequests, metrics.entriesOut) == ((1L, 3L)))
    }
  }

  private def settingsOf(aggregated: Boolean): KinesisSinkSettings =
    KinesisSinkSettings.of(Options.defaults).copy(aggregated = aggregated)

  private def counted(is: Boolean): String = if (is) "count" else "do not count"
}
