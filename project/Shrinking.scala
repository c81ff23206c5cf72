import java.io.File
import java.nio.{ByteBuffer, ByteOrder}

import scala.sys.process.{Process, ProcessLogger}

import sbt._
import sbt.Keys._
import sbtassembly.AssemblyPlugin.autoImport._

/**
 * Leaves out what nothing in the jar uses, with ProGuard: it neither renames nor rewrites code. All classes of this
 * project stay. The relocated libraries lose the classes and members that nothing refers to, so that the operations
 * that the connector does not call go with their requests and answers. Netty's classes keep most members.
 */
object Shrinking {
  private val Shrinker = config("shrinker").hide

  /** @param spark the project that has Spark on its class path */
  def settings(shaded: String, spark: Project): Seq[Setting[_]] = Seq(
    ivyConfigurations += Shrinker,
    libraryDependencies += Dependencies.proguard % Shrinker,
    assembly / assemblyOutputPath := target.value / "complete" / (assembly / assemblyJarName).value,
    assembly := {
      val complete = assembly.value
      val shrunk = target.value / complete.getName
      val options = target.value / "shrinker.options"
      val provided = (spark / Compile / externalDependencyClasspath).value.files
      IO.writeLines(options, files(complete, shrunk, provided) ++ rules(shaded))
      val shrinker = update.value.select(configurationFilter(Shrinker.name))
      val run = FileFunction.cached(streams.value.cacheDirectory / "shrinker", FilesInfo.hash, FilesInfo.exists) { _ =>
        shrink(shrinker, options)
        setTimes(shrunk)
        Set(shrunk)
      }
      run(Set(complete, options)).head
    }
  )

  private def files(complete: File, shrunk: File, libraries: Seq[File]): Seq[String] =
    Seq("-injars " + quoted(complete), "-outjars " + quoted(shrunk)) ++
      libraries.map(jar => "-libraryjars " + quoted(jar)) :+
      s"-libraryjars ${quoted(file(sys.props("java.home")) / "jmods")}(!**.jar;!module-info.class)"

  private def quoted(path: File): String = "'" + path.getAbsolutePath + "'"

  private def rules(shaded: String): Seq[String] = {
    val sdk = s"$shaded.software.amazon.awssdk"
    val netty = s"$shaded.io.netty"
    Seq(
      "-dontoptimize",
      "-dontobfuscate",
      "-dontnote",
      "-dontwarn",
      // Without the names of local variables, which only debuggers read.
      "-keepattributes Exceptions,InnerClasses,EnclosingMethod,NestHost,NestMembers,PermittedSubclasses,Record," +
        "Signature,SourceFile,LineNumberTable,RuntimeVisible*Annotations,AnnotationDefault,Scala*",
      s"-keep class !$shaded.**,org.sparkkinesis.** { *; }",
      "-keep class org.apache.spark.sparkkinesis.**,org.apache.spark.sql.sparkkinesis.** { *; }",
      // Netty finds members by reflection: methods of handlers, offsets of fields, methods that a leak report omits.
      s"-keepclassmembers class $netty.buffer.**,$netty.util.** { *; }",
      s"-keepclassmembers class $netty.** { <fields>; public <init>(); }",
      s"-keepclassmembers class * implements $netty.channel.ChannelHandler { *; }",
      "-keepclassmembers enum ** { public static **[] values(); public static ** valueOf(java.lang.String); }",
      // What the SDK loads by name: its HTTP clients, and the credentials of profiles and web identities.
      s"-keep class $sdk.http.nio.netty.NettySdkAsyncHttpService { *; }",
      s"-keep class $sdk.http.auth.aws.eventstream.HttpAuthAwsEventStream { *; }",
      s"-keep class $sdk.services.**ProviderFactory { *; }"
    )
  }

  private def shrink(shrinker: Seq[File], options: File): Unit = {
    val java = file(sys.props("java.home")) / "bin" / "java"
    val command = Seq(
      java.getPath,
      "-Xmx1g",
      "-cp",
      shrinker.mkString(File.pathSeparator),
      "proguard.ProGuard",
      "@" + options.getAbsolutePath
    )
    val said = new StringBuilder
    if (Process(command) ! ProcessLogger(line => said.append(line).append('\n')) != 0)
      sys.error(s"ProGuard failed with the options of $options:\n$said")
  }

  /** Sets the time of each entry to that of sbt-assembly's entries, so that equal classes give equal jars. */
  private def setTimes(jar: File): Unit = {
    val bytes = ByteBuffer.wrap(IO.readBytes(jar)).order(ByteOrder.LITTLE_ENDIAN)
    def short(at: Int) = java.lang.Short.toUnsignedInt(bytes.getShort(at))
    val end = bytes.capacity - 22 // The record at the end of an archive without a comment.
    var entry = bytes.getInt(end + 16)
    (0 until short(end + 10)).foreach { _ =>
      bytes.putInt(entry + 12, Year2010)
      bytes.putInt(bytes.getInt(entry + 42) + 10, Year2010)
      entry += 46 + short(entry + 28) + short(entry + 30) + short(entry + 32)
    }
    IO.write(jar, bytes.array)
  }

  /** The first of January, in MS-DOS's format of time and date. */
  private val Year2010 = ((30 << 9) | (1 << 5) | 1) << 16
}
