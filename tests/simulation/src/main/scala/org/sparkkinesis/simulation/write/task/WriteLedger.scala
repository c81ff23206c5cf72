package org.sparkkinesis.simulation.write.task

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import org.sparkkinesis.aggregate.Deaggregator
import org.sparkkinesis.model.hash.HashKey
import org.sparkkinesis.service.PutEntry
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.model.{ModelShard, PutCall, StoredPut}
import org.sparkkinesis.simulation.write.schedule._

/**
 * A row of a micro-batch.
 *
 * @param id
 *   increases in the order of the rows, also over batches
 */
final case class WriteRow(id: Long, batch: Int, target: WriteTarget, key: String, hashKey: Option[BigInt], bytes: Int)

/**
 * A stored row.
 *
 * @param order
 *   the position among all stored rows
 * @param isFound
 *   whether readers get it that drop an aggregate with a record of another shard, as KCL does
 * @param isAggregated
 *   whether it is in an aggregate
 * @param stream
 *   the ARN of the stream that stored it
 * @param shard
 *   the shard that stored it
 */
final case class Arrival(
    order: Long,
    isFound: Boolean,
    isAggregated: Boolean,
    stream: String,
    shard: ModelShard,
    storedMillis: Long,
    call: PutCall
)

/**
 * Compares the rows that committed tasks have reported with the rows in the streams.
 *
 * @param doubts
 *   the times in which the sink cannot find out whether readers get the rows of an aggregate
 */
final class WriteLedger(ordered: Boolean, now: () => Long, doubts: PlacementDoubts) {
  import WriteLedger._

  private val arrivals = mutable.LongMap.empty[mutable.HashMap[Long, Vector[Arrival]]]

  /** The attempts that have ended, unless they ended with their executor. */
  private val over = mutable.HashSet.empty[Long]

  /** The last arrival of each key of a stream, over all committed attempts. */
  private val lastOfKey = mutable.HashMap.empty[(Int, String), (WriteRow, Long)]

  /** The streams that attempts may write to, if they write to a logical stream. */
  private val routes = mutable.LongMap.empty[Set[String]]

  /** The streams that running attempts have left because of failures, with the times. */
  private val leaves = mutable.LongMap.empty[Vector[(String, Long)]]

  /** How often a stream was left; the order of keys is lost then. */
  private var left = 0L
  private var stored = 0L
  private var repeated = 0L

  def storedRecords: Long = stored
  def duplicates: Long = repeated
  def streamsLeft: Long = left

  /** Records the streams to which an attempt may write. */
  def routed(attempt: Long, streams: Set[String]): Unit = routes(attempt) = streams

  /** Records that an attempt has left a stream because of a failure. */
  def leaveStream(attempt: Long, stream: String): Unit = {
    left += 1
    leaves(attempt) = leaves.getOrElse(attempt, Vector.empty) :+ stream -> now()
  }

  /** Records an entry that the service has stored. */
  def add(put: StoredPut): Unit = {
    val users = usersOf(put.entry)
    val isFound = users.forall(user => put.shard.range.contains(user.hash))
    users.foreach { user =>
      stored += 1
      val (attempt, row) = (user.attempt, user.row)
      if (over(attempt)) throw new Violation("late", s"row $row of attempt $attempt was stored after its end")
      if (routes.get(attempt).exists(!_(put.stream.arn)))
        throw new Violation("route", s"row $row of attempt $attempt was stored in ${put.stream.arn}")
      val rows = arrivals.getOrElseUpdate(attempt, mutable.HashMap.empty)
      val arrival = Arrival(stored, isFound, isAggregate(put.entry), put.stream.arn, put.shard, now(), put.call)
      rows(row) = rows.getOrElse(row, Vector.empty) :+ arrival
    }
  }

  /** Checks the rows that a committed task has reported as stored. */
  def commit(attempt: Long, rows: Seq[WriteRow]): Unit = {
    val of = arrivals.getOrElse(attempt, mutable.HashMap.empty)
    rows.foreach { row =>
      val all = of.getOrElse(row.id, Vector.empty)
      if (all.isEmpty) throw new Violation("loss", s"$row is committed, and was never stored")
      if (!all.exists(_.isFound))
        throw new Violation("misplaced", s"$row is committed, but only in aggregates of other shards")
      repeated += all.size - 1
    }
    if (ordered && left == 0) checkOrder(rows, of)
    ended(attempt)
  }

