package org.sparkkinesis.integration.log

import scala.util.Using

import org.apache.logging.log4j.Level
import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.config.{ConnectorVersion, Options}
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.event.{BatchPlanned, OptionDeprecated, QueryStarted, QueryStopped}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected
import org.sparkkinesis.model.{ShardId, StartingPosition}

/** The log lines of a query that an operator reads. */
class QueryLogSuite extends SparkSuite {
  private def shard(index: Int): String = f"shardId-$index%012d"

  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"planted-key-$i", utf8(s"planted-data-$i")))

  private def start(stream: String, collected: Collected, at: String): StreamingQuery =
    readStream(
      stream,
      "awsSecretKey" -> "planted-secret",
      // No periodic listing shows the children of a split before the end of their parent is fetched.
      "shardFetchInterval" -> "1h",
      "retry.getRecords.backoff.base" -> "1ms",
      "retry.getRecords.backoff.max" -> "10ms"
    ).load().writeStream.queryName("night").option("checkpointLocation", at).foreachBatch(collected.sink).start()

  test("INFO lines report start, outage, reshard and stop, and the position of a restart") {
    kinesis.admin.createStream("logged", 1)
    put("logged", 0 until 50)
    val (at, collected) = (checkpoint(), new Collected)
    Using.resource(new RecordedLog("stream=logged")) { log =>
      val query = start("logged", collected, at)
      await(query, "50 rows")(collected.rows.size >= 50)
      val fault =
        kinesis.faults.add(FaultRule(
          FaultEffect.Error(503, "ServiceUnavailable", "by request"),
          "GetRecords",
          "logged"
        ))
      await(query, "an outage")(log.visible.exists(_.level == Level.WARN))
      kinesis.faults.remove(fault)
      await(query, "its end")(log.visible.exists(_.message.contains("succeed again")))
      kinesis.admin.splitShard("logged", shard(0))
      put("logged", 50 until 100)
      await(query, "100 rows")(collected.rows.size >= 100)
      query.processAllAvailable()
      query.stop()

      val (summaries, seen) = log.visible.map(_.message).partition(_.contains(" fetched ("))
      assert(summaries.size == 1 && summaries.head.startsWith("1 micro-batch planned in "), summaries)
      val first = ShardId(shard(0)) -> Option(StartingPosition.TrimHorizon)
      assert(seen.head ==
        QueryStarted(ConnectorVersion.text, "logged", "polling", isResumed = false, Seq(first)).message)
      // The executor registers while the shards are listed.
      val (listed, joined) = seen.slice(1, 3).partition(_.startsWith("Listed"))
      assert(listed == Vector(s"Listed 1 open shard and 0 closed shards; 1 new: ${shard(0)}"))
      assert(joined.size == 1 && joined.head.matches("Executor driver on \\S+ is ready to read"), joined)
      val beginnings = Vector(
        s"1 shard assigned to executor driver: ${shard(0)} from TRIM_HORIZON",
        "A call failed 5 times in a row and is retried: GetRecords: ServiceUnavailable",
        "Calls for 1 shard succeed again after failing for ",
        s"The shard was fetched to its end; children: ${shard(1)}, ${shard(2)}",
        s"2 shards assigned to executor driver: ${shard(1)} from TRIM_HORIZON, ${shard(2)} from TRIM_HORIZON",
        QueryStopped(0, 0, 0).message.takeWhile(!_.isDigit)
      )
      assert(seen.drop(3).size == beginnings.size, seen)
      seen.drop(3).zip(beginnings).foreach { case (line, beginning) => assert(line.startsWith(beginning), seen) }

      val names = s"name=night query=${query.id} run=${query.runId} stream=logged"
      log.lines.foreach { line =>
        assert(line.text.startsWith(s"[$names"), line)
        assert(line.logger.startsWith("org.sparkkinesis.event."))
        assert(line.context.get("query_id").contains(query.id.toString), line)
        assert(line.context.get("run_id").contains(query.runId.toString), line)
        assert(line.context.get("stream_name").contains("logged"), line)
      }
      val ended = log.visible.filter(_.message.contains("fetched to its end"))
      assert(ended.map(_.context("shard_id")) == Vector(shard(0)))
      val planned = BatchPlanned(0, 0, 0).message.takeWhile(!_.isDigit)
      val batches = log.lines.filter(line => line.level == Level.DEBUG && line.message.startsWith(planned))
      assert(batches.map(_.message.stripPrefix(planned).takeWhile(_.isDigit).toInt).sum == 100, batches)
      log.lines.foreach(line => assert(!line.text.contains("planted"), line))
    }
    Using.resource(new RecordedLog("stream=logged")) { log =>
      put("logged", 100 until 110)
      val again = start("logged", collected, at)
      await(again, "110 rows")(collected.rows.size >= 110)
      again.stop()
      val first = log.visible.find(_.context.get("run_id").contains(again.runId.toString)).fold("")(_.message)
      assert(
        first.startsWith("Query resumed from its checkpoint in consumer mode 'polling' with spark-kinesis "),
        first
      )
      assert(first.contains(s"${shard(1)} after ") && first.contains(s"${shard(2)} after "), first)
    }
  }

  test("an option of another connector is accepted with a warning") {
    kinesis.admin.createStream("renamed", 1)
    val options = connection("renamed")
    Using.resource(new RecordedLog("regionName")) { log =>
      spark.read.format("kinesis").options(options - "region" + ("regionName" -> options("region"))).load()
      val warnings = Options.read(Map("regionName" -> "us-east-1")).warnings
      assert(warnings.size == 1 && log.visible.map(_.message).contains(OptionDeprecated(warnings.head).message))
    }
  }

  test("the lines of a query without a name start with its id") {
    kinesis.admin.createStream("unnamed", 1)
    Using.resource(new RecordedLog("stream=unnamed")) { log =>
      val query = readStream("unnamed").load().writeStream
        .option("checkpointLocation", checkpoint()).foreachBatch((new Collected).sink).start()
      query.processAllAvailable()
      query.stop()
      assert(log.visible.nonEmpty)
      log.lines.foreach(line => assert(line.text.startsWith(s"[query=${query.id} run="), line))
    }
  }
}
