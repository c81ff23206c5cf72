package org.sparkkinesis.aws.getrecords

import java.util.concurrent.TimeUnit

import scala.util.Using

import com.fasterxml.jackson.dataformat.cbor.CBORGenerator

import org.sparkkinesis.aws.client.CborServer
import org.sparkkinesis.aws.client.CborServer._
import org.sparkkinesis.event.AnswerUnreadable
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

/** Every GetRecords response is decoded, by this package or by the SDK. */
class GetRecordsResponseSuite extends TimedSuite {
  private def answer(more: CBORGenerator => Unit): Array[Byte] = cbor { json =>
    json.writeStartObject()
    json.writeArrayFieldStart("Records")
    json.writeStartObject()
    json.writeStringField("SequenceNumber", "17")
    json.writeStringField("PartitionKey", "key")
    json.writeFieldName("Data")
    json.writeBinary(Array[Byte](1, 2, 3))
    json.writeEndObject()
    json.writeEndArray()
    more(json)
    json.writeStringField("NextShardIterator", "next")
    json.writeEndObject()
  }

  private val plain = answer(_ => ())
  private val strange = answer(CborServer.writeDeep)

  Seq[(String, Seq[(String, String)], Array[Byte], Int)](
    ("CBOR", Seq(Cbor), plain, 1),
    ("CBOR with its checksum", Seq(Cbor, checksum(plain)), plain, 1),
    ("CBOR that is compressed", Seq(Cbor, Gzip), zipped(plain), 1),
    ("CBOR that only the SDK reads", Seq(Cbor, checksum(strange)), strange, 2)
  ).foreach { case (what, headers, body, calls) =>
    test(s"$what is decoded with ${if (calls == 1) "one request" else "two requests"}") {
      Using.resource(new CborServer(200, headers, body)) { server =>
        val page = server.service.getRecords(StreamRef.ByName("any"), "first", 10).get(30, TimeUnit.SECONDS)
        assert(
          page.records.map(record => (record.sequenceNumber, record.partitionKey)) ==
            IndexedSeq("17" -> "key")
        )
        assert(page.records.head.data.toSeq == Seq[Byte](1, 2, 3))
        assert((page.nextIterator, page.millisBehindLatest, page.children) == (Option("next"), 0L, Nil))
        assert(server.requests == calls)
        assert(server.events.of[AnswerUnreadable].map(_.stream) == Vector.fill(calls - 1)(Some("any")))
      }
    }
  }
}
