package org.sparkkinesis.emulator.action.stream

import org.sparkkinesis.emulator.document.{Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.Namespace
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.shard.ShardLog
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.model.hash.HashKeyRange

/** Rules and answers that several operations on streams share. */
private[action] object StreamRules {

  /** Returns whether StreamModeDetails asks for on-demand mode; empty if the member is missing. */
  def onDemand(fields: Fields): Option[Boolean] = fields.structure("StreamModeDetails").map { details =>
    details.string("StreamMode") match {
      case Some("ON_DEMAND") => true
      case Some("PROVISIONED") => false
      case other =>
        val shown = other.fold("null")(value => s"'$value'")
        throw ServiceError.validation(
          s"1 validation error detected: Value $shown at 'streamModeDetails.streamMode' failed to satisfy " +
            "constraint: Member must satisfy enum value set: [PROVISIONED, ON_DEMAND]"
        )
    }
  }

  def checkShardLimit(namespace: Namespace, more: Int): Unit =
    namespace.engine.policy.limit(Quota.Shards, KinesisQuotas.Count.ShardsPerAccount).foreach { limit =>
      val wanted = namespace.openShards + more
      if (wanted > limit)
        throw ServiceError.limitExceeded(
          s"This request would exceed the shard limit for the account ${namespace.account} in ${namespace.region}. " +
            s"Current shard count for the account: ${wanted - more}. Limit: ${limit.toInt}. " +
            s"Number of additional shards that would have resulted from this request: $more."
        )
    }

  def writeShard(reply: ReplyWriter)(shard: ShardLog): Unit = reply.obj {
    reply.field("ShardId", shard.id.value)
    val described = shard.toShard
    described.parent.foreach(p => reply.field("ParentShardId", p.value))
    described.adjacentParent.foreach(p => reply.field("AdjacentParentShardId", p.value))
    writeRange(reply, shard.range)
    reply.obj("SequenceNumberRange") {
      reply.field("StartingSequenceNumber", shard.startingSequenceNumber)
      shard.closing.foreach(c => reply.field("EndingSequenceNumber", c.endingSequenceNumber))
    }
  }

  def writeRange(reply: ReplyWriter, range: HashKeyRange): Unit = reply.obj("HashKeyRange") {
    reply.field("StartingHashKey", range.start.toString)
    reply.field("EndingHashKey", range.end.toString)
  }

  /** Writes the members that DescribeStream and DescribeStreamSummary share. */
  def writeBasics(reply: ReplyWriter, stream: DataStream): Unit = {
    val settings = stream.settings
    reply.field("StreamName", stream.name)
    reply.field("StreamARN", stream.arn)
    reply.field("StreamStatus", stream.status.name)
    reply.obj("StreamModeDetails")(reply.field("StreamMode", settings.modeName))
    reply.field("RetentionPeriodHours", settings.retentionHours.toLong)
    reply.timestamp("StreamCreationTimestamp", stream.createdMillis)
    reply.array("EnhancedMonitoring", Seq(settings.shardMetrics)) { metrics =>
      reply.obj(reply.strings("ShardLevelMetrics", metrics.toSeq.sorted))
    }
    reply.field("EncryptionType", settings.encryptionKey.fold("NONE")(_ => "KMS"))
    settings.encryptionKey.foreach(reply.field("KeyId", _))
  }
}
