package org.sparkkinesis.spark.read.live

import scala.annotation.tailrec
import scala.collection.mutable

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.consume.{MissingResource, ShardHead}
import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.event.Loss
import org.sparkkinesis.model.{ChildShard, StartingPosition, StreamShard, UserRecord}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.{LatencyCounts, LiveShard, ShardOutcome, TaskEnd, TaskLineage}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.connection.{Environment, ServiceFailure}
import org.sparkkinesis.spark.executor.{LiveConsumers, LiveFeed}
import org.sparkkinesis.spark.session.FanOutConsumers
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Reads the shards of one task of a real-time batch, chunk by chunk and each shard in turn, straight from the consumers
 * of its executor. It begins a child shard when all parents are finished.
 *
 * For the task's thread, which closes it.
 *
 * @param epoch
 *   higher than the epochs of earlier attempts
 */
final private[sparkkinesis] class LiveRead(
    task: LiveTask,
    consumers: LiveConsumers,
    epoch: Long,
    settings: ReadSettings,
    environment: Environment
) extends AutoCloseable {
  import LiveRead.Cursor

  private val feed = new LiveFeed(epoch, environment.clock, environment.waiting)
  private val events = environment.events(settings.query)
  private val losses = environment.losses(settings.failOnDataLoss, events)
  private val lineage = new TaskLineage(task.finished, task.ofBatch)
  private val cursors = mutable.LinkedHashMap.empty[StreamShard, Cursor]
  private val handOver = new LatencyCounts.Builder
  private var current: Cursor = _
  private var currentChunk: Chunk = _
  private var row = 0
  private var rowCount = 0L
  private var childrenBegun = 0

  consumers.heard(task.serviceMillis)
  begin(task.shards, areChildren = false)
  if (task.isEnded) feed.end()

  /** The chunk that contains the current row. */
  def chunk: Chunk = currentChunk

  /** Index of the current row in [[chunk]]. */
  def rowInChunk: Int = row

  /** The shard of the current row. */
  def shard: LiveShard = current.shard

  /** Whether the batch ended early for this task. */
  def isEnded: Boolean = feed.isEnded

  /** Advances to the next row. Returns false if there is none within this time, or when the batch ends early. */
  def next(millis: Long): Boolean = {
    val hasRow =
      if (feed.isEnded) false
      else if (currentChunk != null && row + 1 < currentChunk.rows) {
        row += 1
        true
      } else {
        finishChunk()
        openNext(environment.clock.nanoTime, millis)
      }
    if (hasRow) rowCount += 1
    hasRow
  }

  /** Returns the positions after the last row that [[next]] has returned. */
  def outcomes: Vector[ShardOutcome] = cursors.values.map(outcome).toVector

  /**
   * Sends the positions after the last row to the driver, and waits until it has them. Returns the epoch, by which the
   * driver finds them if Spark takes this attempt of the task for the batch.
   */
  def deliverEnd(): Long = {
    consumers.deliver(epoch, TaskEnd(outcomes, rowCount, childrenBegun, handOver.result()))
    epoch
  }

  override def close(): Unit = consumers.leave(feed)

  private def begin(shards: Seq[LiveShard], areChildren: Boolean): Unit = {
    shards.foreach(one => cursors(one.shard) = new Cursor(one))
    consumers.claim(feed, shards, areChildren)
  }

  /** Drops the current chunk, of which every row was handed over. */
  private def finishChunk(): Unit = if (currentChunk != null) {
    val last = currentChunk.rows - 1
    current.move(currentChunk, last)
    consumers.release(current.shard.shard, currentChunk.lastSequenceNumber)
    // There may be more chunks, but other shards come first.
    feed.tell(current.shard.shard)
    currentChunk = null
  }

  @tailrec
  private def openNext(beganNanos: Long, millis: Long): Boolean = {
    val left = millis - (environment.clock.nanoTime - beganNanos) / 1000000
    feed.take(math.max(0, left)) match {
      case None => false
      case Some(shard) => if (open(cursors(shard))) true else openNext(beganNanos, millis)
    }
  }

  /** Returns whether the shard has a row. */
  private def open(cursor: Cursor): Boolean = cursor.from.fold(false) { from =>
    val head = headOf(cursor, from)
    val held = head.chunk
    held.flatMap(chunk => cursor.skipUpTo.fold(Option(chunk))(chunk.after)).fold {
      // Rows of a part that was read already are gone, because other rows are dropped now than in an earlier run.
      held.foreach { passed =>
        cursor.move(passed, passed.rows - 1)
        feed.tell(cursor.shard.shard)
      }
      if (held.isEmpty) head.failure.fold(head.end.foreach(finish(cursor, _)))(fail(cursor, _))
      false
    } { chunk =>
      current = cursor
      currentChunk = chunk
      row = 0
      cursor.begin(chunk)
      handOver.add(environment.clock.currentMillis - chunk.newestArrivalMillis, chunk.rows.toLong)
      true
    }
  }

  private def headOf(cursor: Cursor, from: StartingPosition): ShardHead =
    consumers.head(cursor.shard.shard, from).filter(_.epoch == epoch).getOrElse {
      val taken = new IllegalStateException(s"another task reads ${cursor.shard.shard} now")
      // Only a later attempt reads the shards with which the task began. Two tasks of a batch find the same child only
      // if the stream was recreated.
      throw (if (task.shards.exists(_.shard == cursor.shard.shard)) taken
             else RealTimeErrors.streamRecreated(cursor.shard.stream).causedBy(taken))
    }

  private def finish(cursor: Cursor, children: Seq[ChildShard]): Unit = {
    cursor.finish(children)
    val begun = lineage.finish(cursor.shard.shard, children).map { child =>
      val shard = StreamShard(cursor.shard.shard.stream, child.id)
      LiveShard(
        shard,
        cursor.shard.stream,
        ShardPosition.Horizon,
        Some(child.hashKeyRange),
        cursor.shard.creationMillis
      )
    }
    childrenBegun += begun.size
    if (begun.nonEmpty) begin(begun, areChildren = true)
    val waiting = lineage.waiting(cursor.shard.shard, children)
    if (waiting.nonEmpty) consumers.finished(cursor.shard.shard, waiting)
  }

  /** Handles a shard that cannot be read. A missing shard counts as ended if the query accepts lost records. */
  private def fail(cursor: Cursor, error: ServiceException): Unit = {
    val stream = cursor.shard.shard.stream
    MissingResource.of(error) match {
      case Some(MissingResource.Shard) =>
        losses.report(Loss.ShardGone(cursor.shard.shard, cursor.shard.stream, error))
        finish(cursor, Nil)
      case Some(MissingResource.Consumer) => throw FanOutConsumers.isGone(error, stream, settings)
      case _ => throw ServiceFailure.explain(error, cursor.shard.shard.toString, settings.client(stream))
    }
  }

  private def outcome(cursor: Cursor): ShardOutcome = {
    val isOpen = currentChunk != null && (current eq cursor)
    if (isOpen) cursor.move(currentChunk, row)
    val head = cursor.from.flatMap(consumers.head(cursor.shard.shard, _))
    val leftInChunk = Option.when(isOpen && row + 1 < currentChunk.rows)(currentChunk.arrivalMillis(row + 1))
    val oldest = leftInChunk.orElse(head.flatMap(_.chunk).map(_.arrivalMillis(0)))
    // Every record before the next one was handed over; without a next one, every record until the last response.
    val readUpTo = oldest.map(_ - 1).orElse(head.map(_.readUpToMillis)).getOrElse(0L)
    val lag = oldest.map(arrival => math.max(0, environment.clock.currentMillis - arrival))
      .orElse(head.filter(_.readUpToMillis > 0).map(_.millisBehindLatest))
    ShardOutcome(
      cursor.shard.shard,
      cursor.position,
      readUpTo,
      cursor.begunMillis,
      cursor.lastArrivalMillis,
      cursor.children,
      lag
    )
  }
}

