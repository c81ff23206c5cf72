package org.sparkkinesis.event.log

import scala.collection.mutable
import scala.concurrent.duration._

import org.slf4j.event.Level
import org.slf4j.helpers.LegacyAbstractLogger
import org.slf4j.{Logger, Marker}

import org.sparkkinesis.event._
import org.sparkkinesis.model.{ShardId, StartingPosition}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.suite.TimedSuite

class EventLogSuite extends TimedSuite {
  private case class Line(logger: String, level: Level, text: String, cause: Option[Throwable])

  private class Written(lowest: Level = Level.DEBUG) {
    val lines = mutable.ArrayBuffer.empty[Line]
    var nanos = 0L
    val limit = new WarningLimit(30.seconds, () => nanos)
    def log(context: QueryContext = EventExamples.Context) = new EventLog(context, limit, logger)

    private def logger(of: String): Logger = new LegacyAbstractLogger {
      override def isTraceEnabled: Boolean = false
      override def isDebugEnabled: Boolean = lowest.toInt <= Level.DEBUG.toInt
      override def isInfoEnabled: Boolean = lowest.toInt <= Level.INFO.toInt
      override def isWarnEnabled: Boolean = true
      override def isErrorEnabled: Boolean = true
      override def getFullyQualifiedCallerName: String = null
      override def handleNormalizedLoggingCall(
          level: Level,
          marker: Marker,
          message: String,
          arguments: Array[AnyRef],
          cause: Throwable
      ): Unit = lines += Line(of, level, message, Option(cause))
    }
  }

  for ((event, level, line) <- EventExamples.all)
    test(s"$event has the expected log line and level") {
      val written = new Written
      written.log().emit(event)
      val expected = level match {
        case EventLevel.Debug => Level.DEBUG
        case EventLevel.Info => Level.INFO
        case EventLevel.Warn => Level.WARN
      }
      assert(written.lines.toSeq ==
        Seq(Line(s"org.sparkkinesis.event.${event.subject.name}", expected, line, event.cause)))
    }

  test("every event has an example") {
    val classes = EventClasses.names
    assert(EventExamples.all.map(_._1.getClass.getSimpleName).toSet == classes)
    assert(classes.size > 40, classes)
  }

  test("every subject has an example, and its logger is below org.sparkkinesis.event") {
    assert(EventExamples.all.map(_._1.subject).toSet == EventSubject.all.toSet)
  }

  test("the logging context has query, run, stream and shard under the keys of Spark's structured log") {
    assert(EventExamples.Context.keys(ShardFinished("orders", ShardId.ofIndex(1))) == Seq(
      "query_id" -> "3f2c3a4e-0c55-4b6c-9c0e-6d7f6a3f7b11",
      "run_id" -> "b7f6a0d2-8d0e-4f34-9c55-1f0f3c1d2e3f",
      "stream_name" -> "orders",
      "shard_id" -> "shardId-000000000001"
    ))
  }

  test("a line names at most the first five streams of a query and the first 20 shards") {
    val context = QueryContext(streams = (1 to 7).map(i => s"s$i"))
    assert(context.line(BufferFreed("1")).takeWhile(_ != ']') == "[stream=s1,s2,s3,s4,s5,+2")
    val shards = (1 to 1000).map(i => ShardId.ofIndex(i.toLong) -> StartingPosition.TrimHorizon)
    val line = context.line(ShardsAssigned("orders", "7", shards))
    assert(line.contains("1000 shards assigned") &&
      line.endsWith("shardId-000000000020 from TRIM_HORIZON, and 980 more"))
  }

  test("without a query a line has the known names only") {
    assert(QueryContext.Unknown.line(ShardUnpaced("orders", ShardId.ofIndex(1))).takeWhile(_ != ']') ==
      "[stream=orders shard=shardId-000000000001")
    assert(QueryContext.Unknown.line(OptionDeprecated("Rename it.")) == "Rename it.")
  }

  test("events of a disabled level are not written") {
    val written = new Written(Level.WARN)
    EventExamples.all.foreach { case (event, _, _) => written.log().emit(event) }
    assert(written.lines.map(_.level).toSet == Set(Level.WARN))
  }

  test("a repeated warning is written once per period with the number of suppressed ones") {
    val written = new Written
    val log = written.log()
    (1 to 100).foreach(i => log.emit(PutFailed("orders", Operation.PutRecords, i, "reset")))
    assert(written.lines.size == 1)
    written.nanos += 30.seconds.toNanos
    log.emit(PutFailed("orders", Operation.PutRecords, 101, "reset"))
    assert(written.lines.size == 2)
    assert(written.lines.last.text.endsWith("reset (99 more since the last such warning)"), written.lines.last)
    written.nanos += 30.seconds.toNanos
    log.emit(PutFailed("orders", Operation.PutRecords, 102, "reset"))
    assert(written.lines.last.text.endsWith("again: reset"), written.lines.last)
  }

  test(
    "warnings of other streams, kinds, queries and lost shards have separate limits"
  ) {
    val written = new Written
    val log = written.log()
    val events = Seq(
      PutFailed("orders", Operation.PutRecords, 1, "reset"),
      PutFailed("clicks", Operation.PutRecords, 1, "reset"),
      PutTimedOut("orders", Operation.PutRecords, 1, 1),
      DataLost("orders", ShardId.ofIndex(1), "expired", endsQuery = false),
      DataLost("orders", ShardId.ofIndex(2), "expired", endsQuery = false)
    )
    events.foreach(log.emit)
    events.foreach(written.log(QueryContext(Some("another"))).emit)
    assert(written.lines.size == 10)
    events.foreach(log.emit)
    assert(written.lines.size == 10)
  }

  test("events that are not warnings are never suppressed") {
    val written = new Written
    (1 to 3).foreach(_ => written.log().emit(ShardEnded("orders", ShardId.ofIndex(1), Nil)))
    assert(written.lines.size == 3)
  }

  test("the limit removes keys whose period has ended") {
    var nanos = 0L
    val limit = new WarningLimit(30.seconds, () => nanos)
    (1 to 5000).foreach { key =>
      nanos += 1.second.toNanos
      assert(limit.admit(key) == Some(0L))
    }
    assert(limit.size <= 1000, limit.size)
  }
}
