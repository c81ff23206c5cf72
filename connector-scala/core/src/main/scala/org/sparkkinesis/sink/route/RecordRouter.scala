package org.sparkkinesis.sink.route

import java.util.{List => JList, Optional}

/**
 * Chooses the physical stream of each record of a logical stream, for one task. A class that option `router` names can
 * extend it; it needs a public constructor without parameters. One thread uses an instance.
 */
trait RecordRouter {

  /**
   * Called before the first record, and whenever the streams that take records change: with another version of the
   * metadata, when a stream has failed, and when it is used again.
   *
   * @param streams
   *   the streams to choose from, in the order of their ARNs; at least one
   */
  def streamsChanged(streams: JList[RouterStream]): Unit

  /** Returns the ARN of one of the streams that [[streamsChanged]] was last given. */
  def choose(record: RouterRecord): String
}

/** A physical stream, as a [[RecordRouter]] sees it. */
final class RouterStream(
    val arn: String,
    val name: String,
    val region: String,
    val account: String,
    val weight: Int,
    val priority: Int
) {
  override def toString: String = arn
}

/**
 * A record, as a [[RecordRouter]] sees it.
 *
 * @param explicitHashKey
 *   the explicit hash key as a decimal number, if the row has one
 * @param size
 *   bytes of the partition key and the payload, as the service counts them
 */
final class RouterRecord(val partitionKey: String, val explicitHashKey: Optional[String], val size: Int)
