package org.sparkkinesis.integration.write.route

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule, FaultTarget}
import org.sparkkinesis.kit.stream.MemoryInput

/** A stream fails, and a newer document names another one while the micro-batch or the job is running. */
class RouteFailoverSuite extends RoutedFixture {
  private val silence = FaultRule(FaultEffect.Silence, region = there)

  /** A metadata refresh interval of one second, and two seconds for the question, the retry and the machine. */
  private val little = 3.seconds

  override def afterEach(): Unit = {
    super.afterEach()
    kinesis.faults.clear()
  }

  private def millisUntil(limit: FiniteDuration)(isReached: => Boolean): Long = {
    val begin = System.nanoTime()
    while (!isReached && System.nanoTime() - begin < limit.toNanos)
      java.util.concurrent.locks.LockSupport.parkNanos(20.millis.toNanos)
    (System.nanoTime() - begin) / 1000000
  }

  test("the rows of a running micro-batch go to the stream that a new document names") {
    create("first", there)
    create("second", here)
    publish(1, active(arn("first", there)))
    val numbers = new Numbers("deliveryTimeout" -> "10m")
    val query = numbers.start()
    numbers.add(10)
    query.processAllAvailable()
    assert(stored("first", there).size == 10)
    kinesis.faults.add(silence)
    numbers.add(100)
    // The rows wait for the only stream.
    java.util.concurrent.locks.LockSupport.parkNanos(5.seconds.toNanos)
    assert(stored("second", here).isEmpty)
    publish(2, active(arn("second", here)), s""""arn":"${arn("first", there)}","state":"draining"""")
    val millis = millisUntil(1.minute)(stored("second", here).size >= 100)
    info(s"100 rows were stored $millis ms after the document")
    query.processAllAvailable()
    val metrics = query.recentProgress.filter(_.numInputRows > 0).last.sink.metrics.asScala
    query.stop()
    assert(millis < little.toMillis)
    assert(texts(stored("second", here)).sorted == numbers.expected.drop(10).sorted)
    assert(metrics("stream.second.records") == "100" && metrics("stream.second.inUse") == "true", metrics)
    assert(metrics("stream.first.left").toLong > 0 && metrics("stream.first.inUse") == "false", metrics)
    // The new version is that of the batch from now on: a restart runs with it.
    assert(query.exception.isEmpty)
  }

  test("a batch write whose only stream is silent from its beginning goes on with another stream") {
    create("dead", there)
    create("live", here)
    publish(1, active(arn("dead", there)))
    kinesis.faults.add(silence)
    val rows = spark.range(100).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))
    val job = Future(rows.write.format(format).mode("append").options(logical).save())(ExecutionContext.global)
    java.util.concurrent.locks.LockSupport.parkNanos(5.seconds.toNanos)
    publish(2, active(arn("live", here)))
    val millis = millisUntil(1.minute)(stored("live", here).size >= 100)
    info(s"100 rows were stored $millis ms after the document")
    Await.result(job, 1.minute)
    assert(millis < little.toMillis)
    assert(stored("live", here).size == 100)
  }

  test("a batch write whose only stream is deleted goes on with another stream") {
    create("gone", here)
    create("next", here)
    publish(1, active(arn("gone", here)))
    val writes = logical + ("maxTimeInBuffer" -> "50ms")
    val rows = spark.range(100).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))
    rows.write.format(format).mode("append").options(writes).save()
    // The executor knows the stream, so that the write notices the deletion while it runs.
    kinesis.admin.deleteStream("gone")
    val job = Future(rows.write.format(format).mode("append").options(writes).save())(ExecutionContext.global)
    publish(2, active(arn("next", here)))
    Await.result(job, 1.minute)
    assert(stored("next", here).size == 100)
  }

  test("a stream that describes itself but does not accept records delays a query little, and less and less often") {
    create("accepts", here)
    create("refuses", there)
    publish(1, active(arn("accepts", here)), active(arn("refuses", there)))
    val numbers = new Numbers("requestTimeout" -> "2s")
    kinesis.faults.add(silence.copy(operation = "PutRecords"))
    val query = numbers.start()
    feed(numbers, 1000, 25.seconds)
    query.processAllAvailable()
    query.stop()
    val near = stored("accepts", here)
    val times = near.map(_.arrivalMillis).sorted
    // The first failure needs twice the timeout of a request.
    val pauses = times.zip(times.drop(1)).map { case (one, next) => next - one }.sorted.reverse
    info(s"longest pauses ${pauses.take(8).mkString(", ")} ms")
    assert(texts(near).toSet == numbers.expected.toSet)
    assert(pauses.drop(1).head < 3500)
    assert(pauses.count(_ > 1500) <= 6)
  }

  test("writes in foreachBatch survive an outage of the metadata service, and use its checkpoint's cache") {
    create("each", here)
    publish(1, active(arn("each", here)))
    val session = spark
    import session.implicits._
    val options = logical + ("metadataStartTimeout" -> "2s")
    val folder = checkpoint()
    val input = MemoryInput[Int](session)
    val write: (DataFrame, Long) => Unit = (batch, _) =>
      batch.select(col("value").cast("string").as("partitionKey"), col("value").cast("string").as("data"))
        .write.format(format).mode("append").options(options).save()
    def start() = input.toDF().writeStream.foreachBatch(write).option("checkpointLocation", folder).start()
    val first = start()
    input.addData(Seq(1))
    first.processAllAvailable()
    kinesis.faults.add(
      FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "down"), FaultTarget.MetadataPage)
    )
    (2 to 4).foreach { n =>
      input.addData(Seq(n))
      first.processAllAvailable()
    }
    first.stop()
    val second = start()
    input.addData(Seq(5))
    second.processAllAvailable()
    second.stop()
    assert(texts(stored("each", here)).sorted == (1 to 5).map(_.toString))
  }
}
