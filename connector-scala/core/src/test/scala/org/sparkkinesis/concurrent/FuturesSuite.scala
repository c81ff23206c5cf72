package org.sparkkinesis.concurrent

import java.io.{IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.util.concurrent.{CompletionException, ExecutionException}

import org.sparkkinesis.suite.TimedSuite

class FuturesSuite extends TimedSuite {
  private def inside(cause: Throwable): Throwable = new RuntimeException("outer", new IOException("inner", cause))

  test("the wrappers of futures are removed") {
    val failure = new IOException("for this test")
    assert(Futures.unwrap(new ExecutionException(new CompletionException(failure))) eq failure)
    assert(Futures.unwrap(failure) eq failure)
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
