package org.sparkkinesis.emulator.access

import org.sparkkinesis.suite.TimedSuite

class AccessDecisionSuite extends TimedSuite {
  private val account = "123456789012"
  private val user = Principal(s"arn:aws:iam::$account:user/reader", account)
  private val role = s"arn:aws:iam::$account:role/etl"
  private val session = Principal(s"arn:aws:sts::$account:assumed-role/etl/job", account, Some(role))
  private val stranger = Principal("arn:aws:iam::999999999999:user/other", "999999999999")
  private val orders = s"arn:aws:kinesis:us-east-1:$account:stream/orders"

  private def read(action: String = "kinesis:GetRecords", resource: String = orders): AccessRequest =
    AccessRequest(action, resource, Map.empty)

  private def within(context: (String, String)*): AccessRequest = read().copy(context = context.toMap)

  private def policy(statements: String*): PolicyDocument =
    PolicyDocument.parse(s"""{"Version": "2012-10-17", "Statement": [${statements.mkString(", ")}]}""")

  private def statement(
      effect: String = "Allow",
      actions: String = """"kinesis:GetRecords"""",
      resources: String = s""""$orders"""",
      more: String = ""
  ): String = s"""{"Effect": "$effect", "Action": $actions, "Resource": $resources$more}"""

  private def condition(text: String): String = s""", "Condition": {$text}"""

  private def isAllowed(request: AccessRequest, statements: String*): Boolean =
    AccessDecision.refusal(user, request, Some(Seq(policy(statements: _*))), None, account).isEmpty

  private val region = """"StringEquals": {"aws:RequestedRegion": ["us-east-1", "eu-west-1"]}"""

