package org.sparkkinesis.aws.client

import software.amazon.awssdk.core.SdkSystemSetting

/** Encoding of requests and answers. Subscriptions are always JSON. */
sealed private[aws] trait RequestEncoding {

  /** Builds clients of the SDK with this encoding. */
  def build[A](clients: => A): A
}

private[aws] object RequestEncoding {

  /** The default. Payloads are bytes, so that it needs less CPU time and network than JSON. */
  case object Cbor extends RequestEncoding {
    override def build[A](clients: => A): A = RequestEncoding.synchronized(clients)
  }

  /**
   * All endpoints support it, as far as known. A client of the SDK reads the encoding from a system property when it is
   * built, and has no setting of its own for it.
   */
  case object Json extends RequestEncoding {
    override def build[A](clients: => A): A = RequestEncoding.synchronized {
      val before = Option(System.getProperty(Property))
      System.setProperty(Property, "false")
      try clients
      finally {
        before.fold(System.clearProperty(Property))(System.setProperty(Property, _))
        ()
      }
    }
  }

  private val Property = SdkSystemSetting.CBOR_ENABLED.property

  /** The encoding that the system property `aws.cborEnabled` or the environment variable `CBOR_ENABLED` chooses. */
  def ofJvm: RequestEncoding =
    RequestEncoding.synchronized(if (SdkSystemSetting.CBOR_ENABLED.getBooleanValueOrThrow) Cbor else Json)
}
