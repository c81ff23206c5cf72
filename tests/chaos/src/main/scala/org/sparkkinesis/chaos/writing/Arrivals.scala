package org.sparkkinesis.chaos.writing

import org.sparkkinesis.aggregate.Deaggregator
import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.model.SequenceNumber
import org.sparkkinesis.model.hash.HashKey

/**
 * A user record as a reader receives it.
 *
 * @param atHome
 *   whether its key belongs to its shard; readers that filter by hash range, as KCL does, get only these records
 */
final case class Arrival(key: String, number: Long, atHome: Boolean)

object Arrivals {

  /**
   * Returns all user records of the stream in the order of their sequence numbers, which for one key is the order
   * over parents and children. Aggregates are unpacked. Payloads are numbers.
   */
  def of(kinesis: KinesisEmulator, stream: String): Seq[Arrival] = {
    val records = kinesis.admin.shards(stream).flatMap { shard =>
      kinesis.admin.records(stream, shard.id.value).map(record => shard.hashKeyRange -> record)
    }
    records.sortBy(found => SequenceNumber.trusted(found._2.sequenceNumber)).flatMap { case (range, record) =>
      Option(Deaggregator.open(record.data)) match {
        case Some(users) => (0 until users.count).map { i =>
            Arrival(
              users.partitionKey(i),
              number(users.data(i)),
              range.contains(HashKey.ofPartitionKey(users.partitionKey(i)))
            )
          }
        case None => Seq(Arrival(record.partitionKey, number(record.data), atHome = true))
      }
    }
  }

  /** Returns the number of records whose first arrival was before that of an earlier record of their key. */
  def overtaken(arrivals: Seq[Arrival]): Long = {
    val first = arrivals.distinctBy(_.number).groupMap(_.key)(_.number)
    first.valuesIterator.map(numbers =>
      numbers.zip(numbers.drop(1)).count { case (one, next) => next < one }.toLong
    ).sum
  }

  private def number(payload: Array[Byte]): Long = new String(payload, "US-ASCII").trim.toLong
}
