package org.sparkkinesis.aws.request

import java.time.{Clock, Instant}
import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, ResolveIdentityRequest}

import org.sparkkinesis.service.ServiceErrorKind._
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class CallerIdentitySuite extends TimedSuite {
  private class Source(changes: Boolean, changesForSts: Boolean) extends RenewableCredentials {
    var renewals = 0
    var renews = true
    var accessKeyId = "first"
    override def canChange(isOfSts: Boolean): Boolean = if (isOfSts) changesForSts else changes
    override def renew(seen: Int): Boolean = {
      val isRenewed = seen != renewals || renews
      if (seen == renewals && renews) renewals += 1
      isRenewed
    }
    override def identityType: Class[AwsCredentialsIdentity] = classOf[AwsCredentialsIdentity]
    override def resolveIdentity(request: ResolveIdentityRequest): CompletableFuture[AwsCredentialsIdentity] =
      CompletableFuture.failedFuture(new UnsupportedOperationException)
    override def close(): Unit = ()
  }

  private class Rig(changes: Boolean = true, changesForSts: Boolean = true) {
    val source = new Source(changes, changesForSts)
    val clock = new SigningClock(Clock.systemUTC)
    var nanos = 0L
    val identity = new CallerIdentity(source, clock, () => nanos)

    /** The kind of the error, and whether the call is repeated. */
    def judge(code: String, text: String = "no", operation: Operation = Operation.GetRecords)(
        begun: CallerIdentity.Begun = identity.begin()
    ): (ServiceErrorKind, Boolean) = {
      val judged =
        identity.judge(new ServiceException(AccessDenied, operation, code, text), begun)
      (judged.error.kind, judged.mayRepeat)
    }
  }

  for (code <- Seq("ExpiredTokenException", "ExpiredToken")) {
    test(s"$code: of several calls that are refused with the same credentials, all are repeated with the next ones") {
      val rig = new Rig
      val begun = rig.identity.begin()
      assert((1 to 4).map(_ => rig.judge(code)(begun)) == Seq.fill(4)((StaleIdentity, true)))
      assert(rig.source.renewals == 1)
    }

    test(s"$code: while the source gives the same credentials, the failure stays temporary") {
      val rig = new Rig
      rig.source.renews = false
      rig.nanos += 1.hour.toNanos
      assert(rig.judge(code)() == ((StaleIdentity, false)))
    }

    test(s"$code: credentials that cannot change end the query") {
      assert(new Rig(changes = false).judge(code)() == ((AccessDenied, false)))
    }
  }

  test("the base credentials of a role decide about a refusal by the Security Token Service") {
    val code = "ExpiredToken"
    assert(new Rig(changesForSts = false).judge(code, operation = Operation.AssumeRole)() == ((AccessDenied, false)))
    assert(new Rig(changes = false).judge(code, operation = Operation.AssumeRole)() == ((StaleIdentity, true)))
  }

  for (code <- Seq("UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException"))
    test(s"$code: an unknown key is given up after a minute, and another one gets its own minute") {
      val rig = new Rig
      rig.source.renews = false
      assert(rig.judge(code)() == ((StaleIdentity, false)))
      rig.nanos += 59.seconds.toNanos
      assert(rig.judge(code)() == ((StaleIdentity, false)))
      rig.nanos += 1.second.toNanos
      assert(rig.judge(code)() == ((AccessDenied, false)))
      rig.source.accessKeyId = "second"
      assert(rig.judge(code)() == ((StaleIdentity, false)))
      assert(new Rig(changes = false).judge(code)() == ((AccessDenied, false)))
    }

  test("a source that gives an unknown key again and again is given up after a minute") {
    val rig = new Rig
    val kinds = (0 to 40).map { _ =>
      rig.nanos += 2.seconds.toNanos
      rig.judge("UnrecognizedClientException")()._1
    }
    assert(kinds.span(_ == StaleIdentity) == ((Seq.fill(30)(StaleIdentity), Seq.fill(11)(AccessDenied))))
  }

  test("a key that was accepted meanwhile has a minute again") {
    val rig = new Rig
    rig.judge("UnrecognizedClientException")()
    rig.nanos += 1.hour.toNanos
    assert(rig.judge("UnrecognizedClientException")() == ((StaleIdentity, true)))
  }

  for (
    (code, text) <- Seq(
      "InvalidSignatureException" -> "The request signature we calculated does not match",
      "SignatureDoesNotMatch" -> "Signature expired: 20260203T040506Z is now earlier than 20260203T041506Z",
      "RequestTimeTooSkewed" -> "no"
    )
  ) test(s"$code, $text: all calls that began before a correction of the clock are repeated") {
    val rig = new Rig(changes = false, changesForSts = false)
    val begun = rig.identity.begin()
    rig.clock.answered(Instant.now().plusSeconds(3600))
    assert((1 to 3).map(_ => rig.judge(code, text)(begun)) == Seq.fill(3)((StaleIdentity, true)))
  }

  test("a wrong time that no answer corrects stays temporary, and a wrong secret does not") {
    val rig = new Rig(changes = false)
    assert(rig.judge("InvalidSignatureException", "Signature not yet current: x")() == ((StaleIdentity, false)))
    assert(rig.judge("InvalidSignatureException", "does not match")() == ((AccessDenied, false)))
  }

  test("a missing permission is final, whatever has changed meanwhile") {
    val rig = new Rig
    val begun = rig.identity.begin()
    rig.clock.answered(Instant.now().plusSeconds(3600))
    rig.source.renew(begun.renewals)
    assert(rig.judge("AccessDeniedException")(begun) == ((AccessDenied, false)))
  }
}
