package org.sparkkinesis.emulator.wire.auth

import org.sparkkinesis.emulator.access.Principal

/** A long-term access key that the emulator accepts. Its calls act in `account`. */
final case class EmulatorCredential(accessKeyId: String, secretAccessKey: String, account: String) {
  override def toString: String = s"EmulatorCredential($accessKeyId, ***, $account)"
}

object EmulatorCredential {

  /** The key of an account of the emulator: the number of the account, with the secret `emulator`. */
  def ofAccount(account: String): EmulatorCredential = EmulatorCredential(account, "emulator", account)
}

/** Temporary credentials. */
final case class EmulatorSession(accessKeyId: String, secretAccessKey: String, sessionToken: String) {
  override def toString: String = s"EmulatorSession($accessKeyId, ***, ***)"
}

/** A role that callers with a valid key may assume. If an external ID is set, they must also send it. */
final case class EmulatorRole(arn: String, externalId: Option[String] = None) {
  require(
    EmulatorRole.Arn.matches(arn),
    s"The role must be given as its ARN, arn:aws:iam::ACCOUNT:role/NAME, but was $arn."
  )

  def account: String = EmulatorRole.accountOf(arn)
}

object EmulatorRole {
  private val Arn = """arn:aws[^:]*:iam::(\d{12}):role/.+""".r

  private[auth] def accountOf(arn: String): String = arn match {
    case Arn(account) => account
    case _ => ""
  }

  /** The session of a role as a caller. The ARN of a session does not have the path of its role. */
  private[auth] def sessionOf(role: String, session: String): Principal = {
    val account = accountOf(role)
    Principal(s"arn:aws:sts::$account:assumed-role/${role.split('/').last}/$session", account, Some(role))
  }
}

/** A key that the gatekeeper accepts. A session key has a token and expires at `expiresMillis`. */
final private[auth] case class KnownKey(secret: String, principal: Principal, token: String, expiresMillis: Long) {
  def account: String = principal.account
}
