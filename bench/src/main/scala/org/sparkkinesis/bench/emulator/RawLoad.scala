package org.sparkkinesis.bench.emulator

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.Base64
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}

import scala.concurrent.duration._

import com.fasterxml.jackson.core.JsonToken
import com.fasterxml.jackson.dataformat.cbor.CBORFactory
import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.MultiThreadIoEventLoopGroup
import io.netty.channel.nio.NioIoHandler
import io.netty.util.concurrent.DefaultThreadFactory

import org.sparkkinesis.bench.emulator.Load._

/**
 * Loads the emulator over two bare HTTP/2 connections, with requests that are encoded once, and reads only the
 * counted parts of answers. So nearly all processor time is the emulator's.
 */
final class RawLoad(port: Int) extends Load {
  import RawConnection.{Cbor, Json, text}
  import RawLoad._

  private val group =
    new MultiThreadIoEventLoopGroup(2, new DefaultThreadFactory("raw-client", true), NioIoHandler.newFactory())
  private val connections = Vector.fill(2)(new RawConnection(port, group))
  private val (puts, consumers) = (new AtomicInteger, new AtomicInteger)
  private val putBody = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(putRequest()))

  private def connection(i: Int): RawConnection = connections(i % connections.size)

  override protected def putRecords(): CompletableFuture[Int] =
    connection(puts.getAndIncrement()).call("PutRecords", Cbor, putBody.duplicate()).thenApply(failedRecords(_))

  override def get(time: FiniteDuration): Long = {
    val bytes = new AtomicLong
    val deadline = time.fromNow
    def fromStart(shard: Int): CompletableFuture[Unit] =
      json(
        shard,
        "GetShardIterator",
        s"""$InStream,"ShardId":"${shardId(shard)}","ShardIteratorType":"TRIM_HORIZON"}"""
      )
        .thenCompose(answer => follow(shard, Iterator.findFirstMatchIn(answer).get.group(1)))
    def follow(shard: Int, iterator: String): CompletableFuture[Unit] =
      connection(shard).call("GetRecords", Cbor, Unpooled.wrappedBuffer(getRequest(iterator))).thenCompose { answer =>
        val (records, next) = readPage(answer)
        bytes.addAndGet(records.toLong * RecordBytes)
        if (deadline.isOverdue()) CompletableFuture.completedFuture(())
        else if (records == 0) fromStart(shard)
        else follow(shard, next)
      }
    CompletableFuture.allOf((0 until Shards).map(fromStart): _*).join()
    bytes.get
  }

  override def push(time: FiniteDuration): Long = {
    val bytes = new AtomicLong
    val deadline = time.fromNow
    while (deadline.hasTimeLeft()) {
      val arn = newConsumer()
      val rounds = (0 until Shards).map { shard =>
        subscribe(arn, shard, "TRIM_HORIZON") { frame =>
          val records = countRecords(frame)
          bytes.addAndGet(records.toLong * RecordBytes)
          deadline.hasTimeLeft() && !(records > 0 && isAtTip(frame))
        }
      }
      CompletableFuture.allOf(rounds: _*).join()
    }
    bytes.get
  }

  override def latencies(time: FiniteDuration): Array[Double] = {
    val found = new Figures
    val opened = new CountDownLatch(Shards)
    val deadline = time.fromNow
    val counted = System.nanoTime() + warmUp(time).toNanos
    val arn = newConsumer()
    val subscriptions = (0 until Shards).map { shard =>
      var first = true
      subscribe(arn, shard, "LATEST") { frame =>
        val now = System.nanoTime()
        if (first) opened.countDown()
        first = false
        sentTimes(frame).filter(_ > counted).foreach(sent => found.add((now - sent) / 1e6))
        deadline.hasTimeLeft()
      }
    }
    await(opened, "opening the subscriptions")
    val payload = new Array[Byte](RecordBytes)
    var n = 0
    while (deadline.hasTimeLeft()) {
      n += 1
      java.nio.ByteBuffer.wrap(payload).putLong(System.nanoTime())
      val data = Base64.getEncoder.encodeToString(payload)
      json(n, "PutRecord", s"""$InStream,"PartitionKey":"key-$n","Data":"$data"}""")
      TimeUnit.MILLISECONDS.sleep(PutEveryMillis)
    }
    // Every subscription ends at its next event, so put one more record per shard.
    (0 until Shards).foreach { shard =>
      val key = (BigInt(2).pow(128) / Shards * shard + 1).toString
      json(shard, "PutRecord", s"""$InStream,"PartitionKey":"end","ExplicitHashKey":"$key","Data":""}""").join()
    }
    CompletableFuture.allOf(subscriptions: _*).join()
    found.sorted
  }

  private def newConsumer(): String = {
    val name = s"raw-${consumers.incrementAndGet()}"
    val summary = json(0, "DescribeStreamSummary", s"$InStream}").join()
    val arn = StreamArn.findFirstMatchIn(summary).get.group(1)
    val answer = json(0, "RegisterStreamConsumer", s"""{"StreamARN":"$arn","ConsumerName":"$name"}""").join()
    ConsumerArn.findFirstMatchIn(answer).get.group(1)
  }

  private def subscribe(arn: String, shard: Int, from: String)(onFrame: ByteBuf => Boolean): CompletableFuture[Unit] = {
    val body = s"""{"ConsumerARN":"$arn","ShardId":"${shardId(shard)}","StartingPosition":{"Type":"$from"}}"""
    connection(shard).subscribe(text(body))(onFrame)
  }

  private def json(i: Int, operation: String, body: String): CompletableFuture[String] =
    connection(i).call(operation, Json, text(body)).thenApply(answer => new String(answer, UTF_8))

  override def close(): Unit = {
    connections.foreach(_.close())
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync()
    ()
  }
}

