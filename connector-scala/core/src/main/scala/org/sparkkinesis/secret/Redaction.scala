package org.sparkkinesis.secret

import java.net.URLEncoder
import java.nio.charset.StandardCharsets

import scala.collection.immutable.Queue
import scala.util.matching.Regex

/**
 * Decides what is shown of options, of errors and of log lines. Texts keep everything but their secrets: what an option
 * or a credentials provider gave this process, and what has the form of a secret. The Python package has the same
 * patterns, which are generated from these.
 */
object Redaction {

  /** Replaces a secret. */
  val Hidden = "*********(redacted)"

  /**
   * Forms of secrets in any text, as regular expressions that Java and Python read alike. The first group is what stays
   * before the secret.
   */
  val patterns: Seq[String] = Seq(
    // User name and password before the host of a URL.
    "(//)[^/@\\s?#]+(?=@)",
    // The value of a URL's parameter whose name says that it is a secret.
    "(?i)([?&](?:[^=&#\\s]*(?:token|secret|passw|signature|credential|api[-_]?key|access[-_]?key|auth)[^=&#\\s]*" +
      "|sig|key|code|pwd)=)[^&#\\s'\"]+",
    // Headers and fields of signed requests, and of answers with credentials, in the forms of text, JSON and XML.
    "(?i)((?:x-amz-security-token|security-?token|session-?token|secret-?access-?key|access-?key-?id|x-amz-signature|" +
      "x-amz-credential|\\bsignature|\\bcredential)[\"']?\\s*[:=>]\\s*[\"']?)[^\\s\"'<>,;&]+",
    "(?i)(bearer\\s+)(?=\\S*[0-9])[a-z0-9._~+/=-]{8,}",
    "(\\b(?:AKIA|ASIA))[A-Z0-9]{12,}"
  )

  /** The query of a URL that is the value of an option, because any of its parameters may be a token. */
  val query: String = "^(https?://[^?#]+\\?)[^#]+"

  /** Values that are remembered, and the texts that stand for them, longest first. */
  @volatile private var known = Set.empty[String]
  @volatile private var longestFirst = Seq.empty[String]
  private var oldestFirst = Queue.empty[String]
  private val MostKnown = 1000

  private val formed: Seq[Regex] = patterns.map(_.r)
  private val ofUrl: Regex = query.r

  /**
   * Hides this value wherever a text repeats it. A value that could be an ordinary word or a number is not remembered,
   * because texts would become unreadable.
   */
  def remember(secret: String): Unit = if (isUnusual(secret) && !known(secret)) synchronized {
    oldestFirst = oldestFirst.drop(oldestFirst.size + 1 - MostKnown) :+ secret
    known = oldestFirst.toSet
    longestFirst = oldestFirst.flatMap(one => Seq(one, URLEncoder.encode(one, StandardCharsets.UTF_8))).distinct
      .sortBy(-_.length)
  }

  /** Returns the text without the secrets in it. */
  def text(text: String): String =
    if (text == null) text else longestFirst.foldLeft(formed.foldLeft(text)(hide))(_.replace(_, Hidden))

  /** Returns what is shown of the value of an option. A reference is shown, because it is no secret. */
  def ofOption(isSensitive: Boolean, value: String): String =
    if (!isSensitive) text(hide(value, ofUrl)) else if (SecretReference.isReference(value)) value else Hidden

  /** Remembers the values of the parameters of a URL. */
  def rememberQuery(url: String): Unit = url.indexOf('?') match {
    case -1 => ()
    case at => url.drop(at + 1).split('&').foreach(parameter => remember(parameter.split("=", 2).last))
  }

  /**
   * Returns the failure, or if a message of it or of its causes has a secret, a copy without the secret that names the
   * class of the original.
   */
  def failure(original: Throwable): Throwable = if (isClean(original, MaxDepth)) original else copy(original, MaxDepth)

  private val MaxDepth = 16

  private def isClean(failure: Throwable, depth: Int): Boolean = failure == null || depth == 0 || {
    val message = failure.getMessage
    text(message) == message && isClean(failure.getCause, depth - 1) &&
    failure.getSuppressed.forall(isClean(_, depth - 1))
  }

  private def copy(failure: Throwable, depth: Int): Throwable = if (failure == null || depth == 0) null
  else {
    val copied =
      new RedactedFailure(failure.getClass.getName, text(failure.getMessage), copy(failure.getCause, depth - 1))
    copied.setStackTrace(failure.getStackTrace)
    failure.getSuppressed.foreach(other => Option(copy(other, depth - 1)).foreach(copied.addSuppressed))
    copied
  }

  private def hide(text: String, secret: Regex): String =
    secret.replaceAllIn(text, found => Regex.quoteReplacement(found.group(1) + Hidden))

  private def isUnusual(secret: String): Boolean = secret.length >= 20 ||
    (secret.length >= 8 && secret.exists(_.isLetter) && secret.exists(_.isDigit))
}

/** Stands for a failure whose message contained a secret. `toString` names the class of the original. */
final class RedactedFailure(original: String, message: String, cause: Throwable)
    extends RuntimeException(message, cause) {
  override def toString: String = if (message == null) original else s"$original: $message"
}
