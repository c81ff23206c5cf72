package org.sparkkinesis.spark.write.route

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.HexFormat

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.sparkkinesis.config.{ConfigEntry, ConnectionOptions, MetadataOptions, Options, WriteOptions}
import org.sparkkinesis.event.{EventSink, RouteCacheIgnored}
import org.sparkkinesis.sink.route.RouteHistory
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, HadoopCheckpointFiles}

/** A file with the history of the routes, from which a write starts while the metadata service is unavailable. */
final class RouteCache(files: CheckpointFiles, val name: String) {

  /** Returns the history; empty if there is none. A damaged file is ignored with a warning. */
  def read(events: EventSink): RouteHistory = files.read(name).fold(RouteHistory.empty) { text =>
    RouteHistory.parse(text).fold(
      reason => {
        events.emit(RouteCacheIgnored(name, reason))
        RouteHistory.empty
      },
      identity
    )
  }

  /**
   * Replaces the history. After a crash at any point, the old or the new one is there completely.
   *
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_UNWRITABLE
   */
  def write(history: RouteHistory): Unit = files.write(name, history.text)
}

object RouteCache {
  private val Folder = "kinesis-sink"

  /**
   * Returns the cache of a write: in `metadataCache`, otherwise in the checkpoint of its query.
   *
   * @param writeOptions
   *   the options that Spark gave to the write, by lower-case name
   * @param conf
   *   reads a setting of the session
   * @param checkpoint
   *   the checkpoint of the query in whose `foreachBatch` the write is
   */
  def of(
      options: Options,
      writeOptions: String => Option[String],
      conf: String => Option[String],
      isStreaming: Boolean,
      checkpoint: Option[String],
      hadoop: => Configuration
  ): Option[RouteCache] = location(options, writeOptions, conf, isStreaming, checkpoint).map { place =>
    new RouteCache(new HadoopCheckpointFiles(new Path(place, Folder).toString, hadoop), nameOf(options))
  }

  private def location(
      options: Options,
      writeOptions: String => Option[String],
      conf: String => Option[String],
      isStreaming: Boolean,
      checkpoint: Option[String]
  ): Option[String] = options.get(WriteOptions.metadataCache).orElse {
    def ofConf = for {
      root <- conf("spark.sql.streaming.checkpointLocation")
      query <- writeOptions("queryname")
    } yield new Path(root, query).toString
    if (isStreaming) checkpoint.orElse(writeOptions("checkpointlocation")).orElse(ofConf) else None
  }

  /** Several sinks of one checkpoint, as in `foreachBatch`, have different names. */
  private def nameOf(options: Options): String = {
    def text[T](entry: ConfigEntry[T]): String = options.get(entry).fold("not set")(entry.kind.render)
    val what =
      Seq[ConfigEntry[_]](MetadataOptions.metadataService, MetadataOptions.streamId, ConnectionOptions.endpoint)
        .map(text(_)).mkString("\n")
    s"routes-${HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(what.getBytes(UTF_8)), 0, 8)}"
  }
}
