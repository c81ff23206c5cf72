package org.sparkkinesis.consume

import scala.collection.mutable

import org.sparkkinesis.chunk.{Chunk, ChunkBuilder}
import org.sparkkinesis.consume.spill.{ChunkInMemory, ChunkSpill, HeldChunk, SpilledChunk}
import org.sparkkinesis.model.StartingPosition.{AfterSequenceNumber, AtSequenceNumber, AtTimestamp, TrimHorizon}
import org.sparkkinesis.model.packed.PackedRecords
import org.sparkkinesis.model.{ChildShard, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * Prefetches one shard and holds its chunks until they are released. Thread-safe and non-blocking.
 *
 * The held chunks have no gaps: they contain all records after `heldFrom` up to the last fetched record.
 *
 * @param creationMillis
 *   creation time of the stream, in epoch milliseconds
 */
final private[consume] class ShardConsumer(
    shard: StreamShard,
    val creationMillis: Long,
    start: StartingPosition,
    val startEpoch: Long,
    publishers: RecordPublisherFactory,
    chunks: ChunkBuilder,
    buffer: PrefetchBuffer,
    listener: ProgressListener
) {
  private val held = mutable.ArrayDeque.empty[HeldChunk]
  private var heldFrom = start
  private var lastFetched: Option[SequenceNumber] = None
  private var readUpToMillis = 0L
  private var millisBehindLatest = 0L
  private var end: Option[Seq[ChildShard]] = None
  private var failure: Option[ServiceException] = None
  private var currentEpoch = startEpoch
  private var stopped = false
  private var lastBatchBytes = PrefetchAccount.Unknown

  /** Retained bytes per byte of payload. Rows have an overhead, and aggregates expand. */
  private var retainedPerByte = 1.0

  /** The current feed. Callbacks of other feeds come from a publisher that was cancelled. */
  private var feed: Feed = null
  private val account = buffer.open(granted => requestFromFeed(granted))
  private val files = buffer.spill.map(_.open())

  /**
   * Lock that is held while the listener is called, so that its calls are in order. Never acquired while `this` is
   * held.
   */
  private val listenerLock = new Object

  def epoch: Long = synchronized(currentEpoch)

  def begin(): Unit = feedIfNeeded()

  def stop(): Unit = {
    synchronized {
      stopped = true
      closeFeed()
      held.clear()
    }
    files.foreach(_.close())
    account.close()
  }

  /**
   * Continues under a newer epoch and returns true if the records after `position` are held or are fetched next.
   * Returns false if a new consumer is required.
   */
  def adopt(position: StartingPosition, newEpoch: Long): Boolean = {
    val adopted = synchronized {
      val fits = failure.isEmpty && covers(position) && canBeginAt(position)
      if (fits) currentEpoch = newEpoch
      fits
    }
    if (adopted) position match {
      case AfterSequenceNumber(number) => release(number)
      case _ => ()
    }
    adopted
  }

  /** Releases all records at or before `upTo`. If `upTo` is after everything fetched, continues after it. */
  def release(upTo: SequenceNumber): Unit = {
    var freed = 0L
    synchronized {
      while (held.headOption.exists(_.lastSequenceNumber <= upTo)) {
        val chunk = held.removeHead()
        freed += chunk.retainedBytes
        release(chunk)
      }
      for (chunk <- held.headOption; rest <- chunk.after(upTo)) {
        freed += chunk.retainedBytes - rest.retainedBytes
        held(0) = rest
      }
      val behind = heldFrom match {
        case AfterSequenceNumber(from) => from < upTo
        case _ => true
      }
      if (behind) heldFrom = AfterSequenceNumber(upTo)
    }
    if (freed > 0) account.remove(freed)
    feedIfNeeded()
  }

  private def release(chunk: HeldChunk): Unit = chunk match {
    case spilled: SpilledChunk => spilled.release()
    case _: ChunkInMemory => ()
  }

  /** Returns exactly the records in `(after, last]`, or `None` if some of them are not held. */
  def read(after: StartingPosition, last: SequenceNumber): Option[IndexedSeq[HeldChunk]] = synchronized {
    if (stopped || !covers(after) || !lastFetched.exists(_ >= last)) None
    else {
      val wanted = held.iterator.takeWhile(_.firstSequenceNumber <= last).flatMap(begin(_, after)).flatMap(_.upTo(last))
      Some(wanted.toVector)
    }
  }

  /** Returns the first held records at or after `from`, and what is known if there are none. */
  def head(from: StartingPosition): ShardHead = synchronized {
    val chunk = held.iterator.flatMap(begin(_, from)).flatMap(_.load()).nextOption()
    ShardHead(currentEpoch, chunk, if (chunk.isEmpty) end else None, failure, readUpToMillis, millisBehindLatest)
  }

  private def begin(chunk: HeldChunk, from: StartingPosition): Option[HeldChunk] = from match {
    case AfterSequenceNumber(number) => chunk.after(number)
    case AtSequenceNumber(number) => chunk.at(number)
    case _ => Some(chunk)
  }

  def snapshot: ShardSnapshot = synchronized {
    ShardSnapshot(
      shard,
      currentEpoch,
      heldFrom,
      held.iterator.flatMap(_.summaries).toVector,
      readUpToMillis,
      millisBehindLatest,
      end,
      failure
    )
  }

  /** True if all records after `position` that have been fetched are held. */
  private def covers(position: StartingPosition): Boolean = position == heldFrom ||
    ((position, heldFrom) match {
      case (AfterSequenceNumber(wanted), AfterSequenceNumber(from)) => wanted >= from && lastFetched.forall(wanted <= _)
      case (AfterSequenceNumber(wanted), _) =>
        // After a start at a time or at TRIM_HORIZON, records before the first fetched one may exist that the caller
        // wants.
        held.headOption.exists(_.firstSequenceNumber <= wanted) && lastFetched.exists(wanted <= _)
      case (AtSequenceNumber(wanted), AfterSequenceNumber(from)) => wanted > from && lastFetched.exists(wanted <= _)
      case (AtSequenceNumber(wanted), _) =>
        held.headOption.exists(_.firstSequenceNumber <= wanted) && lastFetched.exists(wanted <= _)
      case (AtTimestamp(wanted), TrimHorizon) => beginsAt(wanted)
      case (AtTimestamp(wanted), AtTimestamp(from)) => from <= wanted && beginsAt(wanted)
      case _ => false
    })

  /** A snapshot omits the records before a position. A block of a file is divided between its chunks only. */
  private def canBeginAt(position: StartingPosition): Boolean = position match {
    case AfterSequenceNumber(number) => held.find(_.lastSequenceNumber > number).forall(_.canSplitAfter(number))
    case _ => true
  }

  /** Returns whether the shard has no record between the start position and this time that is not held. */
  private def beginsAt(millis: Long): Boolean = held.headOption.exists(_.firstArrivalMillis >= millis)

  /**
   * Starts a feed at `heldFrom` if there is none, or if everything fetched is before `heldFrom`. The decision is made
   * while the lock is held, so that the last of several concurrent releases cannot move the feed backwards.
   */
  private def feedIfNeeded(): Unit = {
    // The account is called without the lock, because it may resume other shards and acquire their locks.
    val expected = synchronized {
      val isAhead = heldFrom match {
        case AfterSequenceNumber(from) => lastFetched.forall(_ < from)
        case _ => false
      }
      val isNeeded = !stopped && end.isEmpty && failure.isEmpty && (feed == null || (isAhead && feed.from != heldFrom))
      if (isNeeded) {
        closeFeed()
        feed = new Feed(heldFrom)
        feed.publisher = publishers.subscribe(shard, heldFrom, feed)
        Some(lastBatchBytes)
      } else None
    }
    expected.foreach { bytes =>
      account.settle()
      account.ask(bytes)
    }
  }

  /**
   * Moves records to local files if memory is full: what has just arrived, and then older ones, if memory is still full
   * because what it knows of the records in files needs space too. Called by the feed, one call at a time, so that
   * only a release changes the records meanwhile.
   *
   * @param arrived
   *   bytes of the records that have just arrived
   */
  private def spillExcess(arrived: Long): Unit = files.foreach { own =>
    if (spillNewest(own, arrived)) spillNewest(own, 0)
    ()
  }

  /** Moves the newest records in memory to a file, if memory is full. Returns whether there are more of them. */
  private def spillNewest(own: ChunkSpill#ShardSpill, arrived: Long): Boolean = account.bytesToSpill.exists { least =>
    val (later, newest) = synchronized {
      val later = held.reverseIterator.takeWhile(!_.isInstanceOf[ChunkInMemory]).size
      var bytes = 0L
      val run = held.reverseIterator.drop(later).takeWhile { chunk =>
        val isTaken = chunk.isInstanceOf[ChunkInMemory] && bytes < math.max(arrived, least)
        bytes += chunk.retainedBytes
        isTaken
      }.collect { case ChunkInMemory(chunk) => chunk }.toVector.reverse
      (later, run)
    }
    // Small batches are collected, because every write has a cost.
    val written = if (newest.iterator.map(_.retainedBytes).sum >= least) own.write(newest) else None
    written.foreach { blocks =>
      val freed = synchronized(replace(newest, later, blocks))
      if (freed > 0) account.remove(freed)
    }
    written.nonEmpty
  }

  /**
   * Replaces chunks in memory, if they are held, by those in a file that contain the same. Returns the freed bytes.
   *
   * @param later
   *   number of held chunks after them
   */
  private def replace(chunks: Seq[Chunk], later: Int, written: Seq[SpilledChunk]): Long = {
    val first = held.length - later - chunks.length
    val isHeld = !stopped && first >= 0 && chunks.indices.forall(index =>
      held(first + index) match {
        case ChunkInMemory(chunk) => chunk eq chunks(index)
        case _ => false
      }
    )
    if (isHeld) {
      val rest = held.takeRight(later).toVector
      while (held.length > first) held.removeLast()
      held ++= written
      held ++= rest
      chunks.iterator.map(_.retainedBytes).sum - written.iterator.map(_.retainedBytes).sum
    } else {
      written.foreach(_.release())
      0
    }
  }

  private def closeFeed(): Unit = {
    if (feed != null && feed.publisher != null) feed.publisher.cancel()
    feed = null
  }

  private def requestFromFeed(granted: Long): Unit = {
    val (publisher, payload) = synchronized((if (feed == null) null else feed.publisher, granted / retainedPerByte))
    if (publisher == null) account.settle() else publisher.request(math.max(1, payload.toLong))
  }

  final private class Feed(val from: StartingPosition) extends RecordSubscriber {
    var publisher: RecordPublisher = null

    override def onBatch(batch: RecordBatch): Unit = {
      val built = chunks.build(batch.records, batch.millisBehindLatest)
      val retained = built.iterator.map(_.retainedBytes).sum
      ifCurrent {
        held ++= built.map(ChunkInMemory(_))
        batch.records.lastOption.foreach(record => lastFetched = Some(SequenceNumber.trusted(record.sequenceNumber)))
        readUpToMillis = math.max(readUpToMillis, batch.readUpToMillis)
        millisBehindLatest = batch.millisBehindLatest
        lastBatchBytes = retained
        val delivered = PackedRecords.sizeOf(batch.records)
        if (delivered > 0) retainedPerByte = retained.toDouble / delivered
      } { epoch =>
        account.add(retained)
        spillExcess(retained)
        if (built.nonEmpty) listener.onChunks(shard, epoch, built.map(_.summary))
        listener.onReadUpTo(shard, epoch, batch.readUpToMillis, batch.millisBehindLatest, batch.hadRecords)
        account.ask(retained)
      }
    }

    override def onShardEnd(children: Seq[ChildShard]): Unit = ifCurrent {
      end = Some(children)
      millisBehindLatest = 0
    } { epoch =>
      account.settle()
      listener.onShardEnd(shard, epoch, children)
    }

    override def onError(error: ServiceException): Unit = ifCurrent {
      failure = Some(error)
    } { epoch =>
      account.settle()
      listener.onFailure(shard, epoch, error)
    }

    private def ifCurrent(change: => Unit)(thenNotify: Long => Unit): Unit = listenerLock.synchronized {
      val epoch = ShardConsumer.this.synchronized {
        if (feed eq this) {
          change
          Some(currentEpoch)
        } else None
      }
      epoch.foreach(thenNotify)
    }
  }
}
