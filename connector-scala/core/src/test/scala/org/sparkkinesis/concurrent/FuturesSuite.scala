package org.sparkkinesis.concurrent

import java.io.{IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException}

import org.sparkkinesis.suite.TimedSuite

class FuturesSuite extends TimedSuite {
  private def inside(cause: Throwable): Throwable = new RuntimeException("outer", new IOException("inner", cause))

  private def failureOf(future: CompletableFuture[_]): Throwable =
    intercept[ExecutionException](future.get()).getCause

  test("the wrappers of futures are removed") {
    val failure = new IOException("for this test")
    assert(Futures.unwrap(new ExecutionException(new CompletionException(failure))) eq failure)
    assert(Futures.unwrap(failure) eq failure)
  }

  test("a call that throws is a failed future, unless the error is fatal") {
    val failure = new IOException("for this test")
    val done = CompletableFuture.completedFuture(1)
    assert(Futures.attempt(done) eq done)
    assert(failureOf(Futures.attempt[Int](throw failure)) eq failure)
    intercept[InterruptedException](Futures.attempt[Int](throw new InterruptedException))
  }

  test("a future is completed with the result or the failure of another one") {
    val failure = new IOException("for this test")
    val (good, bad, target, other) =
      (new CompletableFuture[Int], new CompletableFuture[Int], new CompletableFuture[Int], new CompletableFuture[Int])
    Futures.forward(good, target)
    Futures.forward(bad, other)
    assert(!target.isDone && !other.isDone)
    good.complete(1)
    bad.completeExceptionally(failure)
    assert(target.join() == 1)
    assert(failureOf(other) eq failure)
  }

  test("an interrupt is found at any depth of a failure") {
    val interrupt = new InterruptedException
    assert(Futures.interruptOf(interrupt).contains(interrupt))
    assert(Futures.interruptOf(inside(interrupt)).contains(interrupt))
    Seq(new ClosedByInterruptException, new InterruptedIOException).foreach(cause =>
      assert(Futures.interruptOf(inside(cause)).exists(_.getCause eq cause))
    )
  }

  test("other failures, time limits of sockets, and cycles of causes are no interrupts") {
    val (one, other) = (new RuntimeException("one"), new RuntimeException("other"))
    one.initCause(other)
    other.initCause(one)
    Seq(inside(null), inside(new SocketTimeoutException), one).foreach(failure =>
      assert(Futures.interruptOf(failure).isEmpty)
    )
  }
}
