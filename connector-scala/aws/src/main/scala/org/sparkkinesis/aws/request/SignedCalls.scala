package org.sparkkinesis.aws.request

import java.net.URI
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.concurrent.duration.FiniteDuration

import io.netty.buffer.ByteBuf
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider}

import org.sparkkinesis.aws.error.UnsentCall
import org.sparkkinesis.aws.http.RunningCall
import org.sparkkinesis.aws.transport.{AnswerHead, AnswerReader, HttpTransport, Signature, Target, TimeLimit}
import org.sparkkinesis.concurrent.{AbortableFuture, Futures}

/**
 * Makes calls that have one request and one answer, over the connector's own transport. They are not retried.
 * Thread-safe.
 *
 * @param service
 *   name of the service in signatures
 * @param transport
 *   not owned
 * @param credentials
 *   not owned
 * @param timeout
 *   maximum time of a call, including the time to get credentials
 * @param caller
 *   the `User-Agent`
 */
final private[aws] class SignedCalls(
    service: String,
    region: String,
    transport: HttpTransport,
    credentials: IdentityProvider[AwsCredentialsIdentity],
    clock: SigningClock,
    timeout: FiniteDuration,
    caller: String
) {
  private val signature = new Signature(service, region, caller)

  /**
   * Makes a call. `cancel` requests its end, and the future completes when the service can receive nothing more of it.
   *
   * @param target
   *   version of the API and operation
   */
  def make[A](
      endpoint: URI,
      target: String,
      content: RequestContent,
      reader: AnswerReader[A]
  ): CompletableFuture[A] = {
    val limit = new TimeLimit(timeout)
    def send(identity: AwsCredentialsIdentity): AbortableFuture[A] = transport.send(
      signature.sign(
        identity,
        clock.current.instant,
        Target.of(endpoint),
        Signature.pathOf(endpoint),
        content.contentType,
        target,
        content.bytes,
        content.length
      ),
      new Dated(reader),
      limit
    )
    val identity = credentials.resolveIdentity()
    if (identity.isDone && !identity.isCompletedExceptionally) send(identity.join)
    else {
      val running = new RunningCall
      val result = new AbortableFuture[A](() => running.cancel())
      Futures.forward(
        running.step(unsent(known(identity, limit))).thenCompose[A](found => running.step(send(found))),
        result
      )
      result
    }
  }

  private def unsent[A](step: CompletableFuture[A]): CompletableFuture[A] =
    step.exceptionallyCompose(error => CompletableFuture.failedFuture(new UnsentCall(Futures.unwrap(error))))

  private def known(
      identity: CompletableFuture[_ <: AwsCredentialsIdentity],
      limit: TimeLimit
  ): CompletableFuture[AwsCredentialsIdentity] = identity
    .thenApply[AwsCredentialsIdentity](found => found)
    .orTimeout(timeout.toNanos, TimeUnit.NANOSECONDS)
    .exceptionallyCompose { error =>
      CompletableFuture.failedFuture(Futures.unwrap(error) match {
        case late: TimeoutException if late.getMessage == null => limit.exceeded("There were no credentials")
        case other => other
      })
    }

  /** Tells the clock of signatures what time the service has. */
  final private class Dated[A](reader: AnswerReader[A]) extends AnswerReader[A] {
    override def begin(head: AnswerHead): Unit = {
      clock.answered(head)
      reader.begin(head)
    }
    override def content(bytes: ByteBuf): Unit = reader.content(bytes)
    override def end(): A = reader.end()
  }
}
