package org.sparkkinesis.emulator.wire.auth

import java.security.SecureRandom
import java.time.Instant
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap

import org.sparkkinesis.emulator.access.{AccessPolicies, PolicyDocument, Principal}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.{Engine, Namespace}
import org.sparkkinesis.emulator.wire.http.Exchange

/**
 * Checks the signatures of requests. Without configured credentials, all requests are accepted and act in the
 * emulator's own account and region. With credentials, each request must be signed with a known key; it acts in the
 * account of the key and in the region of the signature. Thread-safe.
 *
 * @param checksTime
 *   whether signatures must have the time of the emulator's clock; otherwise the time of this machine is accepted, too
 */
final class Gatekeeper(
    engine: Engine,
    home: Namespace,
    credentials: Seq[EmulatorCredential],
    val roles: Seq[EmulatorRole],
    val policies: AccessPolicies,
    checksTime: Boolean
) {
  private val keys = new ConcurrentHashMap[String, KnownKey]
  private val random = new SecureRandom

  credentials.foreach(c =>
    keys.put(c.accessKeyId, KnownKey(c.secretAccessKey, userOf(c.accessKeyId, c.account), null, Long.MaxValue))
  )

  def checks: Boolean = credentials.nonEmpty
  def homeAccount: String = home.account

  /**
   * Returns the streams that the caller may use.
   *
   * @throws ServiceError
   *   as the service does, if the signature is missing, wrong or expired
   */
  def admit(exchange: Exchange): Namespace =
    if (!checks) home
    else {
      val signature = RequestSignature.of(exchange)
      engine.namespace(verified(exchange, signature).account, signature.region)
    }

  /**
   * Returns who sends a request, with the policies that are set for it. Without configured credentials, the signature
   * is not checked, and the user is that of its key.
   */
  def caller(exchange: Exchange): Caller = {
    val id = RequestSignature.keyOf(exchange)
    val principal =
      id.flatMap(key => Option(keys.get(key))).fold(userOf(id.getOrElse("anonymous"), home.account))(_.principal)
    Caller(principal, principal.role.orElse(id).flatMap(policies.of))
  }

  private def userOf(accessKeyId: String, account: String): Principal =
    Principal(s"arn:aws:iam::$account:user/$accessKeyId", account)

  def verified(exchange: Exchange, signature: RequestSignature): KnownKey = {
    val key = keys.get(signature.accessKeyId)
    val token = exchange.header("X-Amz-Security-Token")
    if (key == null || key.token != null && key.token != token)
      throw ServiceError("UnrecognizedClientException", "The security token included in the request is invalid.")
    if (key.expiresMillis <= engine.clock.millis)
      throw ServiceError("ExpiredTokenException", "The security token included in the request is expired")
    val serviceTime = Instant.ofEpochMilli(engine.clock.millis)
    signature.check(exchange, key.secret, serviceTime +: Option.unless(checksTime)(Instant.now()).toSeq)
    key
  }

  /** Creates a session key of a role, as AssumeRole does: access key ID, secret and token. */
  def issue(role: String, session: String, expiresMillis: Long): (String, String, String) = {
    val id = s"ASIA${randomText(12).toUpperCase.replaceAll("[^A-Z0-9]", "A")}"
    val key = KnownKey(randomText(30), EmulatorRole.sessionOf(role, session), randomText(90), expiresMillis)
    keys.put(id, key)
    (id, key.secret, key.token)
  }

  /** Expires the session keys that were issued so far. */
  def expireSessions(): Unit = keys.replaceAll { (_, key) =>
    if (key.token == null) key else key.copy(expiresMillis = engine.clock.millis)
  }

  private def randomText(bytes: Int): String = {
    val raw = new Array[Byte](bytes)
    random.nextBytes(raw)
    Base64.getUrlEncoder.withoutPadding.encodeToString(raw)
  }
}

/**
 * Who sends a request.
 *
 * @param policies
 *   the policies of its access key or role, if any are set
 */
final case class Caller(principal: Principal, policies: Option[Seq[PolicyDocument]])
