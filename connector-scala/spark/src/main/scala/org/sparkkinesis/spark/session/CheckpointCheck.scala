package org.sparkkinesis.spark.session

import scala.concurrent.duration._

import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.event.Loss
import org.sparkkinesis.model.{Shard, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{LostLineage, RecreatedStream, SourceOffset, StreamOffset}
import org.sparkkinesis.service.StreamDescription
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.connection.Environment

/**
 * Compares the offsets of a checkpoint with the streams as they are now, so that lost data is detected.
 *
 * With `failOnDataLoss`, lost data ends the query. Otherwise an event reports it, and the query continues with the
 * oldest remaining record. For one query's thread.
 */
final class CheckpointCheck(session: StreamSession, environment: Environment) {
  import CheckpointCheck._

  /** The shards of recreated streams. */
  private var remade = Map.empty[String, Seq[Shard]]

  /** The shards of recreated streams that were read, or whose children were, before that was known. */
  private var readEarly = Map.empty[String, Set[ShardId]]

  /** The shards of each stream from the listing that checked its lineage. */
  private var listings = Map.empty[String, Seq[Shard]]
  private var linked = Option.empty[(SourceOffset, SourceOffset)]

  /** The positions of streams that lost a lineage while the query was running, and what [[relink]] made of them. */
  private var relinked = Map.empty[String, (StreamOffset, StreamOffset)]

  /**
   * Returns the offset with each recreated stream set to its oldest record, except for shards of the new stream that
   * the query has read already. At least one stream must still be read.
   *
   * @param wasDrained
   *   whether every record of the old stream was read, so that none is lost
   *
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_OTHER_STREAM, KINESIS_STREAM_RECREATED
   */
  def mend(offset: SourceOffset, wasDrained: String => Boolean = _ => false): SourceOffset = {
    if (!session.isDynamic && !offset.streams.keysIterator.exists(session.isOpen))
      throw ReadErrors.checkpointOfOtherStream(
        checkpointStream = offset.streams.keys.mkString(", "),
        stream = session.streams.keys.mkString(", "),
        reason =
          "The query reads no stream of the checkpoint any more. Positions in one stream mean nothing in another."
      )
    val changed = offset.read.filter(stream =>
      session.streams.get(stream.arn).exists(_.creationMillis != stream.creationMillis)
    ).toSeq
    if (changed.isEmpty) offset
    else offset.copy(streams =
      offset.streams ++ changed.map(stream => stream.arn -> recreated(stream, wasDrained(stream.arn)))
    )
  }

  /** The lineage of the streams whose shards [[link]] has listed. */
  def graphs: String => ShardGraph =
    listings.view.mapValues(ShardGraph.of).toMap.withDefaultValue(ShardGraph.Empty)

  /**
   * Returns the offset with expired shards, whose children have expired as well, replaced by the remaining shards
   * that no listing connects to them. The records in between are lost.
   *
   * @param isChosen
   *   whether this run chose its initial offset, so that nothing had expired before it
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def link(offset: SourceOffset, isChosen: Boolean = false): SourceOffset =
    linked.filter(_._1 == offset).map(_._2).getOrElse {
      if (isChosen) offset
      else {
        val whole = offset.copy(streams = offset.streams.map { case (arn, stream) =>
          arn -> (if (stream.isParked || !session.isOpen(arn)) stream else link(stream))
        })
        linked = Some(offset -> whole)
        whole
      }
    }

  /**
   * Returns `now` with the remaining shards of lineages that were lost while the query was running, and reports them.
   *
   * @param offset
   *   the offset for which [[link]] returns the result from now on
   * @param lost
   *   positions of streams after `now` with the lineages that they have lost
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def relink(offset: SourceOffset, now: SourceOffset, lost: Seq[(StreamOffset, LostLineage)]): SourceOffset = {
    val mended = lost.map { case (stream, lineage) =>
      report(stream, lineage)
      stream.arn -> withoutLost(stream, lineage)
    }
    val whole = now.copy(streams = now.streams ++ mended)
    linked = Some(offset -> whole)
    relinked ++= mended.map { case (arn, stream) => arn -> (offset.streams.getOrElse(arn, stream) -> stream) }
    whole
  }

  /** Prepares for a stream that was parked and is read again: it is described now, and is listed when it is linked. */
  def refresh(arn: String): Unit = {
    refresh(arn, session.describe(arn))
    // Shards may have expired while the stream was parked.
    session.shards.forget(arn)
  }

  /** Prepares for a stream that has this description now, because it returned or was recreated. */
  def refresh(arn: String, now: StreamDescription): Unit = {
    session.refresh(arn, now)
    linked = None
    relinked -= arn
    listings -= arn
    remade -= arn
    readEarly -= arn
  }

  /** Returns the offset of one stream with what is left of expired lineages, which are reported. Lists it once. */
  def link(stream: StreamOffset): StreamOffset =
    if (listings.contains(stream.arn)) relinked.get(stream.arn).filter(_._1 == stream).fold(stream)(_._2)
    else
      lostLineage(stream).fold(stream) { lineage =>
        if (lineage.isLoss) report(stream, lineage)
        withoutLost(stream, lineage)
      }

  /** Returns the offset with what is left. The report covers the records that expire until it is fetched soon. */
  private def withoutLost(stream: StreamOffset, lineage: LostLineage): StreamOffset =
    lineage.mend(stream, session.oldestMillis(stream.arn) + FirstAnswers.toMillis)

  private def report(stream: StreamOffset, lineage: LostLineage): Unit = {
    val gone = lineage.gone.toSeq.sorted
    val left = lineage.left.toSeq.sorted
    (if (gone.isEmpty) left else gone).foreach(shard =>
      session.losses.report(Loss.LineageLost(StreamShard(stream.arn, shard), nameOf(stream.arn), left))
    )
  }

  /**
   * Lists the stream several times before it reports a lost lineage, because a listing may lack a shard for a while.
   */
  private def lostLineage(stream: StreamOffset): Option[LostLineage] = {
    @scala.annotation.tailrec
    def look(times: Int, before: Seq[Shard]): Option[LostLineage] = {
      val all = (session.shards.all(stream.arn) ++ before).distinctBy(_.id)
      listings += stream.arn -> all
      val lost = LostLineage.of(stream, all)
      def isOld = lost.exists(lineage => missing(lineage, all).exists(session.hasShard(stream.arn, _)))
      if (lost.isEmpty || (times >= ShardGraph.Omissions && !isOld)) lost
      // A shard of the offset exists, so the listings are incomplete, however long they lack it.
      else if (times >= StreamShards.LongestListings) None
      else {
        environment.waiting.sleep(StreamShards.ListingPause)
        look(times + 1, all)
      }
    }
    look(1, Nil)
  }

  /** Returns unlisted shards: those of the offset, and the parents of what is left. If one exists, nothing is lost. */
  private def missing(lineage: LostLineage, listed: Seq[Shard]): Set[ShardId] = {
    val parents = listed.iterator.filter(shard => lineage.left(shard.id)).flatMap(_.parents).toSet
    lineage.gone ++ (parents -- listed.iterator.map(_.id))
  }

  /** Carries an offset over to the stream that replaced its stream; reports that once for each stream. */
  private def recreated(stream: StreamOffset, wasDrained: Boolean): StreamOffset = {
    val now: StreamDescription = session.streams(stream.arn)
    val listed = remade.getOrElse(
      stream.arn, {
        val replaced = Loss.StreamReplaced(stream.arn, stream.name, stream.creationMillis, now.creationMillis)
        if (wasDrained) session.events.emit(replaced.event(endsQuery = false)) else session.losses.report(replaced)
        session.shards.withParents(stream.arn)
      }
    )
    remade += stream.arn -> listed
    val carried = RecreatedStream.of(stream, now.name, now.creationMillis, listed)
    val before = readEarly.getOrElse(stream.arn, Set.empty)
    readEarly += stream.arn -> (before ++ carried.reached ++ carried.passed)
    reportRead(stream.arn, carried.reached -- before, carried.passed -- before)
    carried.offset
  }

  /**
   * Reports what may be missing of a stream that was read before it was known that it had been recreated.
   *
   * @param reached
   *   shards that were read
   * @param passed
   *   shards whose children were read
   */
  private def reportRead(arn: String, reached: Set[ShardId], passed: Set[ShardId]): Unit = {
    def report(shards: Set[ShardId], loss: (StreamShard, String) => Loss): Unit =
      shards.toSeq.sorted.foreach(shard => session.losses.report(loss(StreamShard(arn, shard), nameOf(arn))))
    report(passed, Loss.ParentPassed(_, _))
    if (session.options(ReadOptions.deaggregationHashRangeFilter)) report(reached ++ passed, Loss.WronglyFiltered(_, _))
  }

  private def nameOf(arn: String): String = session.streams(arn).name
}

private object CheckpointCheck {

  /** Time in which the shards that are left of a lost lineage are usually fetched for the first time. */
  val FirstAnswers: FiniteDuration = 1.minute
}
