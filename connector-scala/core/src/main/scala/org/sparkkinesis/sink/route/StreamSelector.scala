package org.sparkkinesis.sink.route

import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.sink.kinesis.put.SinkRecord

/** Chooses the physical stream of each record of one logical stream, for one task. Used by one thread. */
trait StreamSelector {

  /**
   * @param among
   *   the streams to choose from, in the order of their ARNs; at least one. The same object as in the last call if the
   *   streams did not change.
   */
  def choose(record: SinkRecord, among: Vector[PhysicalStream]): PhysicalStream
}

/**
 * Fills one request after another: it stays with a stream until its records fill a request, so that requests are as
 * large as those of a single stream. The streams take turns in proportion to their weights.
 *
 * @param start
 *   number of turns to skip, so that the tasks of a write do not all begin with the same stream
 */
final class RoundRobinSelector(maxBatchSize: Int, maxBatchBytes: Long, start: Int) extends StreamSelector {
  private var streams = Vector.empty[PhysicalStream]
  private var credits = Map.empty[String, Long]
  private var current: PhysicalStream = null
  private var entriesLeft = 0
  private var bytesLeft = 0L

  override def choose(record: SinkRecord, among: Vector[PhysicalStream]): PhysicalStream = {
    if (among ne streams) {
      val isFirst = streams.isEmpty
      streams = among
      credits = among.map(stream => stream.arn -> credits.getOrElse(stream.arn, 0L)).toMap
      if (!among.contains(current)) current = null
      if (isFirst) (0 until start % among.size).foreach(_ => turn())
    }
    if (current == null || entriesLeft == 0 || bytesLeft < record.size) {
      entriesLeft = maxBatchSize
      bytesLeft = maxBatchBytes
      turn()
    }
    entriesLeft -= 1
    bytesLeft -= record.size
    current
  }

  /** Smooth weighted round robin: each turn adds the weights to the credits, and the highest one pays for the turn. */
  private def turn(): Unit = {
    val raised = streams.map(stream => stream -> (credits(stream.arn) + stream.weight))
    val (chosen, credit) = raised.maxBy(_._2)
    credits = raised.map { case (stream, sum) => stream.arn -> sum }.toMap
      .updated(chosen.arn, credit - streams.map(_.weight.toLong).sum)
    current = chosen
  }
}

/**
 * Weighted rendezvous hashing: each stream gets a score from the key and its ARN, and the highest score wins. An added
 * stream takes only its share of the keys, and only the keys of a removed stream move.
 */
final class RendezvousSelector extends StreamSelector {
  import RendezvousSelector._

  private var streams = Vector.empty[PhysicalStream]
  private var seeds = Array.empty[Long]

  override def choose(record: SinkRecord, among: Vector[PhysicalStream]): PhysicalStream = {
    if (among ne streams) {
      streams = among
      seeds = among.map(stream => seedOf(stream.arn)).toArray
    }
    val key = HashPoint.ofPartitionKey(record.partitionKey)
    var best = 0
    var bestScore = Double.NegativeInfinity
    var i = 0
    while (i < seeds.length) {
      val score = streams(i).weight / -math.log(uniform(mix(mix(key.high ^ seeds(i)) + key.low)))
      if (score > bestScore) {
        best = i
        bestScore = score
      }
      i += 1
    }
    streams(best)
  }
}

private object RendezvousSelector {
  def seedOf(arn: String): Long = {
    val hash = HashPoint.ofPartitionKey(arn)
    mix(hash.high ^ hash.low)
  }

  /** A number between 0 and 1, without both ends. */
  def uniform(bits: Long): Double = ((bits >>> 11) + 0.5) / (1L << 53).toDouble

  /** The finalizer of SplitMix64: every bit of the input changes half of the bits of the result. */
  def mix(input: Long): Long = {
    val first = (input ^ (input >>> 30)) * 0xbf58476d1ce4e5b9L
    val second = (first ^ (first >>> 27)) * 0x94d049bb133111ebL
    second ^ (second >>> 31)
  }
}

/** Uses the streams with the highest priority, and among several of them takes turns. */
final class PrioritySelector(turns: RoundRobinSelector) extends StreamSelector {
  private var streams = Vector.empty[PhysicalStream]
  private var highest = Vector.empty[PhysicalStream]

  override def choose(record: SinkRecord, among: Vector[PhysicalStream]): PhysicalStream = {
    if (among ne streams) {
      streams = among
      val top = among.map(_.priority).max
      highest = among.filter(_.priority == top)
    }
    turns.choose(record, highest)
  }
}
