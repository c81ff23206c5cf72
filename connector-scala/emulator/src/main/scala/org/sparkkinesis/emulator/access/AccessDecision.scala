package org.sparkkinesis.emulator.access

/**
 * A caller as IAM names it.
 *
 * @param arn
 *   a user, or the session of a role
 * @param role
 *   the ARN of the role of a session
 */
final case class Principal(arn: String, account: String, role: Option[String] = None)

/**
 * One request as IAM sees it.
 *
 * @param action
 *   service and operation, such as `kinesis:GetRecords`
 * @param context
 *   values of condition keys; the keys are in lower case
 */
final case class AccessRequest(action: String, resource: String, context: Map[String, String])

/** Decides as IAM does: a deny wins, and what nothing allows is denied. */
object AccessDecision {

  /**
   * Returns why a request is refused, in the words of AWS, or nothing if it is allowed.
   *
   * @param identity
   *   policies of the caller; a caller without any may do everything in its account
   * @param resource
   *   policy of the resource
   * @param owner
   *   account of the resource. A caller of another account needs permissions of both.
   */
  def refusal(
      principal: Principal,
      request: AccessRequest,
      identity: Option[Seq[PolicyDocument]],
      resource: Option[PolicyDocument],
      owner: String
  ): Option[String] = {
    val own = identity.map(_.flatMap(_.statements).filter(_.isFor(request)))
    val others = resource.toSeq.flatMap(_.statements).filter(one => one.isFor(principal) && one.isFor(request))
    val ownAllows = own.forall(_.exists(_.allows))
    val othersAllow = others.exists(_.allows)
    val because =
      if (own.exists(_.exists(!_.allows))) Some("with an explicit deny in an identity-based policy")
      else if (others.exists(!_.allows)) Some("with an explicit deny in a resource-based policy")
      else if (principal.account == owner)
        Option.when(!ownAllows && !othersAllow)(s"because no identity-based policy allows the ${request.action} action")
      else if (!ownAllows) Some(s"because no identity-based policy allows the ${request.action} action")
      // A caller for which nothing is set up may use all accounts of an emulator.
      else if (!othersAllow && (identity.isDefined || resource.isDefined))
        Some(s"because no resource-based policy allows the ${request.action} action")
      else None
    because.map { reason =>
      s"User: ${principal.arn} is not authorized to perform: ${request.action} on resource: ${request.resource} $reason"
    }
  }
}
