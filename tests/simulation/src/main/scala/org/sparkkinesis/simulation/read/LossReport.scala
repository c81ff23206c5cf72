package org.sparkkinesis.simulation.read

/**
 * A user record that was put.
 *
 * @param stream
 *   identifies the stream among all streams, including deleted ones
 * @param ordered
 *   whether the records of its key are delivered in the order of their ids
 * @param dropped
 *   whether the hash range filter removes it
 * @param ancestors
 *   the shards from which its shard descends
 */
final case class PutRecord(
    id: Long,
    stream: String,
    shard: String,
    key: String,
    arrivalMillis: Long,
    ordered: Boolean,
    dropped: Boolean,
    ancestors: Set[String] = Set.empty
) {

  /** The ARN of its stream. */
  def arn: String = stream.takeWhile(_ != '#')
}

/**
 * A report of the query that records may be lost.
 *
 * @param stream
 *   name or ARN of the stream
 * @param shard
 *   the reported shard; empty if the stream was recreated
 * @param lineage
 *   if the report is about the lineage of the shard: the shards that are left of it, and their ancestors
 * @param siblings
 *   the shards with a parent of the reported shard that the service did not have any more. The time of a shard that was
 *   never read is that of its parents, so the report is about them as well.
 * @param unread
 *   the shards before the reported one, and the time up to which it was read, if the report names it
 * @param isOfFilter
 *   whether the report is about user records that the filter of hash keys has left out, which the stream still has
 */
final case class LossReport(
    millis: Long,
    condition: String,
    stream: String,
    shard: String,
    isError: Boolean,
    lineage: Option[Set[String]] = None,
    siblings: Set[String] = Set.empty,
    unread: Option[Unread] = None,
    isOfFilter: Boolean = false
) {

  /**
   * Returns whether the record may be one of those that are reported as lost. A recreated stream is read from its
   * oldest record, so the report is about all earlier ones.
   */
  def concerns(record: PutRecord): Boolean = isOfStreamOf(record) && (
    shard.isEmpty || shard == record.shard || siblings(record.shard) ||
      unread.exists(_.concerns(record)) || lineage.exists(left => left(record.shard) || record.ancestors(shard))
  )

  def isOfStreamOf(record: PutRecord): Boolean = LossReport.isNamed(record.arn, stream)

  /**
   * The time up to which the reported records expired. The report of a lost lineage is also about what expires before
   * the shards that are left are fetched.
   */
  def untilMillis: Long = if (lineage.isEmpty) millis else millis + LossReport.FirstAnswersMillis
}

/**
 * What a report says about the shards before the reported one. The query does not know them if they expired before it
 * listed the stream, and the time up to which the reported shard was read is also theirs.
 *
 * @param ancestors
 *   the shards from which the reported shard descends
 */
final case class Unread(fromMillis: Long, ancestors: Set[String]) {
  def concerns(record: PutRecord): Boolean = ancestors(record.shard) && record.arrivalMillis >= fromMillis
}

object LossReport {
  private val FirstAnswersMillis: Long = 60 * 1000L

  /** Returns whether a report that names this stream is about the stream with this ARN. */
  def isNamed(arn: String, stream: String): Boolean = arn == stream || arn.endsWith(s"/$stream")
}
