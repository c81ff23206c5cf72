package org.sparkkinesis.integration.read

import java.nio.file.{Files, Path, StandardCopyOption}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

/** A query deregisters the enhanced fan-out consumer that it registered, even if it was killed in between. */
class ConsumerOwnershipSuite extends SparkSuite {
  private def start(stream: String, at: String, options: (String, String)*): StreamingQuery =
    startUnnamed(stream, at, ("consumerName" -> "etl") +: options: _*)

  private def startUnnamed(stream: String, at: String, options: (String, String)*): StreamingQuery = {
    val collected = new Collected
    val query = readStream(stream, ("consumerMode" -> "efo") +: options: _*).load().writeStream
      .option("checkpointLocation", at).foreachBatch(collected.sink).start()
    kinesis.admin.putRecord(stream, "k", utf8("x"))
    await(query, "a row")(collected.rows.nonEmpty)
    // The batch is committed, so the query does not change the checkpoint while a test copies it.
    query.processAllAvailable()
    query
  }

  private def changes(stream: String): (Long, Long) = (
    kinesis.calls.count("RegisterStreamConsumer", stream, result = "ok"),
    kinesis.calls.count("DeregisterStreamConsumer", stream, result = "ok")
  )

  private def isNote(path: Path): Boolean = path.getFileName.toString.contains("registered-consumers")
  private def notes(at: String): Seq[Path] =
    Files.list(Path.of(at, "sources", "0")).iterator.asScala.filter(isNote).toSeq

  /** Returns the checkpoint of a query that was killed with its consumer still registered. */
  private def killed(at: String): String = {
    val copy = checkpoint()
    Files.walk(Path.of(at)).iterator.asScala.filter(Files.isRegularFile(_)).foreach { file =>
      val to = Path.of(copy).resolve(Path.of(at).relativize(file))
      Files.createDirectories(to.getParent)
      Files.copy(file, to, StandardCopyOption.REPLACE_EXISTING)
    }
    copy
  }

  test("a query that was killed adopts its consumer after a restart and deregisters it at its stop") {
    kinesis.admin.createStream("killed", 1)
    val at = checkpoint()
    // A kill leaves a registered consumer and a checkpoint that names it.
    start("killed", at, "requireConsumerDeregistration" -> "false").stop()
    assert(changes("killed") == (1L, 0L))
    start("killed", at).stop()
    assert(changes("killed") == (1L, 1L))
    assert(notes(at) == Nil)
  }

  test("without a name, the consumer has the query's id, which a restart finds and deregisters") {
    kinesis.admin.createStream("unnamed", 1)
    val at = checkpoint()
    val killed =
      startUnnamed("unnamed", at, "requireConsumerDeregistration" -> "false", "consumerNamePrefix" -> "spark_")
    val noted = notes(at).filterNot(_.toString.endsWith(".crc")).map(Files.readString(_)).mkString
    killed.stop()
    assert(noted.contains(s"stream/unnamed/consumer/spark_${killed.id}:"), noted)
    val again = startUnnamed("unnamed", at, "consumerNamePrefix" -> "spark_")
    assert(again.id == killed.id && changes("unnamed") == (1L, 0L))
    again.stop()
    assert(changes("unnamed") == (1L, 1L) && notes(at) == Nil)
  }

  test("a query that was killed during the registration adopts the consumer") {
    kinesis.admin.createStream("early", 1)
    val at = checkpoint()
    start("early", at, "requireConsumerDeregistration" -> "false").stop()
    // The state just before the service's answer was stored.
    val note = notes(at).filterNot(_.getFileName.toString.startsWith(".")).head
    notes(at).filter(_.getFileName.toString.startsWith(".")).foreach(Files.delete)
    Files.writeString(note, "")
    start("early", at).stop()
    assert(changes("early") == (1L, 1L))
  }

  test("a consumer that another query registered is not deregistered") {
    kinesis.admin.createStream("others", 1)
    val owner = checkpoint()
    // The owner leaves its consumer registered: two reads of one application cannot use one consumer at the same
    // time.
    start("others", owner, "requireConsumerDeregistration" -> "false").stop()
    val other = checkpoint()
    start("others", other).stop()
    assert(changes("others") == (1L, 0L))
    assert(notes(other) == Nil)
    start("others", owner).stop()
    assert(changes("others") == (1L, 1L))
  }

  test("a consumer under an earlier name is deregistered too") {
    kinesis.admin.createStream("renamed", 1)
    val running = checkpoint()
    val query = start("renamed", running)
    val at = killed(running)
    val renamed = start("renamed", at, "consumerName" -> "etl-2")
    query.stop()
    // The service accepts another deregistration while it removes the consumer.
    kinesis.admin.clock.advance(1.second)
    renamed.stop()
    assert(kinesis.calls.count("RegisterStreamConsumer", "renamed", result = "ok") == 2L)
    assert(kinesis.calls.count("DeregisterStreamConsumer", "renamed", result = "ok") == 2L)
    assert(notes(at) == Nil)
  }

  /** Starts a query whose registration has no answer yet. */
  private def registering(stream: String, at: String, effect: FaultEffect, options: (String, String)*) = {
    val fault = kinesis.faults.add(FaultRule(effect, "RegisterStreamConsumer", stream, count = 1))
    val all = Seq("consumerMode" -> "efo", "consumerName" -> "etl") ++ options
    val query = readStream(stream, all: _*).load().writeStream
      .option("checkpointLocation", at).foreachBatch(new Collected().sink).start()
    await(query, "the call")(kinesis.faults.hits(fault) == 1)
    query
  }

  for (
    (name, effect) <- Seq(
      "late-answer" -> FaultEffect.LateAnswer(1500),
      "late-call" -> FaultEffect.Delay(1500),
      "no-answer" -> FaultEffect.Cut(done = true)
    )
  ) test(s"a query that is stopped while its consumer is being registered removes it: $name") {
    kinesis.admin.createStream(name, 1)
    val at = checkpoint()
    registering(name, at, effect).stop()
    assert(kinesis.admin.consumerNames(name).isEmpty && notes(at) == Nil, changes(name))
  }

  for ((mode, number) <- Seq("efo" -> 1, "polling" -> 2))
    test(s"consumers whose registration had no answer are removed by a later run, whatever was noted before: $mode") {
      val stream = s"unanswered-$number"
      kinesis.admin.createStream(stream, 1)
      val at = checkpoint()
      val keep = "requireConsumerDeregistration" -> "false"
      start(stream, at, keep).stop()
      registering(stream, at, FaultEffect.LateAnswer(3600000), keep, "consumerName" -> "etl-2").stop()
      assert(kinesis.admin.consumerNames(stream).toSet == Set("etl", "etl-2"))
      start(stream, at, "consumerName" -> "etl-2", "consumerMode" -> mode).stop()
      assert(kinesis.admin.consumerNames(stream).isEmpty && notes(at) == Nil)
    }
}
