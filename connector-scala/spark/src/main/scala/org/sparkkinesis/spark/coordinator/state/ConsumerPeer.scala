package org.sparkkinesis.spark.coordinator.state

import org.sparkkinesis.event.{ConnectorEvent, ConsumerHealth}
import org.sparkkinesis.metric.OutageWatch
import org.sparkkinesis.spark.protocol.{Peer, ProtocolCodec, Register, Report, SendFullReport, ToExecutor}

/** The coordinator's state about one executor's consumers. Guarded by the coordinator's lock. */
final private[coordinator] class ConsumerPeer(
    val id: String,
    val host: String,
    val instance: Long,
    val address: String,
    send: Array[Byte] => Unit
) {
  private var lastReport = 0L

  /** The number of the report that led to a request for a full report, and the newest epoch at that time. */
  private var asked: Option[(Long, Long)] = None
  var bufferIsFull = false

  /** Counts requests for a full report because an earlier report was lost. */
  var missedReports = 0

  /** The streams that the executor cannot reach, by its last report. */
  var unreachable = Set.empty[String]
  var metrics = Map.empty[String, Long]
  var health: ConsumerHealth = ConsumerHealth()
  private val outages = new OutageWatch(id)

  /** Takes the outages of the last report. Returns the events for those that have begun or ended. */
  def outageEvents(): Seq[ConnectorEvent] = outages.accept(health.outages)

  /**
   * Returns whether a lost report has not been replaced by a full one yet. Later incremental reports do not repeat
   * its content.
   */
  def lacksNews: Boolean = asked.nonEmpty

  def tell(message: ToExecutor): Unit = send(ProtocolCodec.encode(message))

  /**
   * Records the arrival of a report. Requests a full report when an earlier one was lost, and again when the full
   * report does not arrive.
   *
   * @param newestEpoch
   *   the newest epoch of all assignments so far
   * @return
   *   for a requested full report: the epoch up to which it must name every assignment
   */
  def hear(report: Report, newestEpoch: Long): Option[Long] = {
    val isGap = report.number != lastReport + 1
    lastReport = report.number
    bufferIsFull = report.bufferIsFull
    metrics = report.metrics
    health = report.health
    unreachable = report.unreachable
    val answered = if (report.full) asked.map(_._2) else None
    if (report.full) asked = None
    else if (isGap || asked.exists { case (at, _) => report.number - at >= ConsumerPeer.ReportsUntilAskedAgain }) {
      asked = Some(report.number -> newestEpoch)
      missedReports += 1
      tell(SendFullReport)
    }
    answered
  }
}

private[coordinator] object ConsumerPeer {

  /** Number of reports after which an unanswered request for a full report is repeated. */
  val ReportsUntilAskedAgain = 20L

  def apply(introduction: Register, peer: Peer, address: String): ConsumerPeer =
    new ConsumerPeer(introduction.executorId, introduction.host, introduction.instance, address, peer.send)
}
