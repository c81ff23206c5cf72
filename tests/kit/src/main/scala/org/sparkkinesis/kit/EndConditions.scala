package org.sparkkinesis.kit

/** The conditions with which a correct query may end while its streams and its service have faults. */
object EndConditions {

  /** Reports of lost records. The query continues if it is restarted with `failOnDataLoss=false`. */
  val Losses: Set[String] = Set("KINESIS_DATA_LOSS", "KINESIS_STREAM_RECREATED")

  /** Temporary failures. The query continues if it is restarted. */
  val Passing: Set[String] = Set(
    "KINESIS_LISTING_INCOMPLETE",
    "KINESIS_SHARD_NOT_LISTED",
    "KINESIS_ENDPOINT_UNREACHABLE",
    "KINESIS_STREAM_NOT_FOUND",
    "KINESIS_STREAM_UNUSABLE",
    "KINESIS_CONSUMER_NOT_FOUND",
    "KINESIS_CONSUMER_NOT_READY",
    "KINESIS_REAL_TIME_STREAM_RECREATED",
    "KINESIS_REAL_TIME_DRIVER_UNREACHABLE",
    "KINESIS_SERVICE_FAILED"
  )
}