  private val cases = Seq[(String, Seq[String], AccessRequest, Boolean)](
    ("nothing", Nil, read(), false),
    ("the action and the resource", Seq(statement()), read(), true),
    ("another action", Seq(statement()), read("kinesis:PutRecords"), false),
    ("another resource", Seq(statement()), read(resource = s"${orders}2"), false),
    (
      "one of several actions",
      Seq(statement(actions = """["kinesis:PutRecords", "kinesis:GetRecords"]""")),
      read(),
      true
    ),
    ("an action in another case", Seq(statement(actions = """"Kinesis:getrecords"""")), read(), true),
    ("a wildcard for actions", Seq(statement(actions = """"kinesis:Get*"""")), read(), true),
    ("a wildcard that is not for the action", Seq(statement(actions = """"kinesis:Put*"""")), read(), false),
    ("all actions of all services", Seq(statement(actions = """"*"""")), read(), true),
    ("a question mark", Seq(statement(actions = """"kinesis:GetRecord?"""")), read(), true),
    ("a question mark for no character", Seq(statement(actions = """"kinesis:GetRecords?"""")), read(), false),
    (
      "a wildcard for resources",
      Seq(statement(resources = s""""arn:aws:kinesis:*:$account:stream/ord*"""")),
      read(),
      true
    ),
    ("all resources", Seq(statement(resources = """"*"""")), read(), true),
    (
      "a dot, which is no wildcard",
      Seq(statement(resources = s""""${orders.replace("orders", "order.")}"""")),
      read(),
      false
    ),
    (
      "a consumer of any creation time",
      Seq(statement(actions = """"kinesis:SubscribeToShard"""", resources = s""""$orders/consumer/app:*"""")),
      read("kinesis:SubscribeToShard", s"$orders/consumer/app:1700000000"),
      true
    ),
    (
      "a consumer whose name only begins so",
      Seq(statement(actions = """"kinesis:SubscribeToShard"""", resources = s""""$orders/consumer/app:*"""")),
      read("kinesis:SubscribeToShard", s"$orders/consumer/app2:1700000000"),
      false
    ),
    ("a deny beside an allow", Seq(statement(), statement("Deny")), read(), false),
    ("a deny of another action", Seq(statement(), statement("Deny", """"kinesis:PutRecords"""")), read(), true),
    (
      "everything but an action",
      Seq(s"""{"Effect": "Allow", "NotAction": "kinesis:Delete*", "Resource": "*"}"""),
      read("kinesis:DeleteStream"),
      false
    ),
    (
      "everything but another action",
      Seq(s"""{"Effect": "Allow", "NotAction": "kinesis:Delete*", "Resource": "*"}"""),
      read(),
      true
    ),
    (
      "everything but the resource",
      Seq(s"""{"Effect": "Allow", "Action": "*", "NotResource": "$orders"}"""),
      read(),
      false
    ),
    (
      "a condition that holds",
      Seq(statement(more = condition(region))),
      within("aws:requestedregion" -> "eu-west-1"),
      true
    ),
    (
      "a condition that does not hold",
      Seq(statement(more = condition(region))),
      within("aws:requestedregion" -> "eu-west-2"),
      false
    ),
    ("a condition on a key that the request does not have", Seq(statement(more = condition(region))), read(), false),
    (
      "the same, if the key exists",
      Seq(statement(more = condition(region.replace("Equals", "EqualsIfExists")))),
      read(),
      true
    ),
    (
      "a negated condition that does not hold",
      Seq(statement(more = condition(region.replace("Equals", "NotEquals")))),
      within("aws:requestedregion" -> "us-east-1"),
      false
    ),
    (
      "a negated condition without its key",
      Seq(statement(more = condition(region.replace("Equals", "NotEquals")))),
      read(),
      true
    ),
    (
      "StringLike",
      Seq(statement(more = condition(""""StringLike": {"kms:ViaService": "kinesis.*.amazonaws.com"}"""))),
      within("kms:viaservice" -> "kinesis.us-east-1.amazonaws.com"),
      true
    ),
    (
      "ArnNotLike",
      Seq(statement(more = condition(s""""ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/*"}"""))),
      within("aws:principalarn" -> role),
      false
    ),
    (
      "two conditions of which one does not hold",
      Seq(statement(more = condition(s"""$region, "Bool": {"aws:SecureTransport": true}"""))),
      within("aws:requestedregion" -> "us-east-1", "aws:securetransport" -> "false"),
      false
    )
  )
  for ((what, statements, request, allowed) <- cases) test(s"$what: ${if (allowed) "allowed" else "refused"}") {
    assert(isAllowed(request, statements: _*) == allowed)
  }

  private def grant(principal: String, effect: String = "Allow"): PolicyDocument =
    policy(statement(effect, more = s""", "Principal": $principal"""))

  private val none: Option[Seq[PolicyDocument]] = None
  private val nothing: Option[Seq[PolicyDocument]] = Some(Nil)
  private val allows = Some(Seq(policy(statement())))
  private val noIdentity = "because no identity-based policy allows the kinesis:GetRecords action"
  private val noResource = "because no resource-based policy allows the kinesis:GetRecords action"
  private val identityDeny = "with an explicit deny in an identity-based policy"
  private val resourceDeny = "with an explicit deny in a resource-based policy"

  private def aws(arn: String): String = s"""{"AWS": "$arn"}"""

  private val parties =
    Seq[(String, Principal, Option[Seq[PolicyDocument]], Option[PolicyDocument], Option[String])](
      ("a caller without policies", user, none, None, None),
      (
        "a caller without policies whom the resource denies",
        user,
        none,
        Some(grant(aws(user.arn), "Deny")),
        Some(resourceDeny)
      ),
      ("a caller who is allowed nothing", user, nothing, None, Some(noIdentity)),
      ("an explicit deny", user, Some(Seq(policy(statement(), statement("Deny")))), None, Some(identityDeny)),
      ("a caller whom only the resource allows", user, nothing, Some(grant(aws(user.arn))), None),
      ("a caller whom the resource allows by its account", user, nothing, Some(grant(aws(account))), None),
      ("the same by the root of the account", user, nothing, Some(grant(aws(s"arn:aws:iam::$account:root"))), None),
      ("a resource that allows everybody", user, nothing, Some(grant("\"*\"")), None),
      ("a resource that allows somebody else", user, nothing, Some(grant(aws(stranger.arn))), Some(noIdentity)),
      (
        "a deny of the identity beside an allow of the resource",
        user,
        Some(Seq(policy(statement("Deny")))),
        Some(grant("\"*\"")),
        Some(identityDeny)
      ),
      ("a session whose role the resource allows", session, nothing, Some(grant(aws(role))), None),
      ("a session that the resource allows itself", session, nothing, Some(grant(aws(session.arn))), None),
      ("another account without a policy of the resource", stranger, allows, None, Some(noResource)),
      ("another account that both allow", stranger, allows, Some(grant(aws("999999999999"))), None),
      (
        "another account that only the resource allows",
        stranger,
        nothing,
        Some(grant(aws(stranger.arn))),
        Some(noIdentity)
      ),
      (
        "another account whom the resource does not name",
        stranger,
        allows,
        Some(grant(aws(account))),
        Some(noResource)
      ),
      ("another account for which nothing is set up", stranger, none, None, None)
    )
  for ((what, principal, identity, resource, because) <- parties)
    test(s"$what: ${because.fold("allowed")(_ => "refused, with the reason")}") {
      assert(AccessDecision.refusal(principal, read(), identity, resource, account) == because.map(reason =>
        s"User: ${principal.arn} is not authorized to perform: kinesis:GetRecords on resource: $orders $reason"
      ))
    }

  private val broken = Seq(
    "not JSON" -> "{",
    "no effect" -> """{"Statement": {"Action": "*", "Resource": "*"}}""",
    "no action" -> """{"Statement": {"Effect": "Allow", "Resource": "*"}}""",
    "an operator that is not evaluated" ->
      """{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*",
        "Condition": {"IpAddress": {"aws:SourceIp": "1.2.3.4"}}}}"""
  )
  for ((what, text) <- broken) test(s"a policy with $what is refused, with the reason") {
    val error = intercept[IllegalArgumentException](PolicyDocument.parse(text))
    assert(error.getMessage.startsWith("The policy is not valid: "))
  }
}