  /**
   * Records the end of an attempt. It cancels its requests, so that none of its rows arrives among those of the next
   * attempt or batch. Only requests of a lost executor may still arrive.
   */
  def ended(attempt: Long): Unit = {
    over += attempt
    arrivals.remove(attempt).foreach(_.foreach { case (row, all) => checkRepeated(attempt, row, all) })
    leaves -= attempt
  }

  /**
   * Checks that a row was sent again only if an answer was lost, or if it was in an aggregate in which readers do not
   * find it or may not find it.
   */
  private def checkRepeated(attempt: Long, row: Long, all: Vector[Arrival]): Unit =
    for {
      arrival <- all.init
      answered <- arrival.call.answeredMillis
      provenMillis = answered + ProofMillis
      if arrival.isFound && !(arrival.call.isCancelled && routes.contains(attempt)) &&
        !isLeft(attempt, arrival, provenMillis) && !(arrival.isAggregated && isDoubtful(arrival, provenMillis))
    } throw new Violation(
      "duplicate",
      s"row $row of attempt $attempt was sent again, though request ${arrival.call.number} had been answered: it was " +
        s"stored by the requests ${all.map(_.call.number).mkString(", ")}"
    )

  /** Whether the stream was left before a time: the answer, or a listing that proves it, is not waited for then. */
  private def isLeft(attempt: Long, arrival: Arrival, untilMillis: Long): Boolean =
    leaves.getOrElse(attempt, Vector.empty).exists { case (stream, at) =>
      stream == arrival.stream && at >= arrival.storedMillis && at <= untilMillis
    }

  /**
   * Whether the sink could not find out until a time that readers get an aggregate: listings failed, or the shard was
   * closed, so that listings of the open shards did not contain it any more.
   */
  private def isDoubtful(arrival: Arrival, untilMillis: Long): Boolean =
    doubts.in(arrival.storedMillis, untilMillis) || arrival.shard.closedMillis.exists(_ <= untilMillis)

  /** Checks that neither the first nor the last arrival of a record is before that of an earlier record of its key. */
  private def checkOrder(rows: Seq[WriteRow], of: collection.Map[Long, Vector[Arrival]]): Unit =
    rows.groupBy(row => (row.target.account, row.key)).foreach { case (key, same) =>
      val byOrdinal = same.sortBy(_.id)
      val found = byOrdinal.map(row => row -> of(row.id).filter(_.isFound))
      found.zip(found.drop(1)).foreach { case ((one, before), (other, after)) =>
        if (before.head.order > after.head.order || before.last.order > after.last.order)
          throw new Violation("order", s"$other overtook $one: arrivals ${orders(after)} and ${orders(before)}")
      }
      val (first, firstArrivals) = found.head
      val (last, lastArrivals) = found.last
      lastOfKey.get(key).foreach { case (before, order) =>
        // A speculative attempt of the same task may have written at the same time.
        if (before.batch < first.batch && firstArrivals.head.order < order)
          throw new Violation("order", s"$first arrived before the last arrival of $before")
      }
      lastOfKey(key) = (last, math.max(lastArrivals.last.order, lastOfKey.get(key).fold(0L)(_._2)))
    }

  private def orders(arrivals: Vector[Arrival]): String = arrivals.map(_.order).mkString(" ")
}

object WriteLedger {

  /** The time that the sink may take, after an answer, to list the shards. */
  private val ProofMillis = 1000L

  final private case class User(attempt: Long, row: Long, hash: BigInt)

  private def user(data: Array[Byte], hash: BigInt): User = {
    val ids = new String(data, UTF_8).takeWhile(_ != '|').split('-').map(_.toLong)
    User(ids(0), ids(1), hash)
  }

  /** Returns the payload of a row, which contains the attempt and the row's id. */
  def payload(attempt: Long, row: WriteRow): Array[Byte] =
    s"$attempt-${row.id}|".padTo(row.bytes, 'x').getBytes(UTF_8)

  private def isAggregate(entry: PutEntry): Boolean = Deaggregator.open(entry.data) != null

  private def usersOf(entry: PutEntry): Vector[User] = Option(Deaggregator.open(entry.data)) match {
    case Some(users) => (0 until users.count).toVector.map { i =>
        val hash =
          if (users.hasExplicitHashKey(i)) BigInt(users.explicitHashKey(i))
          else HashKey.ofPartitionKey(users.partitionKey(i))
        user(users.data(i), hash)
      }
    case None =>
      val hash = entry.explicitHashKey.fold(HashKey.ofPartitionKey(entry.partitionKey))(BigInt(_))
      Vector(user(entry.data, hash))
  }
}
