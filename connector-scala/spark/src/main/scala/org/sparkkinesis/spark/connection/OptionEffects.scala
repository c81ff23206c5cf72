package org.sparkkinesis.spark.connection

import org.sparkkinesis.config.StreamSelection._
import org.sparkkinesis.config._
import org.sparkkinesis.event.{EventSink, OptionWithoutEffect}

/** Finds the options of a read or write that have no effect. */
object OptionEffects {

  /**
   * Returns one text for each such option of a read.
   *
   * @param query
   *   type of the query; empty while Spark has not told it
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_WITHOUT_EFFECT for an option that is certainly a mistake
   */
  def ofRead(options: Options, query: Option[QueryType]): Seq[String] = {
    val selection =
      if (MetadataOptions.nameLogicalStreams(options)) Logical
      else if (options.isSet(ConnectionOptions.streamPattern)) Pattern
      else if (ConnectionOptions.namedStreams(options).size > 1) Several
      else One
    EffectCheck.warnings(options, Situation(Side.Read, selection, query))
  }

  /** Emits the warnings about the options of a read, when the type of its query is known. */
  def reportRead(options: Options, query: QueryType, events: EventSink): Unit =
    ofRead(options, Some(query)).foreach(text => events.emit(OptionWithoutEffect(text)))

  /**
   * Does the same as [[ofRead]] for a write.
   *
   * @param query
   *   type of the query; empty for a streaming query of any type, and while Spark has not told it
   */
  def ofWrite(options: Options, streams: StreamSelection, query: Option[QueryType] = None): Seq[String] =
    EffectCheck.warnings(options, Situation(Side.Write, streams, query))

  /** Returns how the options of a write select its streams, before its columns are known. */
  def selectionOfWrite(options: Options): StreamSelection =
    if (options.isSet(MetadataOptions.metadataService)) Logical
    else if (ConnectionOptions.namedStreams(options).isEmpty) ByRow
    else One
}
