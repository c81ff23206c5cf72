package org.sparkkinesis.interop

import java.nio.charset.StandardCharsets.UTF_8

import org.sparkkinesis.emulator.admin.EmulatorAdmin
import org.sparkkinesis.model.Shard

/**
 * A stream of two shards that numbered records are put into, and that is split and merged.
 *
 * @param perWrite how many records each [[write]] puts
 */
final class ReshardedStream(admin: EmulatorAdmin, val name: String, perWrite: Int) {
  import ReshardedStream._

  private var next = 0

  val arn: String = admin.createStream(name, 2)

  /** How many records were written. */
  def written: Int = next

  /** Puts the first half of the next records one by one, then gives the other half to `writer`, which is to put them. */
  def write(writer: Seq[Numbered] => Unit): Unit = {
    val (first, second) = (next until next + perWrite).map(i => Numbered(s"key-${i % Keys}", i)).splitAt(perWrite / 2)
    first.foreach(record => admin.putRecord(name, record.key, record.data.getBytes(UTF_8)))
    writer(second)
    next += perWrite
  }

  /** Splits the first open shard, then merges the upper half with its neighbour. */
  def reshard(): Unit = {
    val Seq(first, neighbour) = open: @unchecked
    admin.splitShard(name, first.id.value)
    val Seq(_, upper, _) = open: @unchecked
    admin.mergeShards(name, upper.id.value, neighbour.id.value)
  }

  def shards: Seq[Shard] = admin.shards(name)

  private def open: Seq[Shard] = shards.filter(_.isOpen).sortBy(_.hashKeyRange.start)
}

object ReshardedStream {
  private val Keys = 50

  /** A record; the numbers of a key grow in the order in which they were written. */
  final case class Numbered(key: String, number: Int) {
    def data: String = s"$key $number"
  }
}
