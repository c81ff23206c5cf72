package org.sparkkinesis.spark.connection

import java.net.URI
import java.util.Locale

import scala.util.Try

/** The addresses of AWS. */
private[connection] object AwsHosts {
  private val Domains = Seq(".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".api.amazonwebservices.com.cn")

  /**
   * Returns what tells the service at an endpoint from others: an empty text for AWS, with whatever name, else the
   * endpoint.
   */
  def serviceAt(endpoint: String): String = {
    val host = Try(URI.create(endpoint).getHost).toOption.flatMap(Option(_)).fold("")(_.toLowerCase(Locale.ROOT))
    if (Domains.exists(host.endsWith)) "" else endpoint
  }
}
