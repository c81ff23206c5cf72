package org.sparkkinesis.aws.http

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CompletableFuture, CountDownLatch, Executors, RejectedExecutionException, TimeUnit}

import org.sparkkinesis.suite.TimedSuite

class BoundedExecutorSuite extends TimedSuite {
  private def within(body: java.util.concurrent.ExecutorService => Unit): Unit = {
    val threads = Executors.newCachedThreadPool(DaemonThreads.named("test"))
    try body(threads)
    finally {
      threads.shutdownNow()
      ()
    }
  }

  test("no more tasks run at the same time than the limit, and all run") {
    within { threads =>
      val executor = new BoundedExecutor(3, threads)
      val (running, most) = (new AtomicInteger, new AtomicInteger)
      val tasks = (1 to 200).map(_ =>
        CompletableFuture.runAsync(
          () => {
            most.accumulateAndGet(running.incrementAndGet(), math.max)
            Thread.`yield`()
            running.decrementAndGet()
            ()
          },
          executor
        )
      )
      CompletableFuture.allOf(tasks: _*).get(30, TimeUnit.SECONDS)
      assert(most.get <= 3)
    }
  }

  test("as many tasks as the limit run at the same time") {
    within { threads =>
      val executor = new BoundedExecutor(3, threads)
      val together = new CountDownLatch(3)
      val tasks = (1 to 3).map(_ =>
        CompletableFuture.supplyAsync(
          () => {
            together.countDown()
            together.await(30, TimeUnit.SECONDS)
          },
          executor
        )
      )
      tasks.foreach(task => assert(task.get(30, TimeUnit.SECONDS)))
    }
  }

  test("a task that fails is reported, and the next tasks run") {
    val failed = new CompletableFuture[Throwable]
    val threads = Executors.newCachedThreadPool { task =>
      val thread = new Thread(task)
      thread.setDaemon(true)
      thread.setUncaughtExceptionHandler { (_, error) => failed.complete(error); () }
      thread
    }
    try {
      val executor = new BoundedExecutor(1, threads)
      val error = new IllegalStateException("test")
      executor.execute(() => throw error)
      val next = CompletableFuture.supplyAsync(() => "done", executor)
      assert(next.get(30, TimeUnit.SECONDS) == "done")
      assert(failed.get(30, TimeUnit.SECONDS) eq error)
    } finally threads.shutdownNow()
  }

  test("a task that no thread accepts is refused and does not count") {
    within { threads =>
      var accepts = false
      val executor = new BoundedExecutor(
        1,
        task => if (accepts) threads.execute(task) else throw new RejectedExecutionException
      )
      intercept[RejectedExecutionException](executor.execute(() => ()))
      accepts = true
      assert(CompletableFuture.supplyAsync(() => 1, executor).get(30, TimeUnit.SECONDS) == 1)
    }
  }
}
