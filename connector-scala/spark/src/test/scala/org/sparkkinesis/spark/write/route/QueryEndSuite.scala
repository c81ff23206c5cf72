package org.sparkkinesis.spark.write.route

import java.util.UUID
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.apache.spark.sql.sparkkinesis.QueryEvents
import org.apache.spark.{SparkConf, SparkContext}
import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.suite.TimedSuite

class QueryEndSuite extends TimedSuite with BeforeAndAfterAll {
  private lazy val context = new SparkContext(
    new SparkConf().setMaster("local[1]").setAppName("query-end").set("spark.ui.enabled", "false")
      .set("spark.driver.bindAddress", "127.0.0.1").set("spark.driver.host", "127.0.0.1")
  )

  override def afterAll(): Unit = context.stop()

  test("the end of a run, which is told late, does not end the next run of the query") {
    val (query, first, second) = (UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID())
    val (firstEnded, secondEnded) = (new CountDownLatch(1), new CountDownLatch(1))
    QueryEnd.await(context, first.toString)(firstEnded.countDown())
    QueryEnd.await(context, second.toString)(secondEnded.countDown())
    QueryEvents.terminated(context, query, first)
    assert(firstEnded.await(20, TimeUnit.SECONDS), "the first run has ended")
    QueryEvents.terminated(context, query, UUID.randomUUID())
    assert(secondEnded.getCount == 1)
    QueryEvents.terminated(context, query, second)
    assert(secondEnded.await(20, TimeUnit.SECONDS), "the second run has ended")
  }
}
