package org.sparkkinesis.metadata

import scala.util.matching.Regex

import org.sparkkinesis.config.{ConnectionOptions, MetadataOptions, Options}
import org.sparkkinesis.model.StreamRef

/**
 * The streams that a metadata service may name. The options of the query alone decide, so that a service cannot direct
 * records to another account. Pure.
 *
 * @param accounts
 *   accounts of the streams; empty if a stream must belong to the account of the query's own credentials
 * @param regions
 *   regions of the streams; empty for any region
 * @param roles
 *   patterns of the roles that a stream may name, in which `*` stands for any text
 * @param endpoints
 *   patterns of the endpoints that a stream may name, in addition to the region's own
 */
final case class AllowList(
    accounts: Set[String],
    regions: Set[String],
    roles: Seq[String],
    endpoints: Seq[String]
) {
  import AllowList._

  /**
   * Whether a stream must belong to the account of the query's own credentials. Only a call by the stream's name, which
   * never leaves that account, shows it.
   */
  def mustBeOwn(stream: PhysicalStream): Boolean = accounts.isEmpty && stream.role.isEmpty

  /** Returns why the stream must not be used; `None` if it may be used. */
  def violation(stream: PhysicalStream): Option[Violation] = {
    val StreamRef.ByArn(_, region, account, _) = stream.stream
    def forbidden(when: Boolean, what: String, option: String) = Option.when(when)(Violation(stream.arn, what, option))
    forbidden(
      accounts.nonEmpty && !accounts(account),
      s"account $account is not allowed",
      MetadataOptions.metadataAllowedAccounts.key
    ).orElse(forbidden(
      accounts.isEmpty && stream.role.nonEmpty,
      "it has a role, and no account is allowed by name",
      MetadataOptions.metadataAllowedAccounts.key
    )).orElse(forbidden(
      regions.nonEmpty && !regions(region),
      s"region $region is not allowed",
      MetadataOptions.metadataAllowedRegions.key
    )).orElse(stream.role.flatMap(role =>
      forbidden(!matches(roles, role), s"role $role is not allowed", MetadataOptions.metadataAllowedRoles.key)
    )).orElse(stream.endpoint.flatMap(address =>
      forbidden(
        !isOwn(address, region) && !matches(endpoints, address),
        s"endpoint $address is not allowed",
        MetadataOptions.metadataAllowedEndpoints.key
      )
    ))
  }

  /**
   * Returns the document without the streams that must not be used, and why. Where a stream was allowed before, its
   * last entry stays if it is still allowed, so that a wrong document does not remove it.
   */
  def permit(before: Option[MetadataDocument], next: MetadataDocument): (MetadataDocument, Seq[Violation]) = {
    val violations = next.physical.valuesIterator.flatMap(stream => violation(stream).map(stream.arn -> _)).toMap
    val kept = next.copy(streams = next.streams.map { case (id, all) =>
      id -> all.flatMap(stream =>
        if (violations.contains(stream.arn)) before.flatMap(_.physical.get(stream.arn)).filter(violation(_).isEmpty)
        else Some(stream)
      )
    })
    (kept, violations.values.toSeq.sortBy(_.arn))
  }
}

object AllowList {

  /**
   * A stream that must not be used.
   *
   * @param option
   *   the option that decides
   */
  final case class Violation(arn: String, reason: String, option: String)

  def of(options: Options): AllowList = {
    val roleAccounts =
      (options.get(ConnectionOptions.roleArn) ++ options.get(MetadataOptions.metadataAllowedRoles)).flatten
        .flatMap(accountOf).toSet
    val listed = options.get(MetadataOptions.metadataAllowedAccounts).fold(Set.empty[String])(_.toSet)
    AllowList(
      if (listed.isEmpty) Set.empty else listed ++ roleAccounts,
      options.get(MetadataOptions.metadataAllowedRegions).fold(Set.empty[String])(_.toSet),
      options.get(MetadataOptions.metadataAllowedRoles).toSeq.flatten,
      options.get(MetadataOptions.metadataAllowedEndpoints).toSeq.flatten ++ options.get(ConnectionOptions.endpoint)
    )
  }

  private val RoleArn = "arn:aws[^:]*:iam::([0-9]{12}):role/.+".r

  private def accountOf(role: String): Option[String] = role match {
    case RoleArn(account) => Some(account)
    case _ => None
  }

  private def isOwn(endpoint: String, region: String): Boolean = Seq(
    s"https://kinesis.$region.amazonaws.com",
    s"https://kinesis.$region.amazonaws.com.cn",
    s"https://kinesis.$region.api.aws",
    s"https://kinesis-fips.$region.amazonaws.com"
  ).contains(endpoint.stripSuffix("/"))

  private def matches(patterns: Seq[String], text: String): Boolean = patterns.exists { pattern =>
    pattern.split("\\*", -1).map(Regex.quote).mkString(".*").r.matches(text)
  }
}
