package org.sparkkinesis.spark.table

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.config.value.{Loopback, SecretResolver}
import org.sparkkinesis.config.{ConnectionOptions, MetadataOptions, Options}
import org.sparkkinesis.secret.SecretReference

/** Finds secrets that Spark shows or stores, although they could be references. Used in the driver. */
object SecretWarnings {

  /** Resolves references with the properties of the session that runs a query. */
  val resolver: SecretResolver = new SecretResolver(property = key => session.flatMap(_.conf.getOption(key)))

  /**
   * Returns one text for each problem. The keys of an emulator on this machine are no secrets.
   *
   * @param properties
   *   the options of a table or of a read or write, as Spark gives them
   */
  def of(options: Options, properties: Map[String, String]): Seq[String] =
    if (isLocal(options)) Nil
    else {
      val where = Seq(
        Option.when(isCatalogTable(properties))(
          "the catalog stores the options of a table, and DESCRIBE, SHOW CREATE " +
            "TABLE and the event log may show them"
        ),
        Option.when(isConnect)("Spark writes the messages of Spark Connect to the event log and to the UI, and does " +
          "not redact them")
      ).flatten
      literals(options, where).toSeq ++ shownProperties(options)
    }

  private def literals(options: Options, where: Seq[String]): Option[String] = {
    val names = options.literalSecrets
    Option.when(names.nonEmpty && where.nonEmpty) {
      val (these, are) =
        if (names.size == 1) ("The option", "contains a secret") else ("The options", "contain secrets")
      s"$these ${names.mkString("'", "', '", "'")} $are in clear text: ${where.mkString(". Also, ")}. Set " +
        "each of them to a reference, which the driver resolves: 'env:NAME' of a variable, 'file:PATH', " +
        "'conf:spark.some.secret.key', or 'class:NAME' of a java.util.function.Supplier<String>."
    }
  }

  private def shownProperties(options: Options): Seq[String] = {
    val hidden = session.flatMap(_.conf.getOption(RedactionRegex)).getOrElse(DefaultRegex).r
    options.secretReferences.toSeq.sortBy(_._1).collect {
      case (name, SecretReference.Property(key)) if hidden.findFirstIn(key).isEmpty =>
        s"Option '$name' takes a secret from the property '$key', which Spark shows in clear text in the UI and the " +
          s"event log, because its name does not match $RedactionRegex. Use a name with 'secret' in it."
    }
  }

  private def isLocal(options: Options): Boolean = {
    val endpoint =
      options.get(ConnectionOptions.endpoint).flatMap(address => Option(java.net.URI.create(address).getHost))
    endpoint.exists(Loopback.isHost) && !options.isSet(MetadataOptions.metadataToken)
  }

  /** Spark keeps the options of a table in its properties with this prefix, and adds the options without it. */
  private def isCatalogTable(properties: Map[String, String]): Boolean =
    properties.keysIterator.exists(_.startsWith("option."))

  /** Whether a Spark Connect server runs the calling thread for a client. */
  private def isConnect: Boolean =
    StackWalker.getInstance().walk(frames =>
      frames.anyMatch(_.getClassName.startsWith("org.apache.spark.sql.connect."))
    )

  private def session: Option[SparkSession] = SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession)

  private val RedactionRegex = "spark.redaction.regex"
  private val DefaultRegex = "(?i)secret|password|token|access[.]?key"
}
