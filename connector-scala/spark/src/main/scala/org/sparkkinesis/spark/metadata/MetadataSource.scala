package org.sparkkinesis.spark.metadata

import org.apache.hadoop.conf.Configuration

import org.sparkkinesis.config.value.MetadataAddress
import org.sparkkinesis.config.{ConfigEntry, ConnectionOptions, MetadataOptions, NetworkOptions, Options}
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.metadata.{StreamIds, StreamMetadataService}
import org.sparkkinesis.spark.connection.Connection

/** The metadata service and the logical streams that the options name. */
object MetadataSource {

  /** Whether the options name logical streams. */
  def isWanted(options: Options): Boolean = MetadataOptions.nameLogicalStreams(options)

  /**
   * Returns the logical streams that the options name, after checking the options that go with them.
   *
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_MISSING, KINESIS_OPTION_CONFLICT
   */
  def ids(options: Options): StreamIds = {
    val ways = Seq[ConfigEntry[_]](
      MetadataOptions.streamId,
      MetadataOptions.streamIdPattern,
      ConnectionOptions.streamName,
      ConnectionOptions.streamARN,
      ConnectionOptions.streamPattern
    ).filter(options.isSet)
    if (ways.size > 1) throw OptionErrors.conflict(
      options = ways.map(entry => s"'${entry.key}'").mkString(" and "),
      reason = "Each of them selects the streams.",
      fix = "Keep one of them."
    )
    if (!options.isSet(MetadataOptions.metadataService)) throw OptionErrors.missing(
      required = "'metadataService'",
      reason = s"'${ways.headOption.fold("streamId")(_.key)}' names logical streams, whose physical streams a " +
        "metadata service tells.",
      fix = "Set 'metadataService', for example to 'file:s3a://bucket/streams.json'."
    )
    options.get(MetadataOptions.streamId).map(ids => StreamIds.Named(ids.toSet))
      .orElse(options.get(MetadataOptions.streamIdPattern).map(StreamIds.Matching(_)))
      .getOrElse(throw OptionErrors.missing(
        required = "one of 'streamId', 'streamIdPattern'",
        reason = "No option names a logical stream.",
        fix = "Set 'streamId' to the id of the logical stream."
      ))
  }

  /** Names the streams or logical streams of the options, for messages. */
  def names(options: Options): Seq[String] =
    if (isWanted(options)) Seq(ids(options).toString)
    else Connection.streams(options).map(_.toString) ++
      options.get(ConnectionOptions.streamPattern).map(_.pattern)

  /**
   * Opens the service of the options. The caller closes it.
   *
   * @param conf
   *   configuration of the file systems
   */
  def open(options: Options, conf: => Configuration, events: EventSink): StreamMetadataService =
    options(MetadataOptions.metadataService) match {
      case MetadataAddress.File(path) => new FileMetadataService(path, conf, events)
      case MetadataAddress.Http(uri) =>
        new HttpMetadataService(uri, options.get(MetadataOptions.metadataToken), NetworkOptions.of(options))
      case MetadataAddress.OfClass(name) => new ClassMetadataService(name)
    }
}
