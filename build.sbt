import Dependencies._

ThisBuild / organization := "org.sparkkinesis"
ThisBuild / version := Version.read(file("python/src/spark_kinesis/_version.py"))
ThisBuild / scalaVersion := SparkLine.current.scala
ThisBuild / semanticdbEnabled := SparkLine.current.isDefault
ThisBuild / semanticdbVersion := "4.14.2"
ThisBuild / licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0"))

// The suites of two projects run at the same time, each in a JVM of its own: many tests wait for Spark's triggers.
Global / concurrentRestrictions := Seq(
  Tags.limitAll(EvaluateTask.SystemProcessors),
  Tags.limit(Tags.ForkedTestGroup, 2),
  Tags.exclusiveGroup(Tags.Clean)
)

lazy val common = SparkLine.settings ++ Seq(
  Compile / doc / sources := Nil,
  javacOptions ++= Seq("--release", "17", "-Xlint:all,-processing,-serial", "-Werror"),
  libraryDependencies += archUnit,
  Test / fork := true,
  Test / testForkedParallel := false,
  Test / logBuffered := false,
  // The duration of each test, and short stack traces.
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDS"),
  Test / javaOptions ++= JavaOptions.forSpark ++ Seq("-Xmx2g", "-Dfile.encoding=UTF-8")
)

/** The base classes of all suites, on ScalaTest. */
lazy val suite = testProject("suite").settings(libraryDependencies ++= scalaTest)

def module(name: String): Project =
  Project(name, file(s"connector-scala/$name")).settings(common).dependsOn(suite % Test)

lazy val root = project
  .in(file("."))
  .aggregate(suite, kit, core, aws, spark, firehose, emulator, connector, emulatorJar)
  .aggregate(conformance, integration, chaos, simulation, bench, peer)
  .settings(publish / skip := true)

/** Pure Scala: neither Spark nor the AWS SDK is on its class path. */
lazy val core =
  module("core").settings(
    libraryDependencies ++= Seq(jacksonCore, objectLayout, slf4j % Provided),
    // The driver and the executors tell each other which jar they have.
    Compile / resourceGenerators += Def.task {
      val file = (Compile / resourceManaged).value / "org" / "sparkkinesis" / "config" / "connector.version"
      IO.write(file, version.value)
      Seq(file)
    }
  )

/** The implementation of core's service port on the AWS SDK. */
lazy val aws = module("aws").dependsOn(
  core % "compile->compile;test->test",
  emulator % "test->compile;test->test"
).settings(libraryDependencies ++= Dependencies.aws :+ (slf4j % Provided), bufferLeaks)

/** The Data Source V2 connector. */
lazy val spark = module("spark").dependsOn(aws, core % "compile->compile;test->test")
  .settings(SparkLine.ofConnector, libraryDependencies += sparkSql % Provided)

/** The sink for Amazon Data Firehose, on what the Kinesis sink consists of. */
lazy val firehose = module("firehose")
  .dependsOn(spark, core % "compile->compile;test->test", emulator % Test)
  .settings(libraryDependencies += sparkSql % Provided)

/** An in-process Kinesis that enforces the service's quotas. */
lazy val emulator = module("emulator")
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    libraryDependencies ++= nettyServer ++ Seq(eventStream, jacksonCbor, slf4j % Provided),
    bufferLeaks
  )

/** Netty notes every buffer that is not released. */
lazy val bufferLeaks = Test / javaOptions ++= Seq(
  "-Dio.netty.leakDetection.level=paranoid",
  "-Dio.netty.customResourceLeakDetector=org.sparkkinesis.emulator.kit.BufferLeakDetector"
)

/** The one jar that a query needs: the source and the sinks, with their dependencies relocated. */
lazy val connector = module("connector").dependsOn(spark, firehose).settings(Packaging.connector(spark))

/** The emulator for the tests of users: a jar of its own, which runs without the connector's. */
lazy val emulatorJar = Project("emulatorJar", file("connector-scala/emulator-jar"))
  .settings(common).dependsOn(emulator).settings(Packaging.emulator)

def testProject(name: String): Project =
  Project(name, file(s"tests/$name")).settings(common, publish / skip := true)

