package org.sparkkinesis.spark.write.route

import java.util.concurrent.CompletableFuture

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.config.{MetadataOptions, Options}
import org.sparkkinesis.event.{EventSink, MetadataChanged, RoutesStartFromCache}
import org.sparkkinesis.metadata._
import org.sparkkinesis.sink.route.{RouteHistory, Routes}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.metadata.MetadataWatcher

/**
 * The metadata of one write on the driver. It asks the metadata service in the background and gives each micro-batch
 * one version. A version is in the cache before a micro-batch uses it. Thread-safe.
 *
 * It stops asking when it is closed, and when no micro-batch was planned for a while; the next micro-batch starts it
 * again.
 *
 * @param open
 *   opens the metadata service
 * @param cache
 *   outlives the query; without it, a restart needs the service
 */
final class RouteBook(
    options: Options,
    ids: StreamIds,
    open: () => StreamMetadataService,
    cache: Option[RouteCache],
    environment: Environment,
    events: EventSink
) extends AutoCloseable {
  import RouteBook._
  import environment.clock

  private val allowed = AllowList.of(options)
  private val idleAfter = (options(MetadataOptions.metadataRefreshInterval) * 5).max(ShortestIdle)
  private var history = cache.fold(RouteHistory.empty)(_.read(events))
  private var watcher = Option.empty[MetadataWatcher]
  private var answered = new CompletableFuture[Unit]

  /** The last valid answer of this run that names streams. An empty document does not take the streams away. */
  @volatile private var newest = Told(0, None)
  private var isFirst = true
  private var lastEpoch = Option.empty[Long]
  @volatile private var usedNanos = clock.nanoTime
  @volatile private var shown = Map.empty[String, Long]

  /**
   * Returns the metadata that a write uses from its beginning to its end.
   *
   * @param epoch
   *   the micro-batch; empty for a batch write
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_UNAVAILABLE if there was never a valid answer, KINESIS_METADATA_FORBIDDEN,
   *   KINESIS_CHECKPOINT_UNWRITABLE
   */
  def pin(epoch: Option[Long]): MetadataDocument = synchronized {
    usedNanos = clock.nanoTime
    val own = known
    val isNew = watcher.isEmpty
    val watching = watcher.getOrElse(start(own))
    own match {
      case None => watching.awaitFirst()
      case Some(_) if isNew => greet(watching)
      case Some(_) => ()
    }
    watching.check()
    val present = newest.document.orElse(own).getOrElse(watching.awaitFirst())
    val chosen = epoch.flatMap(again(_, present)).getOrElse(present)
    isFirst = false
    lastEpoch = epoch
    use(epoch.getOrElse(0), chosen)
    note(watching, chosen)
    chosen
  }

  /** The number of a document that the service has given to this run: greater for a later one, and 0 for others. */
  def revisionOf(document: MetadataDocument): Long = {
    val present = newest
    if (present.document.contains(document)) present.revision else 0
  }

  /**
   * Returns the newest document with its revision for tasks of the running write that have a stream in trouble, and
   * lets the watcher ask the service soon. From then on, it is the document of the micro-batch, also if the micro-batch
   * runs again. Returns nothing if the tasks know it already, or if it has no active stream for a logical stream that
   * they write.
   *
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_UNWRITABLE
   */
  def newer(epoch: Option[Long], revision: Long): Option[(Long, MetadataDocument)] = synchronized {
    usedNanos = clock.nanoTime
    val watching = watcher.getOrElse(start(known))
    watching.hurry()
    val present = newest
    present.document.filter(_ => present.revision > revision && lastEpoch == epoch && !isFirst)
      .filter(goesOn(_, epoch)).map { document =>
        use(epoch.getOrElse(0), document)
        note(watching, document)
        present.revision -> document
      }
  }

  /** Whether each logical stream that the micro-batch can write has an active stream. */
  private def goesOn(document: MetadataDocument, epoch: Option[Long]): Boolean = {
    val routes = Routes.of(document)
    history.at(epoch.getOrElse(0)).forall { entry =>
      Routes.of(entry.document).byId.forall { case (id, before) => before.isEmpty || routes.of(id).nonEmpty }
    }
  }

  private def known: Option[MetadataDocument] = newest.document.orElse(permitted(history.newest))

  /** Metrics by name, for the progress of the query. */
  def metrics: Map[String, Long] = shown

  override def close(): Unit = synchronized {
    watcher.foreach(_.close())
    watcher = None
  }

  /**
   * Returns the version that an earlier attempt of this micro-batch used, also one before a restart, unless one of its
   * streams takes no records any more, or there are new logical streams.
   */
  private def again(epoch: Long, present: MetadataDocument): Option[MetadataDocument] =
    if (isFirst || lastEpoch.contains(epoch))
      permitted(history.at(epoch)).filter(isUsable(_, present))
    else None

  private def isUsable(document: MetadataDocument, latest: MetadataDocument): Boolean = {
    val (before, present) = (Routes.of(document).byId, Routes.of(latest))
    // A row may be for a logical stream that the service did not know.
    present.byId.forall { case (id, streams) => streams.isEmpty || before.contains(id) } &&
    before.forall { case (id, streams) =>
      val active = present.of(id).map(_.arn).toSet
      if (streams.isEmpty) active.isEmpty else streams.forall(stream => active(stream.arn))
    }
  }

  private def permitted(entry: Option[RouteHistory.Entry]): Option[MetadataDocument] =
    entry.map(one => allowed.permit(None, one.document.select(ids))._1).filter(_.physical.nonEmpty)
      .filter(ids.missing(_).isEmpty)

  private def use(epoch: Long, document: MetadataDocument): Unit = {
    val next = history.used(epoch, document, clock.currentMillis)
    if (next ne history) {
      cache.foreach(_.write(next))
      val before = history.newest.fold(MetadataDocument(0, SortedMap.empty))(_.document)
      history = next
      events.emit(MetadataChanged(document.version, MetadataDiff.between(before, document).toString))
    }
  }

  private def start(known: Option[MetadataDocument]): MetadataWatcher = {
    val first = new CompletableFuture[Unit]
    answered = first
    val opened = new MetadataWatcher(open(), ids, options, environment, events, known)({ document =>
      if (document.physical.nonEmpty && !newest.document.contains(document))
        newest = Told(newest.revision + 1, Some(document))
      first.complete(())
      ()
    })
    opened.start()
    watcher = Some(opened)
    closeWhenIdle(opened)
    opened
  }

  /** Waits shortly for the service at the start from the cache, because its answer may be newer than the cache. */
  private def greet(watching: MetadataWatcher): Unit = {
    val isSilent = !environment.waiting.until(answered, FirstPatience)
    if (isSilent && newest.document.isEmpty) history.newest.foreach { entry =>
      val ageMillis = clock.currentMillis - entry.fetchedMillis
      events.emit(RoutesStartFromCache(entry.document.version, ageMillis, watching.status.failures))
    }
  }

  private def closeWhenIdle(watching: MetadataWatcher): Unit = {
    environment.sharedScheduler.schedule(idleAfter) {
      val isIdle = clock.nanoTime - usedNanos >= idleAfter.toNanos
      synchronized {
        if (watcher.contains(watching)) if (isIdle) close() else closeWhenIdle(watching)
      }
    }
    ()
  }

  private def note(watching: MetadataWatcher, document: MetadataDocument): Unit = {
    val status = watching.status
    def count(state: StreamState) = document.physical.values.count(_.state == state).toLong
    val ageMillis = status.ageMillis.orElse(history.newest.map(clock.currentMillis - _.fetchedMillis))
    shown = Map(
      "metadataVersion" -> document.version,
      "metadataAgeMs" -> ageMillis.getOrElse(0L),
      "metadataFetches" -> status.fetches,
      "metadataFailures" -> status.failures,
      "metadataRefused" -> status.refused,
      "streamsActive" -> count(StreamState.Active),
      "streamsDraining" -> count(StreamState.Draining),
      "streamsStandby" -> count(StreamState.Standby)
    )
  }
}

object RouteBook {

  /** Time for which the first micro-batch of a restart waits for the service before it uses the cache. */
  private val FirstPatience = 2.seconds
  private val ShortestIdle = 1.minute

  /**
   * The last valid answer of this run that names streams.
   *
   * @param revision
   *   increases with each change
   */
  final private case class Told(revision: Long, document: Option[MetadataDocument])
}
