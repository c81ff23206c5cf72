package org.sparkkinesis.simulation.model

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.AbortableFuture
import org.sparkkinesis.model.hash.HashKey
import org.sparkkinesis.model.{SequenceNumber, StreamRef, StreamStatus}
import org.sparkkinesis.service.{Operation, PutEntry, PutResult, ServiceErrorKind, ServiceException}

/**
 * An entry that a shard was asked to store.
 *
 * @param isThrottled
 *   whether the shard refused it because of its limits
 */
final case class PutOffer(shard: ModelShard, bytes: Int, isThrottled: Boolean)

/** A call of PutRecords with facts that only the simulation knows. Times are of the service's clock. */
final class PutCall(
    val number: Long,
    val process: String,
    val entries: IndexedSeq[PutEntry],
    val sentMillis: Long
) {

  /** The time at which the caller received the answer, if it did. */
  var answeredMillis: Option[Long] = None

  /** Whether the caller has cancelled the call. It may have been executed before. */
  var isCancelled: Boolean = false

  /** Whether the caller received the answer. */
  def isAnswered: Boolean = answeredMillis.nonEmpty

  /** What the shards were asked for, when the service executed the call. */
  var offers: Vector[PutOffer] = Vector.empty
}

/** An entry that the service has stored. */
final case class StoredPut(stream: ModelStream, shard: ModelShard, entry: PutEntry, call: PutCall)

/**
 * PutRecords for one process. A request and its answer arrive with a delay. A request that is cancelled before its
 * arrival has no effect. The end of a process does not cancel its sent requests.
 */
final class ModelPuts(service: ModelKinesis, process: String, isAlive: () => Boolean) {

  def put(stream: StreamRef, entries: IndexedSeq[PutEntry]): CompletableFuture[IndexedSeq[PutResult]] = {
    service.calls.count(Operation.PutRecords)
    val request = new Request(stream, new PutCall(service.nextPut(), process, entries, service.now))
    request.send()
    request.answer
  }

  final private class Request(stream: StreamRef, call: PutCall) {
    private var isAborted = false
    val answer: CompletableFuture[IndexedSeq[PutResult]] = new AbortableFuture[IndexedSeq[PutResult]](() => abort())

    def send(): Unit = later(service.faults.delayOfPut())(if (!isAborted) arrive())

    private def arrive(): Unit = {
      val outcome =
        try Right(carryOut())
        catch { case error: ServiceException => Left(error) }
      service.faults.ofAnswer() match {
        case AnswerFault.None => later(0)(told(outcome))
        case AnswerFault.Broken => later(0)(failed(lost("the connection was closed")))
        case AnswerFault.Silent => ()
      }
    }

    private def told(outcome: Either[ServiceException, IndexedSeq[PutResult]]): Unit = if (isAlive() && !answer.isDone)
      outcome match {
        case Right(results) =>
          call.answeredMillis = Some(service.now)
          answer.complete(results)
          ()
        case Left(error) => failed(error)
      }

    private def failed(error: ServiceException): Unit = if (isAlive()) {
      answer.completeExceptionally(error)
      ()
    }

    private def abort(): Unit = if (!isAborted) {
      isAborted = true
      call.isCancelled = true
      later(0)(failed(lost("the request was cancelled")))
    }

    private def carryOut(): IndexedSeq[PutResult] = {
      service.faults.of(process, Operation.PutRecords).foreach(throw _)
      val found = service.existing(stream, Operation.PutRecords)
      if (service.status(found.arn) != StreamStatus.Active)
        throw service.refused(ServiceErrorKind.ResourceNotFound, Operation.PutRecords, s"Stream $stream not found.")
      service.put(call)
      call.entries.map(store(found, _))
    }

    private def store(found: ModelStream, entry: PutEntry): PutResult = {
      val hash = entry.explicitHashKey.fold(HashKey.ofPartitionKey(entry.partitionKey))(BigInt(_))
      val shard = found.shardOf(hash)
      def offered(isThrottled: Boolean): Unit = call.offers :+= PutOffer(shard, entry.size, isThrottled)
      service.faults.rejects() match {
        case Some(code) =>
          offered(isThrottled = code == ModelPuts.Throttled)
          PutResult.Rejected(code, "injected")
        case None if !service.calls.allowsPut(shard, entry.size) =>
          offered(isThrottled = true)
          PutResult.Rejected(ModelPuts.Throttled, s"Rate exceeded for shard ${shard.id}")
        case None =>
          offered(isThrottled = false)
          val (_, record) = service.put(found, 0, entry.partitionKey, hash, entry.data)
          service.stored(StoredPut(found, shard, entry, call))
          PutResult.Accepted(shard.id, SequenceNumber.trusted(record.sequenceNumber))
      }
    }
  }

  private def lost(what: String): ServiceException =
    new ServiceException(ServiceErrorKind.Network, Operation.PutRecords, "ConnectionException", what)

  private def later(millis: Long)(body: => Unit): Unit = {
    service.scheduler.schedule((millis + service.latencyMillis).millis)(body)
    ()
  }
}

private object ModelPuts {
  val Throttled = "ProvisionedThroughputExceededException"
}
