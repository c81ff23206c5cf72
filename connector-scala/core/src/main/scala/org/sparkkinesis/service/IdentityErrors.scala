package org.sparkkinesis.service

/** Why a service refuses the identity of a caller, which is not about the caller's permissions. */
object IdentityErrors {

  /** Error code for a class of the user that gives no credentials. */
  val InvalidSource = "InvalidCredentialsSource"
  sealed trait Cause

  /** The session of temporary credentials is over. */
  case object Expired extends Cause

  /** The service does not know the access key or the session token. */
  case object Key extends Cause

  /** The signature is wrong: the secret does not belong to the access key, or something changed the request. */
  case object Signature extends Cause

  /** The time of the signature differs too much from the time of the service. */
  case object Time extends Cause

  /** Returns why a service refused the caller's identity; `None` for another failure. */
  def causeOf(error: ServiceException): Option[Cause] = ByCode.get(error.errorCode) match {
    case Some(Signature) if OfTime.exists(error.detail.startsWith) => Some(Time)
    case other => other
  }

  private val ByCode: Map[String, Cause] = Map(
    "ExpiredTokenException" -> Expired,
    "ExpiredToken" -> Expired,
    "UnrecognizedClientException" -> Key,
    "UnrecognizedClient" -> Key,
    "InvalidClientTokenId" -> Key,
    "InvalidToken" -> Key,
    "AuthFailure" -> Signature,
    "InvalidSignatureException" -> Signature,
    "InvalidSignature" -> Signature,
    "SignatureDoesNotMatch" -> Signature,
    "RequestExpired" -> Time,
    "RequestInTheFuture" -> Time,
    "RequestTimeTooSkewed" -> Time
  )

  /** Begin of the messages of the services for a wrong time, which has the code of a wrong signature. */
  private val OfTime = Seq("Signature expired", "Signature not yet current")
}
