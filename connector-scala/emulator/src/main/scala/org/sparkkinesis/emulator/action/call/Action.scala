package org.sparkkinesis.emulator.action.call

import org.sparkkinesis.emulator.document.{Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.{IncomingRecord, ShardLog}
import org.sparkkinesis.emulator.engine.stream.StreamState
import org.sparkkinesis.emulator.engine.{Engine, Namespace}
import org.sparkkinesis.emulator.fault.{FaultTarget, Faults}
import org.sparkkinesis.model.StreamRef

/**
 * One operation of the API: checks the request, changes the state, and says what to answer. Runs on a network thread,
 * never blocks; an error is thrown as [[ServiceError]] before anything of the answer is written.
 */
trait Action {
  def name: String
  def run(call: Call): Answer
}

/** One request of an operation, with what became known about it for the counters. */
final class Call(val operation: String, val fields: Fields, val namespace: Namespace, faults: Faults) {
  @volatile var streamName: String = ""
  @volatile var shardName: String = ""

  def engine: Engine = namespace.engine
  val now: Long = engine.clock.millis

  /** The stream that StreamName or StreamARN names, which must exist; counts the call against its rate. */
  def stream(validator: Validator, alsoChecked: => Unit = ()): StreamState = {
    val ref = streamRef(validator)
    alsoChecked
    validator.check()
    val found = namespace.stream(ref.getOrElse(throw ServiceError.invalidArgument(Call.NoStream)))
    streamName = found.name
    admit()
    found
  }

  /** Reads StreamName and StreamARN; both may be given when they agree. */
  def streamRef(validator: Validator): Option[StreamRef] = {
    val name = validator.string("StreamName", Patterns.StreamName, Patterns.MaxName, 1)
    val arn = validator.streamArn()
    validator.streamId()
    validator.check()
    val byArn =
      arn.map(text => StreamRef.parse(text).getOrElse(throw ServiceError.invalidArgument(s"Invalid StreamARN: $text")))
    for { ref <- byArn; given <- name if ref.name != given }
      throw ServiceError.invalidArgument(s"StreamARN and StreamName do not match: ${ref.name}, $given")
    byArn.orElse(name.map(StreamRef.ByName.apply)).map { ref =>
      streamName = ref.name
      ref
    }
  }

  /** Entries of a PutRecords that are to fail, by position; null for those that are not. */
  def entryFailures(entries: Array[IncomingRecord]): Array[ServiceError] =
    faults.ofEntries(FaultTarget(operation, streamName, ""), entries)

  /** Whether a listing is to lack this shard. */
  def leavesOut(shard: ShardLog): Boolean = faults.leavesOut(FaultTarget(operation, streamName, shard.id.value))

  def touch(shard: ShardLog): ShardLog = {
    shardName = shard.id.value
    shard
  }

  /** Counts this call against the rate of its operation. */
  def admit(): Unit = namespace.rates.admit(operation, streamName, shardName, engine.policy, now)
}

object Call {
  private val NoStream = "Either StreamName or StreamARN must be given."
}

/** What an action answers. */
sealed trait Answer

object Answer {

  /** HTTP 200 without a body. */
  case object Empty extends Answer
  final case class Body(write: ReplyWriter => Unit, sizeHint: Int) extends Answer

  /** An event stream; the wire opens it and pushes until it ends. */
  final case class Events(request: SubscribeRequest) extends Answer

  /**
   * @param sizeHint
   *   about how many bytes it will be, so that a large answer is not copied while it grows
   */
  def body(sizeHint: Int)(write: ReplyWriter => Unit): Answer = Body(write, sizeHint)

  def body(write: ReplyWriter => Unit): Answer = Body(write, 0)
}

/** A subscription whose request is valid; it still has to claim its consumer's shard. */
final case class SubscribeRequest(
    stream: StreamState,
    consumer: RegisteredConsumer,
    shard: ShardLog,
    afterSeqIx: Long
)
