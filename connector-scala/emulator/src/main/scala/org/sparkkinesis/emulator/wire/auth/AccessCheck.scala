package org.sparkkinesis.emulator.wire.auth

import org.sparkkinesis.emulator.access.{AccessDecision, AccessRequest, PolicyDocument}
import org.sparkkinesis.emulator.action.call.Tokens
import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.engine.Namespace
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.emulator.wire.http.Exchange
import org.sparkkinesis.model.StreamRef

/**
 * Refuses calls that the policies of their caller or of their stream do not allow, and calls for encrypted streams
 * whose key the caller may not use.
 */
final class AccessCheck(gatekeeper: Gatekeeper) {
  import AccessCheck._

  /**
   * Checks one call.
   *
   * @param service
   *   name of the service in IAM actions
   * @throws ServiceError
   *   AccessDeniedException or KMSAccessDeniedException with the text of AWS
   */
  def check(exchange: Exchange, service: String, operation: String, fields: Fields, namespace: Namespace): Unit = {
    val target = Target.of(service, operation, fields, namespace)
    val policy = target.stream.flatMap(_.settings.policy)
    if (!gatekeeper.policies.isEmpty || policy.isDefined) {
      val caller = gatekeeper.caller(exchange)
      def refusal(action: String, resource: String, of: Option[PolicyDocument], more: Map[String, String]) = {
        val context = more ++ Map(
          "aws:requestedregion" -> target.region,
          "aws:principalarn" -> caller.principal.role.getOrElse(caller.principal.arn),
          "aws:principalaccount" -> caller.principal.account,
          "aws:sourceip" -> "127.0.0.1"
        )
        AccessDecision.refusal(
          caller.principal,
          AccessRequest(action, resource, context),
          caller.policies,
          of,
          if (of.isDefined || service == "kinesis") target.account else caller.principal.account
        )
      }
      refusal(s"$service:$operation", target.resource, policy.map(PolicyDocument.parse), Map.empty)
        .foreach(why => throw ServiceError("AccessDeniedException", why))
      for {
        stream <- target.stream
        key <- stream.settings.encryptionKey if key != OwnKey && caller.policies.isDefined
        action <- KeyActions.get(operation)
        why <-
          refusal(action, keyArn(key, stream), None, Map("kms:viaservice" -> s"kinesis.${stream.region}.amazonaws.com"))
      } throw ServiceError("KMSAccessDeniedException", why)
    }
  }
}

private object AccessCheck {

  /** Its policy, which AWS manages, allows its use by the service. */
  val OwnKey = "alias/aws/kinesis"

  val KeyActions: Map[String, String] = Map(
    "PutRecord" -> "kms:GenerateDataKey",
    "PutRecords" -> "kms:GenerateDataKey",
    "GetRecords" -> "kms:Decrypt",
    "SubscribeToShard" -> "kms:Decrypt"
  )

  def keyArn(key: String, stream: DataStream): String =
    if (key.startsWith("arn:")) key
    else s"arn:aws:kms:${stream.region}:${stream.account}:${if (key.startsWith("alias/")) key else s"key/$key"}"

  /** What a call acts on, as IAM names it, or `*`. */
  final case class Target(resource: String, account: String, region: String, stream: Option[DataStream])

  object Target {
    private val ConsumerOperations = Set("DescribeStreamConsumer", "DeregisterStreamConsumer", "SubscribeToShard")

    def of(service: String, operation: String, fields: Fields, caller: Namespace): Target = {
      def text(name: String): Option[String] = fields.get(name) match {
        case value: String => Some(value)
        case _ => None
      }
      if (service == "firehose") {
        val resource = text("DeliveryStreamName")
          .fold("*")(name => s"arn:aws:firehose:${caller.region}:${caller.account}:deliverystream/$name")
        Target(resource, caller.account, caller.region, None)
      } else {
        val consumer = text("ConsumerARN")
        val named = Seq("StreamARN", "ResourceARN").flatMap(text).headOption
          .orElse(consumer)
          .orElse(text("NextToken").flatMap(Tokens.page).flatMap(_.fields.headOption))
          .map(_.split("/consumer/").head)
          .orElse(text("StreamName"))
          .orElse(text("ShardIterator").flatMap(Tokens.iterator).map(_.stream))
        named.flatMap(StreamRef.parse) match {
          case Some(StreamRef.ByArn(arn, region, account, name)) =>
            val stream = caller.engine.namespace(account, region).find(name)
            Target(resourceOf(operation, arn, consumer, text("ConsumerName"), stream), account, region, stream)
          case Some(StreamRef.ByName(name)) if !operation.startsWith("List") || operation == "ListShards" =>
            val arn = s"arn:aws:kinesis:${caller.region}:${caller.account}:stream/$name"
            Target(arn, caller.account, caller.region, caller.find(name))
          case _ => Target("*", caller.account, caller.region, None)
        }
      }
    }

    private def resourceOf(
        operation: String,
        streamArn: String,
        consumerArn: Option[String],
        consumerName: Option[String],
        stream: Option[DataStream]
    ): String =
      if (!ConsumerOperations(operation)) streamArn
      else consumerArn.orElse(consumerName.map { name =>
        stream.flatMap(_.consumer(name)).fold(s"$streamArn/consumer/$name:0")(_.arn)
      }).getOrElse(streamArn)
  }
}
