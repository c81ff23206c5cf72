package org.sparkkinesis.spark.coordinator.cluster

import scala.concurrent.duration._

import org.apache.spark.{SparkConf, SparkContext}

import org.sparkkinesis.suite.TimedSuite

class SparkClusterSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 1.minute

  test("Spark can stop after an interrupted thread has stopped listening") {
    val context = new SparkContext(
      new SparkConf().setMaster("local[1]").setAppName("listening").set("spark.ui.enabled", "false")
        .set("spark.driver.bindAddress", "127.0.0.1").set("spark.driver.host", "127.0.0.1")
    )
    val listening = new SparkCluster(context).listen(() => (), _ => ())
    Thread.currentThread.interrupt()
    listening.close()
    assert(Thread.interrupted(), "the interrupt is kept for the caller")
    context.stop()
  }
}
