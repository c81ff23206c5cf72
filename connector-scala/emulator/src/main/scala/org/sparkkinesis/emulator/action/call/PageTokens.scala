package org.sparkkinesis.emulator.action.call

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.KinesisQuotas.Lifetime

/** Creates and reads NextTokens. A NextToken belongs to one operation and is valid for 300 seconds. */
private[action] object PageTokens {
  val MaxLength: Int = 1048576

  def make(call: Call, fields: String*): String = PageToken(call.operation, call.now, fields).encode

  /**
   * Returns the fields of a token.
   *
   * @throws ServiceError
   *   InvalidArgument if the text is not a token of this operation, ExpiredNextToken if it is too old
   */
  def read(call: Call, token: String): Seq[String] = {
    val page = Tokens
      .page(token)
      .filter(_.operation == call.operation)
      .getOrElse(throw ServiceError.invalidArgument("NextToken is invalid."))
    if (call.now - page.issuedMillis > Lifetime.NextToken.toMillis)
      throw ServiceError.expiredNextToken("NextToken is expired.")
    page.fields
  }
}