private object LiveRead {

  /** The position in one shard. */
  final class Cursor(val shard: LiveShard) {
    private var at: ShardPosition = shard.position
    private var firstArrival: Option[Long] = None
    private var lastArrival: Option[Long] = None
    private var ofEnd: Seq[ChildShard] = Nil
    private val hadRecords = shard.position match {
      case _: ShardPosition.After | _: ShardPosition.Within => true
      case _ => false
    }

    def position: ShardPosition = at

    /** Position at which reading continues; empty if the shard is finished. */
    def from: Option[StartingPosition] = at.resumeAt
    def skipUpTo: Option[UserRecord] = at.partOfNext
    def begunMillis: Option[Long] = firstArrival
    def lastArrivalMillis: Option[Long] = lastArrival
    def children: Seq[ChildShard] = ofEnd

    /** Records the first chunk, if the batch began without the position of a record. */
    def begin(chunk: Chunk): Unit =
      if (!hadRecords && firstArrival.isEmpty) firstArrival = Some(chunk.arrivalMillis(0))

    /** Moves the cursor to the position after a row of a chunk. */
    def move(chunk: Chunk, row: Int): Unit = {
      val number = chunk.sequenceNumber(row)
      lastArrival = Some(chunk.arrivalMillis(row))
      val isWithin = row + 1 < chunk.rows && chunk.sequenceNumber(row + 1) == number
      at =
        if (isWithin) ShardPosition.Within(number, chunk.subSequenceNumber(row), chunk.arrivalMillis(row))
        else ShardPosition.After(number, chunk.arrivalMillis(row))
    }

    def finish(children: Seq[ChildShard]): Unit = {
      at = ShardPosition.ShardEnd
      ofEnd = children
    }
  }
}
