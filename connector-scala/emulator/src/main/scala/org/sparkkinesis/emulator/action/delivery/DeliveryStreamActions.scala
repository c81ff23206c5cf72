package org.sparkkinesis.emulator.action.delivery

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.document.ReplyWriter
import org.sparkkinesis.emulator.engine.delivery.{DeliveryStatus, DeliveryStream}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.FirehoseQuotas.Request

/**
 * CreateDeliveryStream creates a delivery stream with Direct PUT to Amazon S3, which is CREATING for the configured
 * delay and then ACTIVE.
 */
object CreateDeliveryStream extends Action {
  val name = "CreateDeliveryStream"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val streamName = DeliveryRules.name(call, validator)
    val source = validator.oneOf(
      "DeliveryStreamType",
      "DirectPut",
      "KinesisStreamAsSource",
      "MSKAsSource",
      "DatabaseAsSource"
    )
    validator.check()
    call.admit()
    if (source.exists(_ != "DirectPut"))
      throw ServiceError.invalidArgument(s"The emulator has no delivery streams of the type ${source.get}.")
    val destination = DeliveryRules.destination(call.fields)
    val stream = call.namespace.deliveryStreams.add(streamName.get, destination, call.now)
    call.engine.timers.afterOrNow(call.engine.delays.create)(() => stream.activate())
    Answer.body(reply => reply.obj(reply.field("DeliveryStreamARN", stream.arn)))
  }
}

/** DeleteDeliveryStream removes a delivery stream. Its files stay. */
object DeleteDeliveryStream extends Action {
  val name = "DeleteDeliveryStream"

  override def run(call: Call): Answer = {
    val stream = DeliveryRules.stream(call, new Validator(call.fields))
    if (stream.status == DeliveryStatus.Creating)
      throw ServiceError.resourceInUse(s"Firehose ${stream.name} is in the CREATING state.")
    stream.delete()
    val streams = call.namespace.deliveryStreams
    call.engine.timers.afterOrNow(call.engine.delays.delete)(() => streams.remove(stream))
    Answer.body(reply => reply.obj(()))
  }
}

/** ListDeliveryStreams lists names in order. The next page starts after a name. */
object ListDeliveryStreams extends Action {
  val name = "ListDeliveryStreams"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val limit = validator.int("Limit", 1, Request.ListDeliveryStreamsMax)
    val after = validator.string("ExclusiveStartDeliveryStreamName", DeliveryRules.Name, minLength = 1)
    validator.oneOf("DeliveryStreamType", "DirectPut", "KinesisStreamAsSource", "MSKAsSource", "DatabaseAsSource")
    validator.check()
    call.admit()
    val page = limit.getOrElse(Request.ListDeliveryStreamsDefault)
    // All streams of the emulator are of the type DirectPut.
    val isOfType = call.fields.string("DeliveryStreamType").forall(_ == "DirectPut")
    val found =
      if (isOfType) call.namespace.deliveryStreams.namesAfter(after).take(page + 1).toVector else Vector.empty
    Answer.body { reply =>
      reply.obj {
        reply.strings("DeliveryStreamNames", found.take(page))
        reply.field("HasMoreDeliveryStreams", found.size > page)
      }
    }
  }
}

/** DescribeDeliveryStream describes a delivery stream with its destination. */
object DescribeDeliveryStream extends Action {
  val name = "DescribeDeliveryStream"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.int("Limit", 1, Request.ListDeliveryStreamsMax)
    validator.string("ExclusiveStartDestinationId", DeliveryRules.Name, maxLength = 100, minLength = 1)
    val stream = DeliveryRules.stream(call, validator)
    Answer.body { reply =>
      reply.obj {
        reply.obj("DeliveryStreamDescription") {
          reply.field("DeliveryStreamName", stream.name)
          reply.field("DeliveryStreamARN", stream.arn)
          reply.field("DeliveryStreamStatus", stream.status.name)
          reply.obj("DeliveryStreamEncryptionConfiguration")(reply.field("Status", "DISABLED"))
          reply.field("DeliveryStreamType", "DirectPut")
          reply.field("VersionId", "1")
          reply.timestamp("CreateTimestamp", stream.createdMillis)
          reply.array("Destinations", Seq(stream))(destination(reply, _))
          reply.field("HasMoreDestinations", false)
        }
      }
    }
  }

  private def destination(reply: ReplyWriter, stream: DeliveryStream): Unit = reply.obj {
    reply.field("DestinationId", "destinationId-000000000001")
    val names =
      if (stream.destination.isExtended) Seq("S3DestinationDescription", "ExtendedS3DestinationDescription")
      else Seq("S3DestinationDescription")
    names.foreach { member =>
      reply.obj(member) {
        reply.field("RoleARN", stream.destination.roleArn)
        reply.field("BucketARN", stream.destination.bucketArn)
        reply.field("Prefix", stream.destination.prefix)
        reply.obj("BufferingHints") {
          reply.field("SizeInMBs", stream.destination.bufferMBs.toLong)
          reply.field("IntervalInSeconds", stream.destination.bufferSeconds.toLong)
        }
        reply.field("CompressionFormat", "UNCOMPRESSED")
        reply.obj("EncryptionConfiguration")(reply.field("NoEncryptionConfig", "NoEncryption"))
      }
    }
  }
}
