package org.sparkkinesis.interop

import java.nio.charset.StandardCharsets.UTF_8

import org.sparkkinesis.emulator.admin.EmulatorAdmin
import org.sparkkinesis.model.Shard

/**
 * A stream of two shards into which numbered records are put, and which is split and merged.
 *
 * @param perWrite how many records each [[write]] puts
 */
final class ReshardedStream(admin: EmulatorAdmin, val name: String, perWrite: Int) {
  import ReshardedStream._

  private var next = 0

  val arn: String = admin.createStream(name, 2)

  /** The number of written records. */
  def written: Int = next

  /**
   * Puts the first half of the next records one by one, and passes the other half to `writer`, which must put them.
   */
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

  /** A record. The numbers of a key increase in the order of writing. */
  final case class Numbered(key: String, number: Int) {
    def data: String = s"$key $number"
  }
}