private[bench] object RawLoad {
  private val InStream = s"""{"StreamName":"$Stream""""
  private val Iterator = "\"ShardIterator\":\"([^\"]+)\"".r
  private val StreamArn = "\"StreamARN\":\"([^\"]+)\"".r
  private val ConsumerArn = "\"ConsumerARN\":\"([^\"]+)\"".r
  private val cbor = new CBORFactory

  // A frame has 12 bytes of lengths and their checksum, headers, payload, and 4 bytes of checksum.
  private val Prelude = 12
  private val Trailer = 4
  private val LeastRecordJson = RecordBytes * 4 / 3
  private val AtTip = "\"MillisBehindLatest\":0}".getBytes(ISO_8859_1)

  def putRequest(): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val generator = cbor.createGenerator(out)
    val payload = Array.tabulate[Byte](RecordBytes)(i => (i * 31).toByte)
    generator.writeStartObject()
    generator.writeStringField("StreamName", Stream)
    generator.writeArrayFieldStart("Records")
    (0 until RecordsPerPut).foreach { i =>
      generator.writeStartObject()
      generator.writeBinaryField("Data", payload)
      generator.writeStringField("PartitionKey", s"key-$i")
      generator.writeEndObject()
    }
    generator.writeEndArray()
    generator.writeEndObject()
    generator.close()
    out.toByteArray
  }

  def getRequest(iterator: String): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val generator = cbor.createGenerator(out)
    generator.writeStartObject()
    generator.writeStringField("ShardIterator", iterator)
    generator.writeNumberField("Limit", RecordsPerGet)
    generator.writeEndObject()
    generator.close()
    out.toByteArray
  }

  def failedRecords(answer: Array[Byte]): Int = {
    val parser = cbor.createParser(answer)
    while (parser.nextToken() != null && parser.currentName != "FailedRecordCount") {}
    parser.nextToken()
    parser.getIntValue
  }

  /** Returns the number of records in an answer to GetRecords, and the next iterator. */
  def readPage(answer: Array[Byte]): (Int, String) = {
    val parser = cbor.createParser(answer)
    var records = -1 // The answer itself is an object as well.
    var next: String = null
    var token = parser.nextToken()
    while (token != null) {
      if (token == JsonToken.START_OBJECT) records += 1
      else if (token == JsonToken.FIELD_NAME && parser.currentName == "NextShardIterator") next = parser.nextTextValue()
      token = parser.nextToken()
    }
    (records, next)
  }

  /** Counts records by their opening brace, which occurs nowhere else in an event, and skips their data. */
  def countRecords(frame: ByteBuf): Int = {
    val end = frame.writerIndex - Trailer
    var records = -1
    var at = payloadStart(frame)
    while (at >= 0 && at < end) {
      at = frame.indexOf(at, end, '{'.toByte)
      if (at >= 0) {
        at += (if (records < 0) 1 else LeastRecordJson)
        records += 1
      }
    }
    records
  }

  def isAtTip(frame: ByteBuf): Boolean = {
    val from = frame.writerIndex - Trailer - AtTip.length
    from >= 0 && AtTip.indices.forall(i => frame.getByte(from + i) == AtTip(i))
  }

  /** Returns the times at the start of each record's data. */
  def sentTimes(frame: ByteBuf): Seq[Long] = {
    val start = payloadStart(frame)
    val json = frame.toString(start, frame.writerIndex - Trailer - start, ISO_8859_1)
    DataStart.findAllMatchIn(json).map(m =>
      java.nio.ByteBuffer.wrap(Base64.getDecoder.decode(m.group(1))).getLong()
    ).toSeq
  }

  // Twelve base64 characters encode nine bytes.
  private val DataStart = "\"Data\":\"([^\"]{12})".r

  private def payloadStart(frame: ByteBuf): Int = frame.readerIndex + Prelude + frame.getInt(frame.readerIndex + 4)
}
