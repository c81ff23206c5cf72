package org.sparkkinesis.spark.metadata

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.{KinesisConnectorException, MetadataErrors}
import org.sparkkinesis.event.{MetadataNotFetched, MetadataRecovered, StreamForbidden}
import org.sparkkinesis.metadata._
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.suite.TimedSuite

class MetadataWatcherSuite extends TimedSuite {
  private val A = "arn:aws:kinesis:us-east-1:123456789012:stream/orders-a"
  private val B = "arn:aws:kinesis:us-east-1:210987654321:stream/orders-b"

  private def document(version: Long, arns: String*): MetadataDocument = {
    val streams = arns.map(arn => s"""{"arn": "$arn"}""").mkString(",")
    val text = s"""{"version": $version, "streams": {"orders": [$streams]}}"""
    DocumentParser.parse(text.getBytes(UTF_8)).fold(why => throw new IllegalArgumentException(why), identity)
  }

  /** Answers what the test sets. */
  final private class FakeService extends StreamMetadataService {
    var answer: Either[String, MetadataDocument] = Left("down")
    val tags: mutable.ArrayBuffer[Option[Tag]] = mutable.ArrayBuffer.empty
    override def address: String = "test"
    override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer = {
      tags += known
      answer match {
        case Left(reason) => throw MetadataErrors.unavailable(ids.toString, address, reason)
        case Right(found) if known.contains(Tag(found.toString)) => MetadataAnswer.Unchanged
        case Right(found) => MetadataAnswer.Found(found, Some(Tag(found.toString)))
      }
    }
    override def close(): Unit = ()
  }

  final private class Rig(known: Option[MetadataDocument], options: (String, String)*) {
    def this() = this(None)
    val time = new VirtualScheduler
    val environment = new VirtualEnvironment(time, new FakeDirectory(time))
    val service = new FakeService
    val heard: mutable.ArrayBuffer[MetadataDocument] = mutable.ArrayBuffer.empty
    val watcher = new MetadataWatcher(
      service,
      StreamIds.Named(Set("orders")),
      Options.read(Map("metadataRefreshInterval" -> "10s") ++ options),
      environment,
      environment.recorded,
      known
    )(heard += _)
    def events[A: scala.reflect.ClassTag]: Seq[A] = environment.recorded.all.collect { case event: A => event }
  }

  test("each valid answer is told, also one without a change") {
    val rig = new Rig
    rig.service.answer = Right(document(1, A))
    assert(rig.watcher.awaitFirst() == document(1, A))
    rig.time.advance(25.seconds)
    assert(rig.heard == Seq.fill(3)(document(1, A)))
    assert(rig.service.tags.head.isEmpty && rig.service.tags.tail.forall(_.nonEmpty))
    assert(rig.watcher.status.fetches == 3 && rig.watcher.status.version.contains(1L))
  }

  test("without an answer, the first start fails after its timeout with the reason") {
    val rig = new Rig
    val began = rig.time.currentMillis
    val error = intercept[KinesisConnectorException](rig.watcher.awaitFirst())
    assert(error.condition == "KINESIS_METADATA_UNAVAILABLE" && error.getMessage.contains("down"))
    assert(rig.time.currentMillis - began == 30000)
    assert(rig.service.tags.size > 20, "the service is asked again each second")
  }

  test("an outage keeps the last document, and its end is told") {
    val rig = new Rig
    rig.service.answer = Right(document(1, A))
    rig.watcher.awaitFirst()
    rig.service.answer = Left("down")
    rig.time.advance(10.minutes)
    rig.watcher.check()
    assert(rig.watcher.current.contains(document(1, A)) && rig.heard.size == 1)
    assert(rig.watcher.status.ageMillis.exists(_ >= 10.minutes.toMillis - 11000))
    assert(rig.events[MetadataNotFetched].nonEmpty)
    rig.service.answer = Right(document(2, A))
    rig.time.advance(11.seconds)
    assert(rig.watcher.current.contains(document(2, A)) && rig.events[MetadataRecovered].size == 1)
  }

  test("with a maximum age, an outage fails the query") {
    val rig = new Rig(None, "metadataMaxAge" -> "60s")
    rig.service.answer = Right(document(1, A))
    rig.watcher.awaitFirst()
    rig.service.answer = Left("down")
    rig.time.advance(50.seconds)
    rig.watcher.check()
    rig.time.advance(30.seconds)
    assert(intercept[KinesisConnectorException](rig.watcher.check()).getMessage.contains("metadataMaxAge"))
  }

  test("an older version is refused unless that is allowed") {
    val refusing = new Rig(Some(document(5, A)))
    refusing.service.answer = Right(document(4, A))
    refusing.watcher.start()
    refusing.time.advance(1.minute)
    assert(refusing.watcher.current.contains(document(5, A)) && refusing.heard.isEmpty)
    assert(refusing.watcher.status.failures > 0)
    val accepting = new Rig(Some(document(5, A)), "metadataAllowRollback" -> "true")
    accepting.service.answer = Right(document(4, A))
    accepting.watcher.start()
    accepting.time.advance(1.minute)
    assert(accepting.watcher.current.contains(document(4, A)))
  }

  test("a document without the logical stream is refused") {
    val rig = new Rig
    rig.service.answer = Right(document(1, A).copy(streams = document(1, A).streams.empty))
    assert(intercept[KinesisConnectorException](rig.watcher.awaitFirst()).getMessage.contains("lacks the logical"))
  }

  test("a stream that is not allowed is left out, and reported once") {
    val rig = new Rig(None, "metadataAllowedAccounts" -> "123456789012")
    rig.service.answer = Right(document(1, A, B))
    assert(rig.watcher.awaitFirst() == document(1, A))
    rig.service.answer = Right(document(2, A, B))
    rig.time.advance(1.minute)
    assert(rig.events[StreamForbidden].map(_.streamName) == Seq(B))
    assert(rig.watcher.status.refused == 1)
    val failing = new Rig(None, "metadataAllowedAccounts" -> "123456789012", "onForbidden" -> "fail")
    failing.service.answer = Right(document(1, A, B))
    assert(intercept[KinesisConnectorException](failing.watcher.awaitFirst()).condition == "KINESIS_METADATA_FORBIDDEN")
  }

  test("a service all of whose streams are forbidden fails the first start") {
    val rig = new Rig(None, "metadataAllowedAccounts" -> "111111111111")
    rig.service.answer = Right(document(1, A, B))
    assert(intercept[KinesisConnectorException](rig.watcher.awaitFirst()).getMessage.contains("FORBIDDEN"))
  }

  test("closing the watcher ends its thread") {
    val rig = new Rig
    rig.service.answer = Right(document(1, A))
    rig.watcher.awaitFirst()
    rig.watcher.close()
    rig.time.advance(1.minute)
    assert(rig.environment.open == 0 && rig.service.tags.size == 1)
  }
}
