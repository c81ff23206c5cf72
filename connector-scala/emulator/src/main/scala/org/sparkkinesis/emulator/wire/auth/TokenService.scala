package org.sparkkinesis.emulator.wire.auth

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant
import java.time.temporal.ChronoUnit

import io.netty.buffer.Unpooled

import org.sparkkinesis.emulator.access.{AccessDecision, AccessRequest}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultTarget, Faults}
import org.sparkkinesis.emulator.wire.http.Exchange

/**
 * Serves the operations of STS that role options need, on the same port: AssumeRole, AssumeRoleWithWebIdentity and
 * GetCallerIdentity. If credentials are configured, only configured roles can be assumed. Web identity tokens are not
 * checked. A fault with an error affects these operations, too.
 */
final class TokenService(gatekeeper: Gatekeeper, clock: EmulatorClock, faults: Faults) {
  import TokenService._

  def serves(exchange: Exchange): Boolean =
    Option(exchange.header("Content-Type")).exists(_.startsWith("application/x-www-form-urlencoded"))

  def answer(exchange: Exchange): Unit =
    try {
      val form = parse(new String(exchange.bodyArray, exchange.bodyOffset, exchange.bodyLength, UTF_8))
      val action = form.getOrElse("Action", "")
      faults.of(FaultTarget(action, "", "")).foreach {
        case FaultEffect.Error(status, kind, message) => throw new ServiceError(status, kind, message)
        case _ => ()
      }
      action match {
        case "AssumeRole" =>
          identify(exchange)
          authorize(exchange, form)
          assume(exchange, form, "AssumeRole")
        case "AssumeRoleWithWebIdentity" =>
          if (!form.contains("WebIdentityToken")) throw ServiceError.validation("WebIdentityToken is missing")
          assume(exchange, form, "AssumeRoleWithWebIdentity")
        case "GetCallerIdentity" =>
          val account = identify(exchange)
          val caller = gatekeeper.caller(exchange).principal.arn
          val result = s"<Arn>${escape(caller)}</Arn><UserId>emulator</UserId><Account>$account</Account>"
          reply(exchange, 200, body("GetCallerIdentity", result, exchange))
        case other => throw new ServiceError(400, "InvalidAction", s"Could not find operation $other")
      }
    } catch { case e: ServiceError => reply(exchange, statusOf(e), error(e, exchange)) }

  private def identify(exchange: Exchange): String =
    if (gatekeeper.checks) gatekeeper.verified(exchange, RequestSignature.of(exchange)).account
    else gatekeeper.homeAccount

  /** The identity's policies decide. Trust policies are the roles of the configuration. */
  private def authorize(exchange: Exchange, form: Map[String, String]): Unit = if (!gatekeeper.policies.isEmpty) {
    val caller = gatekeeper.caller(exchange)
    val context = form.get("ExternalId").map("sts:externalid" -> _).toMap
    val request = AccessRequest("sts:AssumeRole", form.getOrElse("RoleArn", ""), context)
    AccessDecision.refusal(caller.principal, request, caller.policies, None, caller.principal.account)
      .foreach(why => throw new ServiceError(403, "AccessDenied", why))
  }

  private def assume(exchange: Exchange, form: Map[String, String], action: String): Unit = {
    val arn = form.getOrElse("RoleArn", throw ServiceError.validation("RoleArn is missing"))
    val session = form.getOrElse("RoleSessionName", throw ServiceError.validation("RoleSessionName is missing"))
    val role = gatekeeper.roles.find(_.arn == arn)
    val allowed = role.exists(r => r.externalId.forall(form.get("ExternalId").contains)) ||
      !gatekeeper.checks && role.isEmpty
    if (!allowed) throw new ServiceError(
      403,
      "AccessDenied",
      s"The caller is not authorized to perform: sts:$action on resource: $arn"
    )
    val seconds = form.get("DurationSeconds").flatMap(_.toLongOption).getOrElse(DefaultSeconds)
    val expires = clock.millis + seconds * 1000
    val (id, secret, token) = gatekeeper.issue(arn, session, expires)
    // Callers compare the expiration with the clock of their machine.
    val told = Instant.now().plusSeconds(seconds).truncatedTo(ChronoUnit.SECONDS)
    val credentials = s"<Credentials><AccessKeyId>$id</AccessKeyId><SecretAccessKey>$secret</SecretAccessKey>" +
      s"<SessionToken>$token</SessionToken><Expiration>$told</Expiration></Credentials>"
    val user = s"<AssumedRoleUser><Arn>${escape(EmulatorRole.sessionOf(arn, session).arn)}</Arn>" +
      s"<AssumedRoleId>AROAEMULATOR:${escape(session)}</AssumedRoleId></AssumedRoleUser>"
    reply(exchange, 200, body(action, credentials + user, exchange))
  }

  private def statusOf(e: ServiceError): Int =
    if (e.errorType == "AccessDenied" || Names.contains(e.errorType)) 403 else e.status

  private def body(action: String, result: String, exchange: Exchange): String =
    s"""<${action}Response xmlns="$Namespace"><${action}Result>$result</${action}Result>${metadata(
        exchange
      )}</${action}Response>"""

  private def error(e: ServiceError, exchange: Exchange): String =
    s"""<ErrorResponse xmlns="$Namespace"><Error><Type>Sender</Type><Code>${Names.getOrElse(
        e.errorType,
        e.errorType.stripSuffix("Exception")
      )}</Code>""" +
      s"<Message>${escape(e.getMessage)}</Message></Error><RequestId>${exchange.requestId}</RequestId></ErrorResponse>"

  private def metadata(exchange: Exchange): String =
    s"<ResponseMetadata><RequestId>${exchange.requestId}</RequestId></ResponseMetadata>"

  private def reply(exchange: Exchange, status: Int, xml: String): Unit =
    exchange.reply(status, "text/xml", Unpooled.copiedBuffer(xml, UTF_8))
}

private object TokenService {
  val Namespace = "https://sts.amazonaws.com/doc/2011-06-15/"
  val DefaultSeconds = 3600L

  /** Error codes of the service for those of Kinesis. */
  val Names: Map[String, String] = Map(
    "InvalidSignatureException" -> "SignatureDoesNotMatch",
    "UnrecognizedClientException" -> "InvalidClientTokenId",
    "MissingAuthenticationTokenException" -> "MissingAuthenticationToken",
    "ExpiredTokenException" -> "ExpiredToken"
  )

  def escape(text: String): String = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

  def parse(form: String): Map[String, String] = form
    .split('&')
    .map(_.split("=", 2))
    .collect { case Array(name, value) => decoded(name) -> decoded(value) }
    .toMap

  private def decoded(text: String): String =
    try URLDecoder.decode(text, UTF_8)
    catch { case _: IllegalArgumentException => throw ServiceError.validation("The form cannot be read.") }
}
