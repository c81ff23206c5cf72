package org.sparkkinesis.spark.metadata

import java.net.{InetAddress, InetSocketAddress}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.RawLocalFileSystem

import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{EventSink, MetadataFileUnprotected, RecordedEvents}
import org.sparkkinesis.metadata._
import org.sparkkinesis.suite.TimedSuite

class MetadataServicesSuite extends TimedSuite {
  import MetadataServicesSuite._

  private val orders = StreamIds.Named(Set("orders"))

  private def open(service: String, options: (String, String)*): StreamMetadataService = MetadataSource.open(
    Options.read(Map("metadataService" -> service) ++ options),
    new Configuration(),
    EventSink.Discard
  )

  private def failure(body: => Any): KinesisConnectorException = intercept[KinesisConnectorException](body)

  /** Runs `body` with a server that answers as `reply` says, and returns the requests. */
  private def serving(reply: HttpExchange => Unit)(body: String => Unit): Seq[(String, Map[String, String])] = {
    val asked = new ConcurrentLinkedQueue[(String, Map[String, String])]
    val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.createContext(
      "/",
      exchange => {
        val headers = exchange.getRequestHeaders.asScala.map { case (name, values) =>
          name.toLowerCase -> values.get(0)
        }
        asked.add(exchange.getRequestURI.toString -> headers.toMap)
        try reply(exchange)
        finally exchange.close()
      }
    )
    server.start()
    try body(s"http://127.0.0.1:${server.getAddress.getPort}/streams")
    finally server.stop(0)
    asked.asScala.toSeq
  }

  private def send(exchange: HttpExchange, status: Int, text: String): Unit = {
    val bytes = text.getBytes(UTF_8)
    exchange.sendResponseHeaders(status, if (bytes.isEmpty) -1 else bytes.length.toLong)
    if (bytes.nonEmpty) exchange.getResponseBody.write(bytes)
  }

  test("a file is read with the file system that is recommended for checkpoints on a local disk") {
    val file = Files.writeString(Files.createTempFile("streams", ".json"), """{"version": 1, "streams": {}}""")
    val conf = new Configuration()
    conf.set("fs.file.impl", classOf[RawLocalFileSystem].getName)
    conf.setBoolean("fs.file.impl.disable.cache", true)
    val service = MetadataSource.open(Options.read(Map("metadataService" -> s"file:$file")), conf, EventSink.Discard)
    assert(service.fetch(orders, None) match {
      case MetadataAnswer.Found(document, _) => document.version == 1
      case MetadataAnswer.Unchanged => false
    })
  }

  test("a file is read again only if its content changed") {
    val file = Files.createTempFile("streams", ".json")
    Files.writeString(file, text(1))
    val service = open(s"file:$file")
    val first = found(service.fetch(orders, None))
    assert(first._1.version == 1 && first._1.streams.keySet == Set("orders"))
    assert(service.fetch(orders, first._2) == MetadataAnswer.Unchanged)
    Files.writeString(file, text(2))
    assert(found(service.fetch(orders, first._2))._1.version == 2)
    Files.writeString(file, text(2).dropRight(3))
    assert(failure(service.fetch(orders, first._2)).condition == "KINESIS_METADATA_INVALID")
    Files.delete(file)
    assert(failure(service.fetch(orders, None)).condition == "KINESIS_METADATA_UNAVAILABLE")
  }

  test("a document of more than 1 MiB is read from a file and from a REST service") {
    val streams = (1 to 10000).map { n =>
      s""""logical-stream-$n": [{"arn": "arn:aws:kinesis:eu-central-1:123456789012:stream/physical-stream-$n"}]"""
    }
    val large = s"""{"version": 1, "streams": {${streams.mkString(", ")}}}"""
    assert(large.length > 1024 * 1024)
    val all = StreamIds.Matching(".*".r.pattern)
    val file = Files.writeString(Files.createTempFile("streams", ".json"), large)
    assert(found(open(s"file:$file").fetch(all, None))._1.streams.size == 10000)
    serving(send(_, 200, large)) { address =>
      assert(found(open(address).fetch(all, None))._1.streams.size == 10000)
    }
  }

