/** What Spark 4 needs of the JVM; the list that `spark-submit` itself passes. */
object JavaOptions {
  private val opened = Seq(
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar"
  )

  val forSpark: Seq[String] =
    Seq(
      "-XX:+IgnoreUnrecognizedVMOptions",
      "-Djdk.reflect.useDirectMethodHandle=false",
      "-Dio.netty.tryReflectionSetAccessible=true"
    ) ++
      opened.map(name => s"--add-opens=java.base/$name=ALL-UNNAMED")
}
