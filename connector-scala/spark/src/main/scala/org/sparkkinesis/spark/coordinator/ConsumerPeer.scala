package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.spark.protocol.{Peer, ProtocolCodec, Register, Report, SendFullReport, ToExecutor}

/** An executor's consumers, as the coordinator knows them. Guarded by the coordinator's lock. */
final private[coordinator] class ConsumerPeer(
    val id: String,
    val host: String,
    val instance: Long,
    val address: String,
    send: Array[Byte] => Unit
) {
  private var lastReport = 0L

  /** The report at which a full one was asked for, and the newest epoch then. */
  private var asked: Option[(Long, Long)] = None
  var bufferIsFull = false

  /** How often a full report was asked for because one before it was lost. */
  var missedReports = 0
  var metrics = Map.empty[String, Long]

  /** Whether a report was lost whose news has not been told again; a later one does not say what it held. */
  def lacksNews: Boolean = asked.nonEmpty

  def tell(message: ToExecutor): Unit = send(ProtocolCodec.encode(message))

  /**
   * Takes note of a report; asks for a full one when some before it was lost, and again when that does not come.
   *
   * @param newestEpoch
   *   of all assignments so far
   * @return
   *   with the full report that was asked for: assignments up to this epoch must be in it
   */
  def hear(report: Report, newestEpoch: Long): Option[Long] = {
    val isGap = report.number != lastReport + 1
    lastReport = report.number
    bufferIsFull = report.bufferIsFull
    metrics = report.metrics
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
  val ReportsUntilAskedAgain = 20L

  def apply(introduction: Register, peer: Peer, address: String): ConsumerPeer =
    new ConsumerPeer(introduction.executorId, introduction.host, introduction.instance, address, peer.send)
}
