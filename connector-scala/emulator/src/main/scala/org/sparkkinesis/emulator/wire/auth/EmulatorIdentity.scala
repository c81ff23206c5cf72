package org.sparkkinesis.emulator.wire.auth

/** A long-term key that the emulator knows; its calls act in `account`. */
final case class EmulatorCredential(accessKeyId: String, secretAccessKey: String, account: String) {
  override def toString: String = s"EmulatorCredential($accessKeyId, ***, $account)"
}

/** A role that may be assumed, by anyone who has a valid key and, where it is set, knows the external id. */
final case class EmulatorRole(arn: String, externalId: Option[String] = None) {
  require(EmulatorRole.Arn.matches(arn), s"not a role's ARN: $arn")

  def account: String = EmulatorRole.accountOf(arn)
}

object EmulatorRole {
  private val Arn = """arn:aws[^:]*:iam::(\d{12}):role/.+""".r

  private[auth] def accountOf(arn: String): String = arn match {
    case Arn(account) => account
    case _ => ""
  }
}

/** A key as the gatekeeper checks it; session keys carry a token and end at `expiresMillis`. */
final private[auth] case class KnownKey(secret: String, account: String, token: String, expiresMillis: Long)
