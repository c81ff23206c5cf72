package org.sparkkinesis.config

import java.nio.charset.StandardCharsets

import scala.util.Using

/** The version of this jar, which the build writes into it. */
object ConnectorVersion {
  val text: String = Using.resource(getClass.getResourceAsStream("connector.version")) { stream =>
    new String(stream.readAllBytes(), StandardCharsets.UTF_8)
  }
}
