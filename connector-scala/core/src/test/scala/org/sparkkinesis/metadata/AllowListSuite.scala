package org.sparkkinesis.metadata

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.Options
import org.sparkkinesis.metadata.DocumentParserSuite.{A, B, ref}
import org.sparkkinesis.suite.TimedSuite

class AllowListSuite extends TimedSuite {
  private val a = PhysicalStream(ref(A))
  private val role = a.copy(role = Some("arn:aws:iam::123456789012:role/reader"))
  private def list(options: (String, String)*): AllowList = AllowList.of(Options.read(options.toMap))
  private def at(endpoint: String): PhysicalStream = a.copy(endpoint = Some(endpoint))

  test("a stream must match every list") {
    val own = "metadataAllowedAccounts" -> "123456789012"
    val table = Seq(
      (list(), a, None),
      (list(own), a, None),
      (list("metadataAllowedAccounts" -> "210987654321"), a, Some("metadataAllowedAccounts")),
      (list("metadataAllowedAccounts" -> "1".repeat(12), "roleArn" -> "arn:aws:iam::123456789012:role/x"), a, None),
      (list("metadataAllowedRegions" -> "us-east-1,eu-west-1"), a, None),
      (list("metadataAllowedRegions" -> "eu-west-1"), a, Some("metadataAllowedRegions")),
      (list(), role, Some("metadataAllowedAccounts")),
      (list(own), role, Some("metadataAllowedRoles")),
      (list(own, "metadataAllowedRoles" -> "arn:aws:iam::123456789012:role/reader"), role, None),
      (list(own, "metadataAllowedRoles" -> "arn:aws:iam::123456789012:role/r*"), role, None),
      (list(own, "metadataAllowedRoles" -> "arn:aws:iam::123456789012:role/read"), role, Some("metadataAllowedRoles")),
      (list(), at("https://kinesis.us-east-1.amazonaws.com"), None),
      (list(), at("https://kinesis.eu-west-1.amazonaws.com"), Some("metadataAllowedEndpoints")),
      (list(), at("https://kinesis.us-east-1.amazonaws.com.evil.example"), Some("metadataAllowedEndpoints")),
      (list("metadataAllowedEndpoints" -> "https://*.vpce.amazonaws.com"), at("https://a.vpce.amazonaws.com"), None),
      (
        list("metadataAllowedEndpoints" -> "https://a.vpce.amazonaws.com"),
        at("https://aXvpce.amazonaws.com"),
        Some("metadataAllowedEndpoints")
      ),
      (list("endpoint" -> "http://127.0.0.1:4567"), at("http://127.0.0.1:4567"), None)
    )
    table.foreach { case (allowed, stream, expected) =>
      assert(allowed.violation(stream).map(_.option) == expected, s"$allowed $stream")
    }
  }

  test("without a list of accounts, only a stream of the query's own account is allowed") {
    assert(list().mustBeOwn(a))
    assert(!list("metadataAllowedAccounts" -> "123456789012").mustBeOwn(a))
  }

  test("a stream that is forbidden keeps the entry with which it was allowed") {
    def document(version: Long, streams: PhysicalStream*) =
      MetadataDocument(version, SortedMap("orders" -> streams.toVector))
    val allowed = list("metadataAllowedAccounts" -> "123456789012")
    val (first, refused) = allowed.permit(None, document(1, a, PhysicalStream(ref(B))))
    assert(first == document(1, a) && refused.map(_.arn) == Seq(B))
    val (second, again) = allowed.permit(Some(first), document(2, role, PhysicalStream(ref(B))))
    assert(second == document(2, a) && again.map(_.arn).toSet == Set(A, B))
  }

  test("an entry of an earlier run that is not allowed any more does not come back") {
    val document = MetadataDocument(1, SortedMap("orders" -> Vector(role)))
    val allowed = list("metadataAllowedAccounts" -> "123456789012")
    val (kept, refused) = allowed.permit(Some(document), document.copy(version = 2))
    assert(kept.physical.isEmpty && refused.map(_.option) == Seq("metadataAllowedRoles"))
  }
}
