package org.sparkkinesis.emulator.wire

import org.sparkkinesis.emulator.action.call.Tokens
import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.engine.Namespace
import org.sparkkinesis.emulator.fault.FaultTarget
import org.sparkkinesis.model.ShardId

/** Finds stream and shard of a request in its members alone, without looking up any state. */
private[wire] object RequestTarget {
  private val StreamOfArn = """arn:aws[^:]*:kinesis:([^:]*):(\d*):stream/([a-zA-Z0-9_.-]+).*""".r

  /**
   * @param caller
   *   the streams of the caller, whose account and region apply if the request contains no ARN
   */
  def of(operation: String, fields: Fields, caller: Namespace): FaultTarget = {
    val iterator = text(fields, "ShardIterator").flatMap(Tokens.iterator)
    val named = Seq("StreamARN", "ConsumerARN", "ResourceARN").flatMap(text(fields, _)).collectFirst {
      case StreamOfArn(region, account, name) => (region, account, name)
    }
    val (region, account) = named.fold((caller.region, caller.account)) { case (region, account, _) =>
      (region, account)
    }
    val stream = text(fields, "StreamName")
      .orElse(named.map(_._3))
      .orElse(iterator.map(_.stream))
      .orElse(text(fields, "DeliveryStreamName"))
    val shard = Seq("ShardId", "ShardToSplit", "ShardToMerge").flatMap(text(fields, _)).headOption
      .orElse(iterator.map(i => ShardId.ofIndex(i.shardIndex).value))
    FaultTarget(operation, stream.getOrElse(""), shard.getOrElse(""), account, region)
  }

  private def text(fields: Fields, name: String): Option[String] = fields.get(name) match {
    case value: String => Some(value)
    case _ => None
  }
}
