package org.sparkkinesis.service

/** Error codes of KMS, with which the service refuses a call or one of its records because of the stream's key. */
object KmsErrors {

  /** Returns the kind of an error code that begins with `KMS`, other than throttling. */
  def kindOf(code: String): ServiceErrorKind =
    if (OfState(code.stripSuffix("Exception"))) ServiceErrorKind.KeyUnavailable else ServiceErrorKind.Encryption

  /**
   * The key is disabled or in a state that does not allow its use, or its policy does not allow the caller to use it.
   * Other people change state and policy of a key, and KMS applies the changes with a delay.
   */
  private val OfState = Set("KMSDisabled", "KMSInvalidState", "KMSAccessDenied")
}
