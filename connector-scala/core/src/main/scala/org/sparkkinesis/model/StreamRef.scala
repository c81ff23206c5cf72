package org.sparkkinesis.model

import scala.util.matching.Regex

/** A stream, by name in the caller's own account and region, or by ARN. */
sealed trait StreamRef {
  def name: String

  /** What the service calls are made with: the ARN where it is known. */
  def arn: Option[String]
  override def toString: String = arn.getOrElse(name)
}

object StreamRef {
  final case class ByName(name: String) extends StreamRef {
    def arn: Option[String] = None
  }

  final case class ByArn(value: String, region: String, account: String, name: String) extends StreamRef {
    def arn: Option[String] = Some(value)
  }

  private val NamePattern: Regex = "[a-zA-Z0-9_.-]{1,128}".r
  private val ArnPattern: Regex = """arn:aws[^:]*:kinesis:([^:]+):(\d{12}):stream/([a-zA-Z0-9_.-]{1,128})""".r

  /** Reads a stream name or a stream ARN; `None` when it is neither. */
  def parse(text: String): Option[StreamRef] = text match {
    case ArnPattern(region, account, name) => Some(ByArn(text, region, account, name))
    case NamePattern() => Some(ByName(text))
    case _ => None
  }
}
