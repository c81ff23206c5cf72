package org.sparkkinesis.config.value

import java.net.URI

import scala.util.Try

import org.sparkkinesis.secret.Redaction

/** Address of the service that names the physical streams of a logical stream. */
sealed trait MetadataAddress {

  /** The value of the option. */
  def text: String = toString
}

object MetadataAddress {

  /** A file of any file system that Spark's Hadoop configuration knows. */
  final case class File(path: String) extends MetadataAddress {
    override def toString: String = if (path.startsWith("file:")) path else s"file:$path"
  }

  /** A REST service. `toString` lacks the query, which may have a token. */
  final case class Http(uri: URI) extends MetadataAddress {
    override def text: String = uri.toString
    override def toString: String = Redaction.ofOption(isSensitive = false, text)
  }

  /** A class of the user. */
  final case class OfClass(name: String) extends MetadataAddress {
    override def toString: String = s"class:$name"
  }

  private val ClassName = "class:([\\w.$]+)".r
  private val Expected = "file: and a path, an https:// address (http:// for loopback addresses only), or class: and " +
    "the name of a class"

  val optionType: OptionType.Parsed[MetadataAddress] =
    OptionType.Parsed[MetadataAddress](Expected, _.text)(text => parse(text.trim))

  private def parse(text: String): Either[String, MetadataAddress] = text match {
    case ClassName(name) => Right(OfClass(name))
    case _ if text.startsWith("http://") || text.startsWith("https://") => http(text)
    // The path of another file system follows the prefix; a local one may also be a file: URI itself.
    case _ if text.startsWith("file:") && text.length > "file:".length =>
      val path = text.stripPrefix("file:")
      Right(File(if (path.startsWith("//")) text else path))
    case _ => Left("It is none of the accepted forms.")
  }

  private def http(text: String): Either[String, MetadataAddress] = Try(URI.create(text)).toOption match {
    case Some(uri) if uri.getHost == null => Left("The address has no host.")
    case Some(uri) if uri.getRawUserInfo != null || uri.getRawFragment != null =>
      Left("The address must not have a user name or a fragment.")
    case Some(uri) if uri.getScheme == "http" && !Loopback.isHost(uri.getHost) =>
      Left("Plain http to another host could be changed on the way.")
    case Some(uri) => Right(Http(uri))
    case None => Left("It is not an address.")
  }
}
