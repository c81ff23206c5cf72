package org.sparkkinesis.emulator.wire.auth

import java.security.SecureRandom
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.{Engine, Namespace}
import org.sparkkinesis.emulator.wire.http.Exchange

/**
 * Who may call. Without configured credentials everyone may, and acts in the emulator's own account and region. With
 * them each request has to be signed with a known key, and acts in the account of that key and the region it was signed
 * for. Thread-safe.
 */
final class Gatekeeper(
    engine: Engine,
    home: Namespace,
    credentials: Seq[EmulatorCredential],
    val roles: Seq[EmulatorRole]
) {
  private val keys = new ConcurrentHashMap[String, KnownKey]
  private val random = new SecureRandom

  credentials.foreach(c => keys.put(c.accessKeyId, KnownKey(c.secretAccessKey, c.account, null, Long.MaxValue)))

  def checks: Boolean = credentials.nonEmpty
  def homeAccount: String = home.account

  /**
   * @throws ServiceError
   *   what the service answers to a missing, wrong or expired signature
   */
  def admit(exchange: Exchange): Namespace =
    if (!checks) home
    else {
      val signature = RequestSignature.of(exchange)
      engine.namespace(verified(exchange, signature).account, signature.region)
    }

  def verified(exchange: Exchange, signature: RequestSignature): KnownKey = {
    val key = keys.get(signature.accessKeyId)
    val token = exchange.header("X-Amz-Security-Token")
    if (key == null || key.token != null && key.token != token)
      throw ServiceError("UnrecognizedClientException", "The security token included in the request is invalid.")
    if (key.expiresMillis <= engine.clock.millis)
      throw ServiceError("ExpiredTokenException", "The security token included in the request is expired")
    signature.check(exchange, key.secret)
    key
  }

  /** A new session key for an account, as AssumeRole hands it out: access key id, secret and token. */
  def issue(account: String, expiresMillis: Long): (String, String, String) = {
    val id = s"ASIA${randomText(12).toUpperCase.replaceAll("[^A-Z0-9]", "A")}"
    val key = KnownKey(randomText(30), account, randomText(90), expiresMillis)
    keys.put(id, key)
    (id, key.secret, key.token)
  }

  private def randomText(bytes: Int): String = {
    val raw = new Array[Byte](bytes)
    random.nextBytes(raw)
    Base64.getUrlEncoder.withoutPadding.encodeToString(raw)
  }
}
