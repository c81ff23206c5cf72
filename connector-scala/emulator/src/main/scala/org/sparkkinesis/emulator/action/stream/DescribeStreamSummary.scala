package org.sparkkinesis.emulator.action.stream

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}

/** DescribeStreamSummary returns the settings and counts of a stream, without its shards. */
object DescribeStreamSummary extends Action {
  val name = "DescribeStreamSummary"

  override def run(call: Call): Answer = {
    val stream = call.stream(new Validator(call.fields))
    Answer.body { reply =>
      reply.obj {
        reply.obj("StreamDescriptionSummary") {
          val settings = stream.settings
          StreamRules.writeBasics(reply, stream)
          reply.field("OpenShardCount", stream.shards.openCount.toLong)
          reply.field("ConsumerCount", stream.consumers.size.toLong)
          settings.warmThroughputMiBps.foreach { mibps =>
            reply.obj("WarmThroughput") {
              reply.field("TargetMiBps", mibps.toLong)
              reply.field("CurrentMiBps", mibps.toLong)
            }
          }
          reply.field("MaxRecordSizeInKiB", settings.maxRecordKiB.toLong)
        }
      }
    }
  }
}