  test("a file that every user may write is reported once") {
    val file = Files.createTempFile("streams", ".json")
    Files.writeString(file, text(1))
    Files.setPosixFilePermissions(file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-rw-rw-"))
    val events = new RecordedEvents
    val service = new FileMetadataService(file.toString, new Configuration(), events)
    (1 to 3).foreach(_ => service.fetch(orders, None))
    assert(events.all == Seq(MetadataFileUnprotected(file.toString)))
  }

  test("a REST service is asked with ids, token and the tag of the last answer") {
    val asked = serving { exchange =>
      if (exchange.getRequestHeaders.getFirst("If-None-Match") == "\"7\"") send(exchange, 304, "")
      else {
        exchange.getResponseHeaders.set("ETag", "\"7\"")
        send(exchange, 200, text(7))
      }
    } { address =>
      val service = open(address, "metadataToken" -> "abc")
      val (document, tag) = found(service.fetch(StreamIds.Named(Set("orders", "a b")), None))
      assert(document.version == 7 && tag.contains(Tag("\"7\"")))
      assert(service.fetch(StreamIds.Matching("or.*".r.pattern), tag) == MetadataAnswer.Unchanged)
    }
    assert(asked.map(_._1) == Seq("/streams?id=a%20b&id=orders", "/streams?pattern=or.%2A"))
    assert(asked.map(_._2("authorization")) == Seq("Bearer abc", "Bearer abc"))
  }

  test("an answer that is no document is a failure, and a redirect is not followed") {
    val table = Seq[(HttpExchange => Unit, String)](
      (send(_, 404, ""), "none of the ids"),
      (send(_, 500, "oops"), "status 500"),
      (send(_, 304, ""), "status 304"),
      (send(_, 200, "{"), "not JSON"),
      (send(_, 200, " " * (DocumentParser.MaxBytes + 1)), "longer than"),
      (
        { exchange =>
          exchange.getResponseHeaders.set("Location", "http://127.0.0.1:1/evil")
          send(exchange, 302, "")
        },
        "not followed"
      )
    )
    table.foreach { case (reply, expected) =>
      serving(reply) { address =>
        val error = failure(open(address, "metadataToken" -> "abc").fetch(orders, None))
        assert(error.getMessage.toLowerCase.contains(expected.toLowerCase) && !error.getMessage.contains("abc"), error)
      }
    }
  }

  test("a service that is not there is a failure") {
    assert(failure(open("http://127.0.0.1:1/x").fetch(orders, None)).condition == "KINESIS_METADATA_UNAVAILABLE")
  }

  test("a class of the user gives the document") {
    val (document, _) = found(open(s"class:${classOf[OwnService].getName}").fetch(orders, None))
    assert(document.version == 3 && document.streams.keySet == Set("orders"))
    assert(failure(open("class:no.such.Name")).condition == "KINESIS_OPTION_INVALID")
    assert(failure(open("class:java.lang.Object")).getMessage.contains("no java.util.function.Function"))
    val failing = open(s"class:${classOf[FailingService].getName}")
    assert(failure(failing.fetch(orders, None)).condition == "KINESIS_METADATA_UNAVAILABLE")
  }

  test("addresses that would leak or be changed on the way are refused") {
    Seq("http://example.com/x", "https://user:x@example.com/", "ftp://x", "file:", "class:").foreach(address =>
      assert(failure(open(address)).condition == "KINESIS_OPTION_INVALID", address)
    )
  }

  test("a logical stream needs a service and excludes other streams") {
    def ids(options: (String, String)*) = MetadataSource.ids(Options.read(options.toMap))
    assert(failure(ids("streamId" -> "orders")).condition == "KINESIS_OPTION_MISSING")
    assert(
      failure(ids("streamId" -> "a", "streamName" -> "b", "metadataService" -> "file:/x")).condition ==
        "KINESIS_OPTION_CONFLICT"
    )
    assert(ids("streamId" -> "a,b", "metadataService" -> "file:/x") == StreamIds.Named(Set("a", "b")))
    assert(ids("streamIdPattern" -> "a.*", "metadataService" -> "file:/x").contains("abc"))
  }
}

object MetadataServicesSuite {
  private val Arn = "arn:aws:kinesis:us-east-1:123456789012:stream"

  def text(version: Int): String =
    s"""{"version": $version, "streams": {"orders": [{"arn": "$Arn/a"}], "other": [{"arn": "$Arn/b"}]}}"""

  def found(answer: MetadataAnswer): (MetadataDocument, Option[Tag]) = answer match {
    case MetadataAnswer.Found(document, tag) => (document, tag)
    case MetadataAnswer.Unchanged => throw new IllegalStateException("unchanged")
  }

  class OwnService extends java.util.function.Function[java.util.Collection[String], String] {
    override def apply(ids: java.util.Collection[String]): String = text(if (ids.contains("orders")) 3 else 4)
  }

  class FailingService extends java.util.function.Function[java.util.Collection[String], String] {
    override def apply(ids: java.util.Collection[String]): String = throw new IllegalStateException(ids.toString)
  }
}
