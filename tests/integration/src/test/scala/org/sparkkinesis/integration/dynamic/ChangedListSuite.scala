package org.sparkkinesis.integration.dynamic

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException, Trigger}

import org.sparkkinesis.kit.stream.Collected

/** Streaming queries that restart with another list of streams. */
class ChangedListSuite extends NumberedStreams {

  private def start(
      streams: String,
      collected: Collected,
      checkpointed: String,
      trigger: Trigger = Trigger.ProcessingTime(0),
      more: Map[String, String] = Map.empty
  ): StreamingQuery = startQuery(connection(streams) ++ more, collected, checkpointed, trigger)

  /** Removes the last commit of a query, as if it had been killed before, so that the last batch runs again. */
  private def uncommit(checkpointed: String): Unit = {
    val commits = Path.of(checkpointed.stripPrefix("file:")).resolve("commits")
    val numbers = Files.list(commits).iterator.asScala.map(_.getFileName.toString).flatMap(_.toLongOption).toVector
    Seq(s"${numbers.max}", s".${numbers.max}.crc").foreach(name => Files.deleteIfExists(commits.resolve(name)): Unit)
  }

  Seq("polling" -> Map.empty[String, String], "efo" -> Map("consumerMode" -> "efo", "consumerName" -> "etl")).foreach {
    case (mode, more) =>
      test(s"streams join and leave on a restart, and every record is read once: $mode") {
        val (a, b, c) = (s"list-a-$mode", s"list-b-$mode", s"list-c-$mode")
        Seq(a, b, c).foreach(kinesis.admin.createStream(_, 2))
        val (collected, at) = (new Collected, checkpoint())
        val early = put(a, 0 until 40) ++ put(b, 0 until 40)
        val first = start(s"$a,$b", collected, at, more = more)
        await(first, "the first streams")(collected.rows.size >= early.size)
        first.stop()

        val late = put(a, 40 until 60) ++ put(c, 0 until 30)
        put(b, 40 until 50)
        val second = start(s"$a,$c", collected, at, more = more)
        await(second, "the second list")(collected.rows.size >= early.size + late.size)
        val live = put(c, 30 until 40)
        await(second, "more records")(collected.rows.size >= early.size + late.size + live.size)
        second.stop()
        val all = early ++ late ++ live
        assert(collected.texts.sorted == all.toSeq.sorted)
      }
  }

  test("the batch in which a stream joined reads the same records again, also when the stream has left since") {
    Seq("kept", "joining").foreach(kinesis.admin.createStream(_, 2))
    val at = checkpoint()
    put("kept", 0 until 10)
    def run(streams: String): Collected = {
      val collected = new Collected
      assert(start(streams, collected, at, Trigger.AvailableNow()).awaitTermination(60000))
      collected
    }
    run("kept")
    put("joining", 0 until 20)
    var last = run("kept,joining")
    assert(last.texts.sorted == (0 until 20).map(i => s"joining:$i").sorted)
    Seq("kept,joining", "kept").foreach { streams =>
      uncommit(at)
      put("joining", 20 until 25)
      val repeated = run(streams)
      assert(texts(repeated.byBatch.head) == texts(last.byBatch.last), streams)
      last = repeated
    }
    assert(last.byBatch.size == 1, "records of the stream that left are not read any more")
  }

  private def texts(rows: Vector[Row]): Vector[String] = rows.map(Collected.text).sorted

  test("a list without any stream of the checkpoint is refused, and the error says the way out") {
    Seq("old", "new").foreach(kinesis.admin.createStream(_, 1))
    put("old", 0 until 5)
    val at = checkpoint()
    assert(start("old", new Collected, at, Trigger.AvailableNow()).awaitTermination(60000))
    val query = start("new", new Collected, at, Trigger.AvailableNow())
    val failure = intercept[StreamingQueryException](query.awaitTermination(60000))
    assert(failure.getMessage.contains("KINESIS_CHECKPOINT_OTHER_STREAM"), failure.getMessage)
    assert(failure.getMessage.contains("as long as one of them stays"), failure.getMessage)
  }
}