/** The emulator against the API model, golden vectors and other emulators, through the AWS SDK. */
lazy val conformance =
  testProject("conformance").dependsOn(emulator, aws, suite % Test)
    .settings(libraryDependencies ++= Seq(sparkSql % Test, apacheClient % Test))

/** What the projects below share: processes, and the language of the tests of streams. */
lazy val kit = testProject("kit")
  .dependsOn(spark, firehose, emulator, suite % Test)
  .settings(libraryDependencies += sparkSql)

/** The connector in Spark, local and on a cluster, against the emulator. */
lazy val integration = testProject("integration")
  .dependsOn(spark % "compile->compile;test->test", kit, suite % Test, conformance % "test->test")
  .settings(libraryDependencies ++= Seq(sparkSql, localStack, apacheClient % Test))

/** Kills, throttles, outages, resharding: counts every record in and out. */
lazy val chaos = testProject("chaos")
  .dependsOn(kit, suite % Test)
  .settings(Launching.settings, libraryDependencies += sparkSql)

/** The suites that run with other versions of Spark. By name only, because `tests/versions/run` starts them. */
lazy val versions = testProject("versions")
  .dependsOn(integration % "test->test", chaos % "test->test")
  .settings(SuiteFiles.settings(suite))

/** The real reading side on virtual time, against a model of the service and of Spark's micro-batches, by seeds. */
lazy val simulation = testProject("simulation")
  .dependsOn(spark, kit, core % "compile->test", suite % Test)
  .settings(Launching.settings, libraryDependencies += sparkSql)

/** What the benchmarks and the other engines' programs share. */
lazy val peer = project.in(file("bench/peers/common")).settings(common, publish / skip := true)

/** The program of another engine, which only `bench/run peers` builds, so that nothing else downloads the engine. */
def peerProject(name: String): Project = peerProject(name, name)
def peerProject(name: String, folder: String): Project =
  Project(s"peer${name.capitalize}", file(s"bench/peers/$folder"))
    .settings(common, Launching.settings, publish / skip := true)
    .dependsOn(peer)

lazy val peerFlink = peerProject("flink").settings(sharedWithFlink, libraryDependencies ++= flinkConnector)
lazy val sharedWithFlink = Compile / unmanagedSourceDirectories += file("bench/peers/flink/shared").getAbsoluteFile

/** The connector of a checkout of Flink's sources, which `-Dflink.sources=PATH` names. */
lazy val peerFlinkSources = peerProject("flinkSources", "flink-sources").settings(
  sharedWithFlink,
  libraryDependencies ++= flinkOfSources,
  // The checkout's sources cause warnings.
  Compile / javacOptions := Nil,
  Compile / unmanagedSourceDirectories ++= sys.props.get("flink.sources").toSeq.flatMap { checkout =>
    Seq("flink-connector-aws/flink-connector-aws-kinesis-streams", "flink-connector-aws-base")
      .map(module => file(checkout) / module / "src" / "main" / "java")
  }
)
lazy val peerJet = peerProject("jet").settings(libraryDependencies ++= jetConnector)
lazy val peerKcl =
  peerProject("kcl").settings(SqliteLibrary.settings(Runtime), libraryDependencies ++= kinesisClientLibrary)

/** Benchmarks; each main prints one JSON object on its last line. */
lazy val bench = project
  .in(file("bench"))
  .dependsOn(kit, peer, core % "compile->test")
  .settings(common, Launching.settings, publish / skip := true)
  .settings(libraryDependencies ++= Seq(sparkSql, apacheClient, urlConnection))

def interopProject(name: String, folder: String): Project =
  Project(name, file(s"tests/interop/$folder"))
    .settings(common, publish / skip := true)
    .dependsOn(suite % Test)

/** What the two below share. They run by name only, so that nothing else has to download their dependencies. */
lazy val interop = interopProject("interop", "common").dependsOn(emulator)

/** The Kinesis Client Library 3 against the emulator and the connector's sink. */
lazy val kcl = interopProject("kcl", "kcl")
  .dependsOn(interop, spark)
  .settings(SqliteLibrary.settings(Test), libraryDependencies ++= kinesisClientLibrary.map(_ % Test) :+ sparkSql)

/** Flink's connector against the emulator. */
lazy val flink = interopProject("flink", "flink").dependsOn(interop)
  .settings(libraryDependencies ++= flinkConnector.map(_ % Test))
