package org.sparkkinesis.spark.coordinator.cluster

import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue, TimeUnit}

import scala.concurrent.duration._

import org.scalactic.source

import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.suite.TimedSuite

class BackgroundLoopSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 30.seconds

  private val never = 3600 * 1000L
  private def testWithRounds(name: String)(body: LinkedBlockingQueue[Boolean] => Any)(implicit
      position: source.Position
  ): Unit = test(name)(body(new LinkedBlockingQueue[Boolean]))

  private def next[A <: AnyRef](queue: LinkedBlockingQueue[A]): A = {
    val found = queue.poll(20, TimeUnit.SECONDS)
    assert(found != null, "no round within 20 s")
    found
  }

  testWithRounds("the first wake starts a round, and nothing runs before it") { seen =>
    val loop = new BackgroundLoop(new SystemScheduler("loop", 1), never, fail(_))(due => seen.put(due))
    try {
      assert(seen.isEmpty)
      loop.wake()
      assert(seen.take() == false)
    } finally loop.close()
  }

  testWithRounds("several wakes during a round start one more round") { seen =>
    val (inRound, goOn) = (new CountDownLatch(1), new CountDownLatch(1))
    val loop = new BackgroundLoop(new SystemScheduler("loop", 1), never, fail(_))({ due =>
      seen.put(due)
      if (seen.size == 1) {
        inRound.countDown()
        goOn.await()
      }
    })
    try {
      loop.wake()
      inRound.await()
      (1 to 5).foreach(_ => loop.wake())
      goOn.countDown()
      while (seen.size < 2) Thread.onSpinWait()
      loop.wake()
      while (seen.size < 3) Thread.onSpinWait()
      assert(seen.size == 3)
    } finally loop.close()
  }

  test("other tasks of the scheduler run between two rounds, also if every round requests another one") {
    val (scheduler, ran) = (new SystemScheduler("loop", 1), new CountDownLatch(1))
    lazy val loop: BackgroundLoop = new BackgroundLoop(scheduler, never, fail(_))(_ => loop.wake())
    try {
      loop.wake()
      scheduler.execute(() => ran.countDown())
      assert(ran.await(20, TimeUnit.SECONDS))
    } finally loop.close()
  }

  testWithRounds("a round runs and is due after the period, without a wake") { seen =>
    val loop = new BackgroundLoop(new SystemScheduler("loop", 1), 20, fail(_))(due => seen.put(due))
    try {
      loop.wake()
      assert(Iterator.continually(seen.take()).find(identity) == Some(true))
    } finally loop.close()
  }

  testWithRounds("a round can request another round, which is not due") { seen =>
    lazy val loop: BackgroundLoop = new BackgroundLoop(new SystemScheduler("loop", 1), never, fail(_))({ due =>
      seen.put(due)
      loop.wakeIn(1)
    })
    try {
      loop.wake()
      assert(Seq.fill(3)(seen.take()) == Seq.fill(3)(false))
    } finally loop.close()
  }

  test("closing interrupts a blocked round and reports no failure") {
    val failures = new LinkedBlockingQueue[Throwable]
    val (blocked, ended) = (new CountDownLatch(1), new CountDownLatch(1))
    val loop = new BackgroundLoop(new SystemScheduler("loop", 1), never, failure => failures.put(failure))(_ =>
      try {
        blocked.countDown()
        new CountDownLatch(1).await()
      } finally ended.countDown()
    )
    loop.wake()
    blocked.await()
    loop.close()
    ended.await()
    assert(failures.isEmpty)
  }

  Seq[Throwable](new IllegalStateException("broken"), new NoClassDefFoundError("missing")).foreach { error =>
    test(s"a round that fails with ${error.getClass.getSimpleName} reports the error") {
      val failures = new LinkedBlockingQueue[Throwable]
      val loop =
        new BackgroundLoop(new SystemScheduler("loop", 1), never, failure => failures.put(failure))(_ => throw error)
      loop.wake()
      assert(next(failures) == error)
      loop.close()
    }
  }

  test("a loop that is closed before its first wake never runs") {
    val ran = new CountDownLatch(1)
    val loop = new BackgroundLoop(new SystemScheduler("loop", 1), never, fail(_))(_ => ran.countDown())
    loop.close()
    loop.wake()
    assert(ran.getCount == 1L)
  }

  private def fail(error: Throwable): Unit = throw new AssertionError("the loop failed", error)
}
