package org.sparkkinesis.emulator.action.call

import org.sparkkinesis.emulator.engine.error.ServiceError

import org.sparkkinesis.model.KinesisQuotas.Lifetime

/** NextTokens: bound to their operation, and good for 300 seconds. */
private[action] object PageTokens {
  val MaxLength: Int = 1048576

  def make(call: Call, fields: String*): String = PageToken(call.operation, call.now, fields).encode

  /**
   * @throws ServiceError
   *   InvalidArgument for what is no token of this operation, ExpiredNextToken for an old one
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
