package org.sparkkinesis.chaos.realtime

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.chaos.Puts
import org.sparkkinesis.emulator.admin.EmulatorAdmin

/**
 * Puts numbered records in groups of one partition key: every second group as one aggregate, the others as records of
 * their own. Not thread-safe.
 */
final private[realtime] class GroupProducer(service: EmulatorAdmin, stream: String) {
  import GroupProducer._
  private val sequenceNumbers = mutable.ArrayBuffer.empty[String]

  def count: Int = sequenceNumbers.size

  def puts: Puts = Puts(stream, count, sequenceNumbers(_))

  /** Puts whole groups as long as there are fewer records than this. */
  def putUntil(total: Long): Unit = while (count < total) {
    val group = count / Size
    val key = s"key-${group % Keys}"
    val data = (count until count + Size).map(_.toString.getBytes(UTF_8))
    sequenceNumbers ++=
      (if (group % 2 == 0) data.map(service.putRecord(stream, key, _))
       else {
         val container = new Aggregator(1 << 20)
         require(data.forall(container.tryAdd(key, None, _)), "the aggregate is full")
         val sequenceNumber = service.putRecord(stream, key, container.result())
         Seq.fill(Size)(sequenceNumber)
       })
  }
}

private object GroupProducer {
  val Size = 100
  val Keys = 499
}
