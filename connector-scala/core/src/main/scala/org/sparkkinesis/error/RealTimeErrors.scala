package org.sparkkinesis.error

/** Errors of real-time mode. Each method creates the error of one condition. */
object RealTimeErrors {

  def tooFewSlots(tasks: Int, shards: Int, available: Int, slots: Int): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_REAL_TIME_SLOTS",
      "tasks" -> tasks.toString,
      "shards" -> shards.toString,
      "available" -> available.toString,
      "slots" -> slots.toString
    )

  def unsupported(setting: String, reason: String, fix: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_REAL_TIME_UNSUPPORTED",
      "setting" -> setting,
      "reason" -> reason,
      "fix" -> fix
    )

  def streamRecreated(stream: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_REAL_TIME_STREAM_RECREATED", "stream" -> stream)

  def driverUnreachable(executor: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_REAL_TIME_DRIVER_UNREACHABLE", "executor" -> executor)
}
