package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.{count, seconds}

/** Events of the executors that read for a query. */
sealed abstract class ExecutorEvent extends ConnectorEvent(EventSubject.Executor) {
  override def stream: Option[String] = None

  /** The executor's id; empty if the event concerns no single executor. */
  def executor: Option[String]
  override def limitKey: Any = (getClass, executor)
}

/** The consumers of an executor have registered with the driver. */
final case class ExecutorJoined(id: String, host: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Info
  override def executor: Option[String] = Some(id)
  override def message: String = s"Executor $id on $host is ready to read"
}

/** An executor was lost. Emitted on the driver. */
final case class ExecutorLost(id: String, shards: Int) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Info
  override def executor: Option[String] = Some(id)
  override def message: String =
    s"Executor $id is lost; its ${count(shards.toLong, "shard")} will be assigned to others"
}

/** The calls of an executor for a stream have no response, and another executor may reach it. Emitted on the driver. */
final case class StreamUnreachable(id: String, streamName: String, shards: Int) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def stream: Option[String] = Some(streamName)
  override def message: String =
    s"Executor $id cannot reach the stream; its ${count(shards.toLong, "shard")} will be assigned to others"
}

/** The Spark job that starts consumers failed and will run again. */
final case class ConsumersNotStarted(failures: Int, failure: Throwable) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = None
  override def cause: Option[Throwable] = Some(failure)
  override def message: String =
    s"The Spark job that starts consumers failed ${count(failures.toLong, "time")} in a row and is retried"
}

/** The prefetch buffer of an executor is full, so fetching waits for the query. */
final case class BufferFilled(id: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Debug
  override def executor: Option[String] = Some(id)
  override def message: String = s"The prefetch buffer of executor $id is full; fetching waits for the query"
}

final case class BufferFreed(id: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Debug
  override def executor: Option[String] = Some(id)
  override def message: String = s"The prefetch buffer of executor $id has room again"
}

/** A report of an executor did not reach the driver, which requested a full report. */
final case class ReportMissed(id: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Debug
  override def executor: Option[String] = Some(id)
  override def message: String = s"A report of executor $id was lost; the driver requested a full one"
}

/** The driver was unreachable when an executor was to start consumers. Emitted on the executor. */
final case class CoordinatorUnreachable(id: String, reason: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def message: String =
    s"Executor $id could not reach the driver, so it does not read: $reason. The driver will ask again"
}

/**
 * The driver no longer answers. The executor stops its consumers, so that they do not outlive the driver. Emitted on
 * the executor.
 */
final case class CoordinatorLost(id: String, pings: Int) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def message: String =
    s"The driver did not answer ${count(pings.toLong, "ping")} in a row; executor $id stops reading"
}

/**
 * The consumers of an executor failed with an error that is not a response of the service, and stop. Emitted on the
 * executor.
 */
final case class ConsumersCrashed(id: String, failure: Throwable) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def cause: Option[Throwable] = Some(failure)
  override def message: String = s"The consumers of executor $id failed and stop"
}

/** The consumers of an executor failed, and the driver starts them again. Emitted on the driver. */
final case class ExecutorFailed(id: String, reason: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def message: String = s"The consumers of executor $id failed and are started again: $reason"
}

/** The calls of an executor fail, which only its own log says otherwise. Emitted on the driver. */
final case class ExecutorOutageBegan(streamName: String, id: String, shards: Int, reason: String)
    extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def stream: Option[String] = Some(streamName)
  override def limitKey: Any = (getClass, stream, executor)
  override def message: String =
    s"Calls of executor $id for ${count(shards.toLong, "shard")} fail and are retried: $reason"
}

/** The calls of an executor succeed again. Emitted on the driver. */
final case class ExecutorOutageEnded(streamName: String, id: String, millis: Long) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Info
  override def executor: Option[String] = Some(id)
  override def stream: Option[String] = Some(streamName)
  override def message: String =
    s"Calls of executor $id succeed again; its last report of failures was ${seconds(millis)} after the first one"
}
