package org.sparkkinesis.spark.read.batch

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.service.{KinesisService, RecordPage, ServiceLease}

/**
 * The first records of the ranges of one batch read. Each range is looked at once, unless more of its records are
 * wanted later. Thread-safe.
 *
 * @param client
 *   returns the client for a stream by its ARN
 */
final private[read] class RangeSamples(client: String => ServiceLease[KinesisService]) {
  private var known = Map.empty[ShardRange, (Int, RecordPage)]

  /**
   * Returns the first records of each range, in two calls for each that is not known.
   *
   * @param atLeast
   *   number of records, unless there are fewer
   */
  def of(ranges: Seq[ShardRange], atLeast: Int): Seq[RecordPage] = synchronized {
    val missing = ranges.filterNot(range => known.get(range).exists(_._1 >= atLeast))
    known ++= missing.zip(fetched(missing, atLeast).map(atLeast -> _))
    ranges.map(known(_)._2)
  }

  private def fetched(ranges: Seq[ShardRange], limit: Int): Seq[RecordPage] = Using.Manager { use =>
    val pages = ranges.map { range =>
      val service = use(client(range.shard.stream)).service
      val stream = StreamRef.parse(range.shard.stream).getOrElse(StreamRef.ByName(range.stream))
      service.getShardIterator(stream, range.shard.shard, range.after)
        .thenCompose[RecordPage](service.getRecords(stream, _, limit))
    }
    CompletableFuture.allOf(pages: _*).get(RangeSamples.LongestWait.toMillis, TimeUnit.MILLISECONDS)
    pages.map(_.join())
  }.get
}

private object RangeSamples {
  val LongestWait: FiniteDuration = 3.seconds
}
