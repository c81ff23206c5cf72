package org.sparkkinesis.aws.error

import java.io.IOException
import java.net.{ConnectException, NoRouteToHostException, UnknownHostException}
import java.util.concurrent.{CompletionException, TimeoutException}

import software.amazon.awssdk.awscore.exception.{AwsErrorDetails, AwsServiceException}
import software.amazon.awssdk.core.exception.{ApiCallTimeoutException, SdkClientException}
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.service.ServiceErrorKind._
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class ErrorClassificationSuite extends TimedSuite {
  private def ofService(builder: AwsServiceException.Builder, code: String, status: Int): AwsServiceException =
    builder
      .awsErrorDetails(
        AwsErrorDetails.builder().errorCode(code).errorMessage("message of the service").serviceName("Kinesis").build()
      )
      .statusCode(status)
      .requestId("r-1")
      .build()

  private val byCode: Seq[(String, Int, ServiceErrorKind)] = Seq(
    ("ProvisionedThroughputExceededException", 400, Throttled),
    ("ThrottlingException", 400, Throttled),
    ("KMSThrottlingException", 400, Throttled),
    ("LimitExceededException", 400, LimitExceeded),
    ("ResourceInUseException", 400, ResourceInUse),
    ("ResourceNotFoundException", 400, ResourceNotFound),
    ("ExpiredIteratorException", 400, ExpiredIterator),
    ("ExpiredNextTokenException", 400, ExpiredNextToken),
    ("InvalidArgumentException", 400, InvalidArgument),
    ("ValidationException", 400, InvalidArgument),
    ("SerializationException", 400, InvalidArgument),
    ("UnknownOperationException", 404, InvalidArgument),
    ("AccessDeniedException", 400, AccessDenied),
    ("UnrecognizedClientException", 400, AccessDenied),
    ("InvalidSignatureException", 400, AccessDenied),
    ("ExpiredTokenException", 400, AccessDenied),
    ("MissingAuthenticationTokenException", 400, AccessDenied),
    ("IncompleteSignatureException", 400, AccessDenied),
    ("KMSDisabledException", 400, KeyUnavailable),
    ("KMSInvalidStateException", 400, KeyUnavailable),
    ("KMSAccessDeniedException", 400, KeyUnavailable),
    ("KMSNotFoundException", 400, Encryption),
    ("KMSOptInRequired", 400, Encryption),
    ("InternalFailure", 500, Internal),
    ("InternalFailureException", 500, Internal),
    ("ServiceUnavailable", 503, Internal),
    ("SomethingNew", 500, Internal),
    ("SomethingNew", 502, Internal),
    ("SomethingNew", 504, Internal),
    ("SomethingNew", 403, AccessDenied),
    ("SomethingNew", 429, Throttled),
    ("SomethingNew", 400, InvalidArgument),
    // An error in an event stream has no status.
    ("SomethingNew", 0, Internal)
  )

  for ((code, status, kind) <- byCode) test(s"$code with status $status is $kind") {
    val error = ErrorClassification.classify(Operation.GetRecords, ofService(KinesisException.builder(), code, status))
    assert(error.kind == kind)
    assert(error.errorCode == code)
    assert(error.operation == Operation.GetRecords)
    assert(error.getMessage.contains("message of the service") && error.getMessage.contains("r-1"), error.getMessage)
  }

  private val byClass: Seq[(String, Throwable, ServiceErrorKind)] = Seq(
    ("a lost connection", SdkClientException.create("failed", new IOException("Connection reset")), Network),
    ("a bare I/O error", new IOException("broken pipe"), Network),
    ("a call timeout", ApiCallTimeoutException.create(1000), Network),
    (
      "an exhausted connection pool",
      SdkClientException.create(
        "x",
        new Throwable("Acquire", new java.util.concurrent.TimeoutException("Acquire operation took longer"))
      ),
      Network
    ),
    (
      "Netty's read timeout",
      SdkClientException.create("x", io.netty.handler.timeout.ReadTimeoutException.INSTANCE),
      Network
    ),
    ("an unknown host", SdkClientException.create("x", new UnknownHostException("nowhere")), Network),
    (
      "a TLS handshake that nobody answers",
      SdkClientException.create("x", new io.netty.handler.ssl.SslHandshakeTimeoutException("timed out after 5000ms")),
      Network
    ),
    (
      "a certificate that is not trusted",
      SdkClientException.create("x", new javax.net.ssl.SSLHandshakeException("PKIX path building failed")),
      Client
    ),
    ("missing credentials", SdkClientException.create("Unable to load credentials from any of the providers"), Client),
    ("a defect", new IllegalStateException("oops"), Client)
  )

  for ((what, failure, kind) <- byClass) test(s"$what is $kind, at any depth of causes") {
    assert(
      ErrorClassification.classify(
        Operation.GetRecords,
        new CompletionException(new CompletionException(failure))
      ).kind ==
        kind
    )
  }

  /** Failures of a call, and whether the service may have done what it asked for. */
  private val effects: Seq[(String, Throwable, Boolean)] =
    byClass.filter(_._3 == Network).map { case (what, failure, _) => (what, failure, !unconnected(what)) } ++
      Seq(500, 502, 503, 504).map(status => (s"status $status", answer(status), true)) ++
      Seq(400, 403, 407, 408, 425, 429).map(status => (s"status $status", answer(status), false)) ++
      Seq[(String, Throwable, Boolean)](
        ("a refused connection", SdkClientException.create("x", new ConnectException("Connection refused")), false),
        ("a host without a route", new NoRouteToHostException("No route to host"), false),
        ("a request that was not sent", new UnsentCall(new TimeoutException("no free connection")), false)
      )

  private def unconnected: Set[String] = Set("an unknown host", "a TLS handshake that nobody answers")

  private def answer(status: Int): Throwable = ofService(KinesisException.builder(), s"HTTP $status", status)

  for ((what, failure, mayBeDone) <- effects)
    test(s"$what means that the service ${if (mayBeDone) "may have" else "has not"} done what a call asked for") {
      val error = ErrorClassification.classify(Operation.PutRecords, new CompletionException(failure))
      assert(error.mayBeDone == mayBeDone, error)
      assert(!error.getMessage.contains("UnsentCall"))
    }

  test("every error code that the SDK models is listed in the classification") {
    val modelled = Seq(
      LimitExceededException.builder(),
      ValidationException.builder(),
      InvalidArgumentException.builder(),
      AccessDeniedException.builder(),
      KmsOptInRequiredException.builder(),
      ProvisionedThroughputExceededException.builder(),
      ExpiredIteratorException.builder(),
      KmsInvalidStateException.builder(),
      KmsDisabledException.builder(),
      KmsThrottlingException.builder(),
      ResourceInUseException.builder(),
      KmsAccessDeniedException.builder(),
      KmsNotFoundException.builder(),
      ExpiredNextTokenException.builder(),
      InternalFailureException.builder(),
      ResourceNotFoundException.builder()
    ).map(_.build().getClass.getSimpleName)
    // The SDK capitalizes only the first letter of KMS.
    modelled.map(_.replaceFirst("^Kms", "KMS")).foreach { code =>
      assert(ErrorClassification.ofCode(code, 400) == ErrorClassification.ofCode(code, 503), code)
    }
  }

  test("an error without an answer is named once, and by its cause if the HTTP client has wrapped it") {
    def classified(error: Throwable): ServiceException = ErrorClassification.classify(Operation.PutRecords, error)
    assert(classified(new IOException("Connection refused")).getMessage ==
      "PutRecords: IOException: Connection refused")
    assert(classified(new IOException).getMessage == "PutRecords: IOException: no message")
    val wrapped = new Throwable("Acquire operation took longer", new java.util.concurrent.TimeoutException)
    assert(classified(wrapped).getMessage == "PutRecords: TimeoutException: Acquire operation took longer")
  }

  test("a classified exception is returned unchanged") {
    val error = new ServiceException(ExpiredIterator, Operation.GetRecords, "ExpiredIteratorException", "old")
    assert(ErrorClassification.classify(Operation.ListShards, new CompletionException(error)) eq error)
  }
}
