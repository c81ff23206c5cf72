package org.sparkkinesis.model

import scala.util.matching.Regex

/** Reference to a stream: its name, in the caller's account and region, or its ARN. */
sealed trait StreamRef {
  def name: String

  /** The ARN for service calls, if it is known. */
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

  /** Parses a stream name or a stream ARN. Returns `None` if `text` is neither. */
  def parse(text: String): Option[StreamRef] = text match {
    case ArnPattern(region, account, name) => Some(ByArn(text, region, account, name))
    case NamePattern() => Some(ByName(text))
    case _ => None
  }
}
