package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.count

/** What happens to the executors that read for a query. */
sealed abstract class ExecutorEvent extends ConnectorEvent(EventSubject.Executor) {
  override def stream: Option[String] = None

  /** The executor's id, where the event concerns one executor. */
  def executor: Option[String]
  override def limitKey: Any = (getClass, executor)
}

/** The consumers of an executor have introduced themselves to the driver. */
final case class ExecutorJoined(id: String, host: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Info
  override def executor: Option[String] = Some(id)
  override def message: String = s"Executor $id on $host is ready to read"
}

/** Told by the driver. */
final case class ExecutorLost(id: String, shards: Int) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Info
  override def executor: Option[String] = Some(id)
  override def message: String =
    s"Executor $id is lost; its ${count(shards.toLong, "shard")} will be assigned to others"
}

/** The Spark job that starts consumers has failed; it runs again. */
final case class ConsumersNotStarted(failures: Int, failure: Throwable) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = None
  override def cause: Option[Throwable] = Some(failure)
  override def message: String =
    s"The Spark job that starts consumers failed ${count(failures.toLong, "time")} in a row and is retried"
}

/** The prefetch buffer of an executor takes no more, so fetching waits for the query. */
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

/** A report of an executor did not reach the driver, which asks for a full one. */
final case class ReportMissed(id: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Debug
  override def executor: Option[String] = Some(id)
  override def message: String = s"A report of executor $id was lost; the driver requested a full one"
}

/** Told by an executor that was to start consumers. */
final case class CoordinatorUnreachable(id: String, reason: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def message: String =
    s"Executor $id could not reach the driver, so it does not read: $reason. The driver will ask again"
}

/** Told by an executor; its consumers stop, so that a driver that died leaves none behind. */
final case class CoordinatorLost(id: String, pings: Int) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def message: String =
    s"The driver did not answer ${count(pings.toLong, "ping")} in a row; executor $id stops reading"
}

/** Told by an executor whose consumers failed at something that is no answer of the service; they stop. */
final case class ConsumersCrashed(id: String, failure: Throwable) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def cause: Option[Throwable] = Some(failure)
  override def message: String = s"The consumers of executor $id failed and stop"
}

/** The same, told by the driver, which starts the consumers again. */
final case class ExecutorFailed(id: String, reason: String) extends ExecutorEvent {
  override def level: EventLevel = EventLevel.Warn
  override def executor: Option[String] = Some(id)
  override def message: String = s"The consumers of executor $id failed and are started again: $reason"
}
