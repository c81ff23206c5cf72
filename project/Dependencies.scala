import sbt._

/** Every version that the build pins, in one place. */
object Dependencies {

  /** The Spark that the line of this build is compiled against; `-DsparkVersion=…` chooses another. */
  val spark: String = sys.props.getOrElse("sparkVersion", SparkLine.current.spark)
  val awsSdk = "2.57.8"

  /** The Netty line that the AWS SDK above is built with; the emulator uses the same. */
  val netty = "4.1.138.Final"

  /** The Jackson that Spark 4.2 ships, so that tests run on what the build compiles against. */
  val jackson = "2.21.2"

  val jacksonCore = "com.fasterxml.jackson.core" % "jackson-core" % jackson
  val jacksonCbor = "com.fasterxml.jackson.dataformat" % "jackson-dataformat-cbor" % jackson excludeAll
    ExclusionRule("com.fasterxml.jackson.core", "jackson-databind")

  /** What Scala 2.12 lacks of the collections of 2.13. */
  val collectionCompat = "org.scala-lang.modules" %% "scala-collection-compat" % "2.13.0"
  val slf4j = "org.slf4j" % "slf4j-api" % "2.0.17"

  val scalaTest: Seq[ModuleID] = Seq(
    "org.scalatest" %% "scalatest" % "3.2.20",
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0"
  )

  /** Measures in the unit tests what objects take in memory. */
  val objectLayout = "org.openjdk.jol" % "jol-core" % "0.17" % Test

  /** Checks the rules on packages in the unit tests. */
  val archUnit = ("com.tngtech.archunit" % "archunit" % "1.4.2" % Test).excludeAll(ExclusionRule("org.slf4j"))

  /** The SDK's synchronous clients use this project's own HTTP client. */
  private val unusedHttpClients = Seq("apache-client", "apache5-client", "url-connection-client")

  /** Connections through a proxy. The classes for SOCKS are not used. */
  private val nettyProxy = ("io.netty" % "netty-handler-proxy" % netty).excludeAll(ExclusionRule(
    "io.netty",
    "netty-codec-socks"
  ))

  private val awsModules = Seq("kinesis", "firehose", "sts", "sso", "ssooidc", "signin", "netty-nio-client")

  val aws: Seq[ModuleID] = nettyProxy +: awsModules.map { name =>
    val unused = unusedHttpClients.map(ExclusionRule("software.amazon.awssdk", _))
    ("software.amazon.awssdk" % name % awsSdk).excludeAll(unused :+ ExclusionRule("org.slf4j"): _*)
  }

  /** A synchronous HTTP client of the SDK, for tests and benchmarks that use the SDK's clients. */
  val apacheClient = ("software.amazon.awssdk" % "apache5-client" % awsSdk)
    .excludeAll(ExclusionRule("org.slf4j"))

  /** A synchronous HTTP client that the benchmarks compare with. */
  val urlConnection = ("software.amazon.awssdk" % "url-connection-client" % awsSdk)
    .excludeAll(ExclusionRule("org.slf4j"))

  /** The libraries in the jar that obtain loggers; a test checks that there is no other one. */
  val logging: Seq[ModuleID] = (awsModules ++ Seq("auth", "aws-core", "profiles", "regions", "sdk-core", "utils"))
    .map("software.amazon.awssdk" % _ % awsSdk) :+ "io.netty" % "netty-common" % netty

  val nettyServer: Seq[ModuleID] =
    Seq("netty-codec-http", "netty-codec-http2", "netty-handler").map("io.netty" % _ % netty)

  /** Leaves unused code out of the published jar. A tool of the build only. */
  val proguard = "com.guardsquare" % "proguard-base" % "7.7.0"
  val eventStream = "software.amazon.eventstream" % "eventstream" % "1.0.1"
  val sparkSql = "org.apache.spark" %% "spark-sql" % spark

  /** For those who have Docker. Spark brings its own Jackson. */
  val localStack: ModuleID = ("org.testcontainers" % "testcontainers-localstack" % "2.0.5" % "test")
    .excludeAll(ExclusionRule("com.fasterxml.jackson.core"))

  /** For DynamoDB Local's telemetry: off, but its classes are loaded. Not every mirror has the versions it wants. */
  private val telemetry = Seq("cognitoidentity", "cognitoidentityprovider", "pinpoint")

  /** KCL 3, and DynamoDB Local to keep its leases in. */
  val kinesisClientLibrary: Seq[ModuleID] = Seq(
    "software.amazon.kinesis" % "amazon-kinesis-client" % "3.5.1",
    ("software.amazon.dynamodb" % "DynamoDBLocal" % "3.3.1")
      .excludeAll((telemetry :+ "dynamodb-enhanced").map(ExclusionRule("software.amazon.awssdk", _)): _*)
  ) ++ telemetry.map("software.amazon.awssdk" % _ % "2.41.0")

  private val flinkVersion = "1.19.3"

  /** Flink's connector with its old source, its new one and its sink, and the Flink that it is made for. */
  val flinkConnector: Seq[ModuleID] = Seq(
    "org.apache.flink" % "flink-connector-kinesis" % "4.3.0-1.19",
    "org.apache.flink" % "flink-streaming-java" % flinkVersion,
    "org.apache.flink" % "flink-clients" % flinkVersion,
    "org.apache.flink" % "flink-connector-base" % flinkVersion
  )

  private val flinkOfSourcesVersion = "2.0.0"

  /** The Flink that the sources of the connector are made for, and the libraries that the connector calls. */
  val flinkOfSources: Seq[ModuleID] =
    Seq("flink-streaming-java", "flink-clients", "flink-connector-base", "flink-table-api-java-bridge")
      .map("org.apache.flink" % _ % flinkOfSourcesVersion) ++
      Seq("kinesis", "sts", "netty-nio-client", "apache-client", "arns").map("software.amazon.awssdk" % _ % awsSdk)

  /** Hazelcast Jet with its Kinesis connector. */
  val jetConnector: Seq[ModuleID] =
    Seq("com.hazelcast" % "hazelcast" % "5.6.0", "com.hazelcast.jet" % "hazelcast-jet-kinesis" % "5.6.0")
}
