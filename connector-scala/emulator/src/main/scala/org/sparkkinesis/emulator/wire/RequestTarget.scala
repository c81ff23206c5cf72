package org.sparkkinesis.emulator.wire

import org.sparkkinesis.emulator.action.call.Tokens
import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.fault.FaultTarget
import org.sparkkinesis.model.ShardId

/** Finds stream and shard of a request in its members alone, without looking up any state. */
private[wire] object RequestTarget {
  private val StreamOfArn = """arn:aws[^:]*:kinesis:[^:]*:\d*:stream/([a-zA-Z0-9_.-]+).*""".r

  def of(operation: String, fields: Fields): FaultTarget = {
    val iterator = text(fields, "ShardIterator").flatMap(Tokens.iterator)
    val stream = text(fields, "StreamName")
      .orElse(Seq("StreamARN", "ConsumerARN", "ResourceARN").flatMap(text(fields, _)).collectFirst {
        case StreamOfArn(name) => name
      })
      .orElse(iterator.map(_.stream))
    val shard = Seq("ShardId", "ShardToSplit", "ShardToMerge").flatMap(text(fields, _)).headOption
      .orElse(iterator.map(i => ShardId.ofIndex(i.shardIndex).value))
    FaultTarget(operation, stream.getOrElse(""), shard.getOrElse(""))
  }

  private def text(fields: Fields, name: String): Option[String] = fields.get(name) match {
    case value: String => Some(value)
    case _ => None
  }
}
