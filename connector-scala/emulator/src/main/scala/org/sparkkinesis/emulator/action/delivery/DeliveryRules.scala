package org.sparkkinesis.emulator.action.delivery

import scala.util.matching.Regex

import org.sparkkinesis.emulator.action.call.{Call, Validator}
import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.engine.delivery.{DeliveryStream, S3Destination}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.FirehoseQuotas
import org.sparkkinesis.model.FirehoseQuotas.Buffering

/** Rules that the operations of Amazon Data Firehose share. */
private[delivery] object DeliveryRules {
  val Name: Regex = "[a-zA-Z0-9_.-]+".r
  private val RoleArn = """arn:.*""".r
  private val BucketArn = """arn:aws[^:]*:s3:::([\w\.\-]{1,255})""".r

  /** The members that configure a destination, and whether the emulator delivers to it. */
  private val destinations = Seq(
    "ExtendedS3DestinationConfiguration" -> true,
    "S3DestinationConfiguration" -> true,
    "RedshiftDestinationConfiguration" -> false,
    "ElasticsearchDestinationConfiguration" -> false,
    "AmazonopensearchserviceDestinationConfiguration" -> false,
    "AmazonOpenSearchServerlessDestinationConfiguration" -> false,
    "SplunkDestinationConfiguration" -> false,
    "HttpEndpointDestinationConfiguration" -> false,
    "SnowflakeDestinationConfiguration" -> false,
    "IcebergDestinationConfiguration" -> false
  )

  /** Reads the name, and notes it for the call counters. */
  def name(call: Call, validator: Validator): Option[String] = {
    val name =
      validator.requiredString("DeliveryStreamName", Name, FirehoseQuotas.DeliveryStreamNameMaxChars)
    name.foreach(call.streamName = _)
    name
  }

  /** Returns the delivery stream of a control-plane call, and counts the call against the rate of its operation. */
  def stream(call: Call, validator: Validator): DeliveryStream = {
    val named = name(call, validator)
    validator.check()
    call.admit()
    call.namespace.deliveryStreams.stream(named.get)
  }

  /**
   * Reads the one destination of a new delivery stream.
   *
   * @throws ServiceError
   *   InvalidArgumentException if there is none or several, or if the emulator does not deliver to it
   */
  def destination(fields: Fields): S3Destination =
    destinations.filter { case (member, _) => fields.has(member) } match {
      case Seq((member, true)) => s3(fields.structure(member).get, member.startsWith("Extended"))
      case Seq((member, false)) =>
        throw ServiceError.invalidArgument(s"The emulator delivers to Amazon S3 only, not to $member.")
      case _ => throw ServiceError.invalidArgument("Exactly one destination configuration is supported for a Firehose")
    }

  private def s3(fields: Fields, isExtended: Boolean): S3Destination = {
    val validator = new Validator(fields)
    val bucketArn = validator.requiredString("BucketARN", BucketArn, 2048)
    val role = validator.requiredString("RoleARN", RoleArn, 512)
    val prefix = validator.string("Prefix", maxLength = 1024)
    validator.check()
    val (size, seconds) = fields.structure("BufferingHints").fold((Option.empty[Int], Option.empty[Int])) { hints =>
      val buffering = new Validator(hints)
      val read = (
        buffering.int("SizeInMBs", Buffering.SizeInMBs.start, Buffering.SizeInMBs.end),
        buffering.int("IntervalInSeconds", Buffering.IntervalInSeconds.start, Buffering.IntervalInSeconds.end)
      )
      buffering.check()
      read
    }
    S3Destination(
      bucketArn.collect { case BucketArn(bucket) => bucket }.get,
      role.get,
      prefix.getOrElse(""),
      isExtended,
      size.getOrElse(Buffering.DefaultSizeInMBs),
      seconds.getOrElse(Buffering.DefaultIntervalInSeconds)
    )
  }
}
