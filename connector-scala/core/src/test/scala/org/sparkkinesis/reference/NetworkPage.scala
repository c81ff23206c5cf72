package org.sparkkinesis.reference

import org.sparkkinesis.config.NetworkOptions

/** `docs/network.md`: proxies, endpoints, certificates. A suite of the module `aws` checks what its tables say. */
object NetworkPage {
  def text: String =
    s"""# Network
       |
       |<!-- Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command} -->
       |
       |All calls of the connector use the same settings: those to Kinesis (HTTP/1.1, and HTTP/2 for enhanced fan-out),
       |Amazon Data Firehose and the Security Token Service, those for credentials of IAM Identity Center and of web
       |identities, and those to a metadata service over HTTP. The options are
       |${NetworkOptions.all.map(entry => s"`${entry.key}`").mkString(", ")};
       |[options.md](options.md) explains them. What an option leaves open, each process takes from its own environment
       |when it makes a call, so the driver and every executor need the variables or system properties.
       |
       |## Proxies
       |
       |The first of these that names a proxy counts:
       |
       |1. option `proxy`, which `none` switches off,
       |2. the system properties `https.proxyHost` and `https.proxyPort` for `https` endpoints, `http.proxyHost` and
       |   `http.proxyPort` for `http` endpoints,
       |3. the variables `https_proxy` or `HTTPS_PROXY` for `https` endpoints, `http_proxy` or `HTTP_PROXY` for `http`
       |   endpoints.
       |
       |The proxy must support `CONNECT`, also to the ports of `http` endpoints if there are any. A proxy of the
       |form `https://host:port` is called over TLS. User and password (Basic authentication) come from the
       |options `proxyUser` and `proxyPassword`, else from the proxy's URL in the environment, or the system
       |properties `https.proxyUser` and `https.proxyPassword` or those with `http`. The option `proxy` has no
       |user, because plans show it.
       |
       |These hosts are reached without a proxy: with option `nonProxyHosts`, those that it names; else with the
       |option `proxy` none; with a proxy of the system properties those of `http.nonProxyHosts`; with one of
       |the variables those of `no_proxy` or `NO_PROXY`. `NO_PROXY` and `nonProxyHosts` have entries separated
       |by commas. `example.com` and `.example.com` match the domain and all names below it, `10.0.0.0/8` the
       |addresses of a network, `*` any text, and `example.com:443` only this port. A loopback endpoint has a
       |proxy only by the option `proxy`. The endpoints for credentials of a container or an instance are always
       |called without a proxy.
       |
       |$proxies
       |
       |## Endpoints
       |
       |The options `endpoint` and `stsEndpoint` take precedence. Without them, the settings of AWS's tools
       |apply to every service: `AWS_ENDPOINT_URL_KINESIS`, `AWS_ENDPOINT_URL_FIREHOSE`, `AWS_ENDPOINT_URL_STS`,
       |`AWS_ENDPOINT_URL`, `AWS_USE_FIPS_ENDPOINT`, `AWS_USE_DUALSTACK_ENDPOINT`, the system properties and the
       |settings of the profile with the same meaning, such as `endpoint_url` and `services`. A FIPS endpoint
       |and an address that is set exclude each other.
       |
       |A call to the Security Token Service is signed for the region in the name of its host, for `us-east-1` if it is
       |the global endpoint, else for the region of the stream.
       |
       |In region `us-east-1` and account `123456789012`. Here GetRecords, GetShardIterator, ListShards,
       |DescribeStreamSummary and PutRecords name the stream; with an ARN they have the prefix
       |`123456789012.data-` or `123456789012.control-` too:
       |
       |$endpoints
       |
       |## Firewalls
       |
       |A firewall or proxy must let these hosts pass on port 443, with the region instead of `REGION` and the
       |account of the stream instead of `ACCOUNT`:
       |
       || Host | For |
       ||---|---|
       || `kinesis.REGION.amazonaws.com` | calls that name a stream by `streamName`, and ListStreams |
       || `ACCOUNT.data-kinesis.REGION.amazonaws.com` | all reads; PutRecords with an ARN or logical streams |
       || `ACCOUNT.control-kinesis.REGION.amazonaws.com` | all reads; other calls with an ARN |
       || `firehose.REGION.amazonaws.com` | the format `firehose` |
       || `sts.REGION.amazonaws.com` | `roleArn`, and web identities |
       || `portal.sso.REGION.amazonaws.com`, `oidc.REGION.amazonaws.com` | profiles of IAM Identity Center |
       |
       |`*.REGION.amazonaws.com` includes all but those of `portal.sso`. If only one name can be opened, set
       |`endpoint`: it is the host of every call, and those with the account are then not used. An interface VPC
       |endpoint with private DNS for `kinesis-streams` has these names too.
       |
       |## Certificates
       |
       |By default the connector trusts the authorities that the JVM trusts. `caFile`, else the variable
       |`AWS_CA_BUNDLE`, names a PEM file with the authorities to trust instead, for example those of a proxy
       |that decrypts TLS. """.stripMargin

  private def table(head: String, rows: Seq[(String, Seq[String])]): String = {
    val lines = Seq(
      s"| $head | ${NetworkTable.calls.mkString(" | ")} |",
      s"|---|${NetworkTable.calls.map(_ => "---").mkString("|")}|"
    ) ++ rows.map { case (name, cells) => s"| $name | ${cells.mkString(" | ")} |" }
    lines.mkString("\n|")
  }

  private def proxies: String = table(
    "Setting",
    NetworkTable.settings.map(setting => setting.title -> NetworkTable.calls.map(_ => setting.way.shown))
  )

  private def endpoints: String = table(
    "Setting",
    NetworkTable.endpoints.map(one => one.title -> NetworkTable.calls.map(call => s"`${one.host(call)}`"))
  )
}
