package org.sparkkinesis.spark.connection

import org.sparkkinesis.aws.client.CredentialSettings
import org.sparkkinesis.aws.client.CredentialSettings._
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

class ConnectionSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders"
  private val role = "arn:aws:iam::123456789012:role/reader"
  private def options(set: (String, String)*) = Options.read(Map("region" -> "us-east-1") ++ set)
  private def settings(set: (String, String)*) =
    Connection.clientSettings(options(set: _*), Some(StreamRef.ByName("orders")))

  test("streams are given by name, ARN or pattern, several separated by commas") {
    assert(Connection.streams(options("streamName" -> "orders")) == Seq(StreamRef.ByName("orders"): StreamRef))
    assert(Connection.streams(options("streamName" -> "orders,clicks")).map(_.name) == Seq("orders", "clicks"))
    assert(Connection.streams(options("streamARN" -> arn)) == StreamRef.parse(arn).toSeq)
    assert(Connection.streams(options("streamPattern" -> "or.*")) == Nil)
  }

  Seq[(String, Seq[(String, String)], CredentialSettings)](
    ("the default chain without options", Nil, DefaultChain),
    ("static keys", Seq("awsAccessKey" -> "AK", "awsSecretKey" -> "SK"), Static("AK", "SK", None)),
    (
      "static keys with a session token",
      Seq("awsAccessKey" -> "AK", "awsSecretKey" -> "SK", "sessionToken" -> "T"),
      Static("AK", "SK", Some("T"))
    ),
    ("a profile", Seq("profile" -> "dev"), Profile("dev")),
    ("a provider class of the user", Seq("credentialsProvider" -> "my.Keys"), SuppliedBy("my.Keys"))
  ).foreach { case (name, set, expected) =>
    test(s"credentials: $name")(assert(settings(set: _*).credentials == expected))
  }

  test("a role is assumed with the configured credentials") {
    val found = settings("roleArn" -> role, "roleExternalId" -> "x", "profile" -> "dev").credentials
    found match {
      case AssumeRole(`role`, _, Some("x"), None, Profile("dev")) => ()
      case other => fail(s"$other")
    }
  }

  test("the region of an ARN takes precedence over the option") {
    assert(Connection.clientSettings(options(), StreamRef.parse(arn)).region == Some("eu-west-1"))
    assert(settings().region == Some("us-east-1"))
  }

  test("streams without options of their own have the general ones, whatever the other streams have") {
    val ofOrders = Seq("region.orders" -> "eu-central-1", "endpoint.orders" -> "https://o.example.com")
    val named = Options.read(Map("streamName" -> "orders", "region" -> "us-east-1", "profile" -> "dev") ++ ofOrders)
    val general = Connection.general(named)
    assert((general.region, general.endpoint, general.credentials) == ((Some("us-east-1"), None, Profile("dev"))))
    assert(Connection.clientSettings(named, Some(StreamRef.ByName("letters"))) == general)
    // Without a general region, a name means a stream beside the one that the options name by its ARN.
    val byArn = Options.read(Map("streamARN" -> arn))
    assert(Connection.general(byArn).region == Some("eu-west-1"))
    assert(Connection.clientSettings(byArn, Some(StreamRef.ByName("letters"))).region == Some("eu-west-1"))
  }

  test("each stream may have its own region, endpoint and role; an option for its ARN overrides one for its name") {
    val set = options(
      "endpoint" -> "https://all.example.com",
      "region.orders" -> "eu-central-1",
      "endpoint.orders" -> "https://one.example.com",
      s"endpoint.$arn" -> "https://arn.example.com",
      "roleArn.orders" -> role,
      "roleExternalId.orders" -> "x"
    )
    def of(stream: String) = Connection.clientSettings(set, StreamRef.parse(stream))
    assert(
      Seq("orders", "clicks", arn).map(name => (of(name).region.get, of(name).endpoint.get)) ==
        Seq(
          ("eu-central-1", "https://one.example.com"),
          ("us-east-1", "https://all.example.com"),
          ("eu-west-1", "https://arn.example.com")
        )
    )
    assert(of("clicks").credentials == DefaultChain)
    of("orders").credentials match {
      case AssumeRole(`role`, _, Some("x"), None, DefaultChain) => ()
      case other => fail(s"$other")
    }
  }

  // Each way of naming a stream, with each form of the role and of its external ID.
  private val stream = StreamRef.parse(arn).collect { case known: StreamRef.ByArn => known }.get
  private val selections = Seq[(String, Seq[(String, String)], Options => CredentialSettings)](
    ("by name", Nil, Connection.clientSettings(_, Some(StreamRef.ByName("orders"))).credentials),
    ("by ARN", Nil, Connection.clientSettings(_, Some(stream)).credentials),
    ("by a pattern", Seq("streamPattern" -> "o.*"), joined(_, PhysicalStream(stream))),
    ("as a logical stream", Seq("streamId" -> "all"), joined(_, PhysicalStream(stream))),
    (
      "as a logical stream that is written",
      Seq("streamId" -> "all"),
      Connection.clientSettings(_, Some(stream), None, None).credentials
    )
  )
  private def joined(options: Options, physical: PhysicalStream): CredentialSettings =
    Connection.of(options, physical, None).client(Connection.joining(options, "us-east-1")).credentials

  private val hub = "arn:aws:iam::123456789012:role/hub"
  for {
    (way, set, credentialsOf) <- selections
    general <- Seq(Nil, Seq(hub), Seq(hub, "arn:aws:iam::123456789012:role/second"))
    own <- Seq(Nil, Seq(role), Seq(hub, role))
    generalId <- Seq(None, Some("general-id"))
    ownId <- Seq(None, Some("own-id"))
  } test(s"$way: roles ${general.size} and ${own.size} of its own, ids $generalId and $ownId of its own") {
    val options = Options.read(
      Map("region" -> "eu-west-1") ++ set ++
        Option.when(general.nonEmpty)("roleArn" -> general.mkString(",")) ++
        Option.when(own.nonEmpty)("roleArn.orders" -> own.mkString(", ")) ++
        generalId.map("roleExternalId" -> _) ++ ownId.map("roleExternalId.orders" -> _)
    )
    val roles = if (own.nonEmpty) own else general
    val expected = roles.foldLeft[CredentialSettings](DefaultChain) { (base, each) =>
      AssumeRole(each, "spark-kinesis", if (each == roles.last) ownId.orElse(generalId) else None, None, base)
    }
    assert(credentialsOf(options) == expected)
  }

  private val ofDocument = PhysicalStream(stream, role = Some(role))
  private val allowing =
    Seq("streamId" -> "all", "metadataAllowedAccounts" -> "123456789012", "roleExternalId" -> "general-id")

  test("a role of a document does not get the external ID of the options") {
    val options = this.options(allowing :+ ("metadataAllowedRoles" -> role): _*)
    assert(joined(options, ofDocument) == AssumeRole(role, "spark-kinesis", None, None, DefaultChain))
    assert(joined(options, ofDocument.copy(externalId = Some("of-document"))) ==
      AssumeRole(role, "spark-kinesis", Some("of-document"), None, DefaultChain))
  }

  test("a stream of an earlier run's document is not reached with a role that is not allowed any more") {
    val options = this.options(allowing :+ ("metadataAllowedRoles" -> hub): _*)
    val error = intercept[KinesisConnectorException](Connection.of(options, ofDocument, None))
    assert(error.condition == "KINESIS_METADATA_FORBIDDEN")
    assert(error.getMessage.contains("metadataAllowedRoles"), error.getMessage)
  }

  test("a class of the user gets its options, and they need the class") {
    val set = Seq("credentialsProvider" -> "my.Keys", "credentialsProvider.path" -> "p")
    assert(settings(set: _*).credentials == SuppliedBy("my.Keys", Map("path" -> "p")))
  }

  test("the endpoint of one stream is checked like the general endpoint") {
    val failure = intercept[KinesisConnectorException](settings("endpoint.orders" -> "http://192.0.2.1:4567"))
    assert(failure.condition == "KINESIS_OPTION_INVALID")
  }

  test("an option for a stream that is not read is an error that suggests the nearest name") {
    val set = options("endpoint.order" -> "https://one.example.com")
    val failure = intercept[KinesisConnectorException](
      Connection.checkStreams(set, Seq(StreamRef.ByName("orders"), StreamRef.ByName("clicks")))
    )
    assert(failure.condition == "KINESIS_OPTION_UNKNOWN")
    assert(failure.getMessage.contains("'endpoint.orders'"), failure.getMessage)
    Connection.checkStreams(set, Seq(StreamRef.ByName("order")))
  }

  Seq(
    "http://localhost:4567",
    "http://127.0.0.1:4567",
    "http://127.5.5.5:4567",
    "http://[::1]:4567",
    "https://kinesis.example.com"
  ).foreach(address =>
    test(s"$address is accepted")(assert(settings("endpoint" -> address).endpoint == Some(address)))
  )

  test("plain http to a Security Token Service is accepted on loopback, or with allowInsecureEndpoint") {
    def stsOf(set: (String, String)*) = settings(set :+ ("roleArn" -> role): _*).credentials match {
      case assumed: AssumeRole => assumed.stsEndpoint
      case other => fail(s"$other")
    }
    assert(stsOf("stsEndpoint" -> "http://127.0.0.1:4567") == Some("http://127.0.0.1:4567"))
    val address = "http://sts.example.com"
    assert(stsOf("stsEndpoint" -> address, "allowInsecureEndpoint" -> "true") == Some(address))
  }

  test("plain http to another host requires allowInsecureEndpoint") {
    val address = "http://kinesis.example.com"
    assert(settings("endpoint" -> address, "allowInsecureEndpoint" -> "true").endpoint == Some(address))
  }

  private def refused(name: String, condition: String, mentions: String, set: (String, String)*): Unit =
    test(s"refused: $name") {
      val error = intercept[KinesisConnectorException] {
        Connection.streams(options(set: _*))
        settings(set: _*)
      }
      assert(error.condition == condition)
      assert(error.getMessage.contains(mentions), error.getMessage)
      assert(!error.getMessage.contains("hidden-secret"), "a secret is in the message")
    }

  private val orders = "streamName" -> "orders"
  refused("no stream", "KINESIS_OPTION_MISSING", "streamName")
  refused("a name and an ARN", "KINESIS_OPTION_CONFLICT", "streamARN", orders, "streamARN" -> arn)
  refused("a name and a pattern", "KINESIS_OPTION_CONFLICT", "streamPattern", orders, "streamPattern" -> "o.*")
  refused("an access key alone", "KINESIS_OPTION_MISSING", "awsSecretKey", orders, "awsAccessKey" -> "AK")
  refused("a secret key alone", "KINESIS_OPTION_MISSING", "awsAccessKey", orders, "awsSecretKey" -> "hidden-secret")
  refused(
    "keys and a profile",
    "KINESIS_OPTION_CONFLICT",
    "profile",
    orders,
    "awsAccessKey" -> "AK",
    "awsSecretKey" -> "hidden-secret",
    "profile" -> "dev"
  )
  refused(
    "plain http elsewhere",
    "KINESIS_OPTION_INVALID",
    "endpoint",
    orders,
    "endpoint" -> "http://kinesis.example.com"
  )
  refused(
    "plain http to a Security Token Service on another host",
    "KINESIS_OPTION_INVALID",
    "stsEndpoint",
    orders,
    "roleArn" -> role,
    "stsEndpoint" -> "http://sts.example.com"
  )
  refused(
    "a host name that only starts like localhost",
    "KINESIS_OPTION_INVALID",
    "endpoint",
    orders,
    "endpoint" -> "http://127.0.0.1.example.com"
  )
}
