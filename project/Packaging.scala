import com.eed3si9n.jarjarabrams.{ShadeRule => Rule}
import com.github.sbt.sbom.BomSbtPlugin.autoImport._
import com.typesafe.tools.mima.core._
import com.typesafe.tools.mima.plugin.MimaPlugin.autoImport._
import sbt._
import sbt.Keys._
import sbtassembly.AssemblyPlugin.autoImport._

/**
 * Builds the two published jars: the connector's, and the emulator's for tests. Libraries that conflict with Spark's
 * are relocated, each jar's to a package of its own, so that one class path may have both jars. Unused parts are left
 * out.
 */
object Packaging {
  private val shaded = "org.sparkkinesis.shaded"
  private val shadedForEmulator = "org.sparkkinesis.emulator.shaded"

  private val relocated = Seq(
    "software.amazon.awssdk",
    "software.amazon.eventstream",
    "io.netty",
    "org.reactivestreams",
    "com.fasterxml.jackson"
  ) ++ SparkLine.addedPackages

  /** Parts of Netty that neither the AWS SDK's client nor the emulator's server loads. */
  private val unusedNetty = Seq(
    "handler/codec/http/cors",
    "handler/codec/http/multipart",
    "handler/codec/http/websocketx",
    "handler/codec/json",
    "handler/codec/marshalling",
    "handler/codec/protobuf",
    "handler/codec/rtsp",
    "handler/codec/serialization",
    "handler/codec/spdy",
    "handler/codec/string",
    "handler/codec/xml",
    "handler/ipfilter",
    "handler/pcap",
    "handler/traffic",
    "handler/proxy/Socks"
  )

  private val firehose = s"${shaded.replace('.', '/')}/software/amazon/awssdk/services/firehose/"

  /** @param spark the project that has Spark on its class path */
  def connector(spark: Project): Seq[Setting[_]] = jar("spark-kinesis", shaded, Seq(quietLibraries)) ++ Seq(
    description := "Amazon Kinesis Data Streams for Spark Structured Streaming"
  ) ++ Shrinking.settings(shaded, spark) ++ compatibility

  lazy val emulator: Seq[Setting[_]] = jar("spark-kinesis-emulator", shadedForEmulator, Nil) ++ Seq(
    description := "An emulator of Amazon Kinesis Data Streams for tests"
  )

  private def jar(artifact: String, shaded: String, rules: Seq[Rule]): Seq[Setting[_]] = Seq(
    name := artifact,
    moduleName := s"$artifact${SparkLine.current.suffix}",
    versionScheme := Some("early-semver"),
    crossPaths := false,
    assembly / assemblyJarName := s"${moduleName.value}-${version.value}.jar",
    assembly / assemblyOutputPath := target.value / (assembly / assemblyJarName).value,
    assembly / test := {},
    assemblyPackageScala / assembleArtifact := false,
    assembly / assemblyShadeRules :=
      rules ++ relocated.map(name => ShadeRule.rename(s"$name.**" -> s"$shaded.$name.@1").inAll) ++
        SparkLine.addedClasses.map(name => ShadeRule.rename(s"$name*" -> s"$shaded.$name@1").inAll),
    assembly / assemblyMergeStrategy := {
      case PathList("META-INF", "licenses", _*) => MergeStrategy.singleOrError
      case PathList("META-INF", "LICENSE" | "NOTICE") => MergeStrategy.preferProject
      // ThirdPartyLicenses has put these into META-INF/licenses.
      case PathList("META-INF", name) if name.matches("([A-Za-z-]+-)?(LICENSE|NOTICE)(\\.txt)?") =>
        MergeStrategy.discard
      case PathList("META-INF", "versions" | "native-image" | "maven", _*) => MergeStrategy.discard
      case PathList("META-INF", "services", "reactor.blockhound.integration.BlockHoundIntegration") =>
        MergeStrategy.discard
      case PathList("META-INF", "io.netty.versions.properties") => MergeStrategy.discard
      // Versions of the modules, and classes that load others ahead for a snapshot of a JVM.
      case PathList("META-INF", "software.amazon.awssdk", _*) => MergeStrategy.discard
      case PathList("META-INF", "services", name) if name.endsWith("SdkWarmUpProvider") => MergeStrategy.discard
      case PathList("module-info.class") => MergeStrategy.discard
      // Sources of the SDK's own build, and the types of files that other services store.
      case path
          if Seq("VersionInfo.java", "VersionInfo.java.vm", "mime.types", "region/endpoints.json")
            .exists(path.endsWith) => MergeStrategy.discard
      // Of the SDK's client for Firehose only the endpoint rules are used.
      case path if path.startsWith(firehose) && !path.startsWith(s"${firehose}endpoints/") => MergeStrategy.discard
      case PathList("scala-collection-compat.properties") => MergeStrategy.discard
      case path if unusedNetty.exists(part => path.startsWith(s"${shaded.replace('.', '/')}/io/netty/$part")) =>
        MergeStrategy.discard
      case path => (assembly / assemblyMergeStrategy).value(path)
    }
  ) ++ publishing ++ ThirdPartyLicenses.settings

  /** The loggers of the libraries do not write below INFO, where they log session tokens and signatures. */
  private lazy val quietLibraries =
    ShadeRule.rename("org.slf4j.LoggerFactory" -> "org.sparkkinesis.aws.logging.QuietLoggerFactory")
      .inLibrary(Dependencies.logging: _*)

  /** The classes whose signatures stay compatible within a minor version are those of the published jar. */
  private lazy val compatibility: Seq[Setting[_]] = Seq(
    // When 0.1.0 is released: Set(organization.value % moduleName.value % "0.1.0"), and so on for each later release.
    mimaPreviousArtifacts := Set.empty,
    mimaCurrentClassfiles := assembly.value,
    mimaBinaryIssueFilters += ProblemFilters.exclude[Problem](s"$shaded.*")
  )

  /** The jar is the main artifact, and its pom names no dependency: `--packages` fetches one file. */
  private lazy val publishing: Seq[Setting[_]] = Seq(
    Compile / resourceGenerators += Def.task {
      Seq("LICENSE", "NOTICE").map { name =>
        val copy = (Compile / resourceManaged).value / "META-INF" / name
        IO.copyFile((ThisBuild / baseDirectory).value / name, copy)
        copy
      }
    }.taskValue,
    // Software bill of materials (CycloneDX): target/NAME_2.13-VERSION.bom.json, and in the jar.
    Compile / resourceGenerators += Def.task {
      val copy = (Compile / resourceManaged).value / "META-INF" / "sbom" / s"${name.value}.cdx.json"
      IO.copyFile(makeBom.value, copy)
      Seq(copy)
    }.taskValue,
    Compile / packageBin := assembly.value,
    Compile / packageDoc / publishArtifact := false,
    Compile / packageSrc / publishArtifact := false,
    pomPostProcess := withoutDependencies,
    publishMavenStyle := true,
    publishConfiguration := publishConfiguration.value.withOverwrite(true),
    publishTo :=
      sys.props.get("publishTo").map(folder => Resolver.file("folder", file(folder))(Resolver.mavenStylePatterns)),
    publish / skip := false
  )

  private def withoutDependencies(pom: scala.xml.Node): scala.xml.Node = pom match {
    case project: scala.xml.Elem => project.copy(child = project.child.filterNot(_.label == "dependencies"))
    case other => other
  }
}
