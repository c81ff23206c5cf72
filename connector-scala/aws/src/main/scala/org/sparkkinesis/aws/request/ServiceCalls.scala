package org.sparkkinesis.aws.request

import java.util.concurrent.CompletableFuture

import scala.util.control.NonFatal

import org.sparkkinesis.aws.error.ErrorClassification
import org.sparkkinesis.aws.http.RunningCall
import org.sparkkinesis.concurrent.AbortableFuture
import org.sparkkinesis.service.Operation

/**
 * Makes the calls of one client: it classifies failures, and repeats a call once if it may succeed with other
 * credentials or another time. Futures fail only with [[org.sparkkinesis.service.ServiceException]]. Thread-safe.
 */
final private[aws] class ServiceCalls(identity: CallerIdentity) {

  /**
   * Makes a call and converts its answer. An error of `convert` fails the call, also one of the JVM, which would
   * otherwise be lost in a callback.
   */
  def call[R, A](operation: Operation)(send: => CompletableFuture[R])(convert: R => A): CompletableFuture[A] = {
    val result = new CompletableFuture[A]
    complete[R, A](result, operation, () => send, convert, isFirst = true)
    result
  }

  /**
   * Makes a call that `cancel` ends. Its future completes when the service can receive nothing more of the call.
   *
   * @param send
   *   returns a future that keeps the same promise
   */
  def abortable[R, A](operation: Operation)(send: => CompletableFuture[R])(convert: R => A): CompletableFuture[A] = {
    val running = new RunningCall
    val result = new AbortableFuture[A](() => running.cancel())
    complete[R, A](result, operation, () => running.step(send), convert, isFirst = true)
    result
  }

  private def complete[R, A](
      result: CompletableFuture[A],
      operation: Operation,
      send: () => CompletableFuture[R],
      convert: R => A,
      isFirst: Boolean
  ): Unit = {
    val begun = identity.begin()
    def failed(failure: Throwable): Unit = {
      val judged = identity.judge(ErrorClassification.classify(operation, failure), begun)
      if (isFirst && judged.mayRepeat) complete(result, operation, send, convert, isFirst = false)
      else {
        result.completeExceptionally(judged.error)
        ()
      }
    }
    def failing(body: => Unit): Unit =
      try body
      catch {
        case NonFatal(error) => failed(error)
        case fatal: Throwable =>
          result.completeExceptionally(ErrorClassification.classify(operation, fatal))
          throw fatal
      }
    failing {
      send().whenComplete { (answer, failure) =>
        if (failure != null) failed(failure)
        else
          failing {
            result.complete(convert(answer))
            ()
          }
      }
      ()
    }
  }
}
