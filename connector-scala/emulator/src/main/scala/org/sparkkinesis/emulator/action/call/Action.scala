package org.sparkkinesis.emulator.action.call

import org.sparkkinesis.emulator.document.{Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.ShardLog
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.emulator.engine.{Engine, Namespace}
import org.sparkkinesis.emulator.fault.{FaultTarget, Faults}
import org.sparkkinesis.model.StreamRef

/**
 * One operation of the API. It checks the request, changes the state, and returns the answer. It runs on a network
 * thread and never blocks. It throws a [[ServiceError]] before any part of the answer is written.
 */
trait Action {
  def name: String
  def run(call: Call): Answer
}

/**
 * One request of an operation. It records the stream and the shard of the request for the call counters. Account and
 * region are those of the stream if the request names it by ARN, otherwise those of the caller.
 */
final class Call(val operation: String, val fields: Fields, val namespace: Namespace, faults: Faults) {
  @volatile var streamName: String = ""
  @volatile var shardName: String = ""
  @volatile private var place = (namespace.account, namespace.region)

  /** Records account and region of the stream that the request names by ARN. */
  def isFor(account: String, region: String): Unit = place = (account, region)
  def account: String = place._1
  def region: String = place._2

  def engine: Engine = namespace.engine
  val now: Long = engine.clock.millis

  /**
   * Returns the stream that StreamName or StreamARN names, and counts the call against the rate limit of its
   * operation.
   */
  def stream(validator: Validator): DataStream = {
    val ref = streamRef(validator)
    validator.check()
    val found = namespace.stream(ref.getOrElse(throw ServiceError.invalidArgument(Call.NoStream)))
    streamName = found.name
    admit()
    found
  }

  /** Reads StreamName and StreamARN. Both may be given if they name the same stream. */
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
      ref match {
        case StreamRef.ByArn(_, region, account, _) => isFor(account, region)
        case _: StreamRef.ByName => ()
      }
      ref
    }
  }

  /**
   * Returns the errors of the entries of a put that must fail, by position, with null for the other entries.
   *
   * @param partitionKey
   *   returns the key of an entry, or null
   */
  def entryFailures(count: Int, partitionKey: Int => String): Array[ServiceError] =
    faults.ofEntries(FaultTarget(operation, streamName, "", account, region), count, partitionKey)

  /** Whether a fault removes this shard from a listing. */
  def leavesOut(shard: ShardLog): Boolean =
    faults.leavesOut(FaultTarget(operation, streamName, shard.id.value, account, region))

  def touch(shard: ShardLog): ShardLog = {
    shardName = shard.id.value
    shard
  }

  /** Counts this call against the rate limit of its operation. */
  def admit(): Unit = namespace.rates.admit(operation, streamName, shardName, engine.policy, now)
}

object Call {
  private val NoStream = "Either StreamName or StreamARN must be given."
}

/** The result of an action. */
sealed trait Answer

object Answer {

  /** HTTP 200 without a body. */
  case object Empty extends Answer
  final case class Body(write: ReplyWriter => Unit, sizeHint: Int) extends Answer

  /** An event stream. The wire opens it and pushes events until the subscription ends. */
  final case class Events(request: SubscribeRequest) extends Answer

  /**
   * Creates an answer with a body.
   *
   * @param sizeHint
   *   the approximate size in bytes, so that the buffer of a large answer does not have to grow
   */
  def body(sizeHint: Int)(write: ReplyWriter => Unit): Answer = Body(write, sizeHint)

  def body(write: ReplyWriter => Unit): Answer = Body(write, 0)
}

/** A valid request for a subscription. The subscription must still claim the shard of its consumer. */
final case class SubscribeRequest(
    stream: DataStream,
    consumer: RegisteredConsumer,
    shard: ShardLog,
    afterSeqIx: Long
)
