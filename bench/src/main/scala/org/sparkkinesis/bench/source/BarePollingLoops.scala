package org.sparkkinesis.bench.source

import java.io.{BufferedInputStream, DataInputStream, EOFException}
import java.net.{Socket, URI}
import java.nio.charset.StandardCharsets.US_ASCII

import scala.util.Using
import scala.util.control.NonFatal

import software.amazon.awssdk.services.kinesis.model.{
  GetRecordsRequest, GetRecordsResponse, GetShardIteratorRequest, ShardIteratorType
}
import software.amazon.awssdk.services.kinesis.{KinesisAsyncClient, KinesisClient}

import org.sparkkinesis.bench.emulator.RawLoad
import org.sparkkinesis.bench.{Measured, MeasuredLoop, Tally}
import org.sparkkinesis.model.{KinesisQuotas, ShardId}

/** A polling loop as a user of the SDK's asynchronous client would write it, which only counts. */
final class AsyncPollingLoop(val name: String, client: KinesisAsyncClient, stream: String, shards: Int)
    extends MeasuredLoop {
  import BarePollingLoops._

  override def run(expected: Long): Measured = {
    val tally = new Tally(expected)
    (0 until shards).foreach { shard =>
      client.getShardIterator(oldest(stream, shard)).whenComplete { (answer, error) =>
        if (error != null) tally.fail(error) else next(answer.shardIterator, tally)
      }
    }
    tally.await()
  }

  private def next(iterator: String, tally: Tally): Unit = if (!tally.isDone && iterator != null) {
    client.getRecords(page(iterator)).whenComplete { (answer, error) =>
      if (error != null) tally.fail(error)
      else {
        tally.add(answer.records.size)
        next(answer.nextShardIterator, tally)
      }
    }
    ()
  }
}

/** The same with a synchronous client of the SDK, and one thread per shard. */
final class SyncPollingLoop(val name: String, client: KinesisClient, stream: String, shards: Int) extends MeasuredLoop {
  import BarePollingLoops._

  override def run(expected: Long): Measured = {
    val tally = new Tally(expected)
    inThreads(shards, tally) { shard =>
      var iterator = client.getShardIterator(oldest(stream, shard)).shardIterator
      while (!tally.isDone && iterator != null) {
        val answer: GetRecordsResponse = client.getRecords(page(iterator))
        tally.add(answer.records.size)
        iterator = answer.nextShardIterator
      }
    }
    tally.await()
  }
}

/**
 * HTTP/1.1 on a socket and one thread per shard, without signature and without the SDK. It skips the content of the
 * records. No client can be faster, so it shows what the transport alone costs.
 */
final class SocketPollingLoop(val name: String, client: KinesisClient, endpoint: URI, stream: String, shards: Int)
    extends MeasuredLoop {
  import BarePollingLoops._

  override def run(expected: Long): Measured = {
    val tally = new Tally(expected)
    inThreads(shards, tally) { shard =>
      var iterator = client.getShardIterator(oldest(stream, shard)).shardIterator
      Using.resource(new Socket(endpoint.getHost, endpoint.getPort)) { socket =>
        socket.setTcpNoDelay(true)
        val in = new DataInputStream(new BufferedInputStream(socket.getInputStream, 64 * 1024))
        var body = new Array[Byte](1 << 20)
        while (!tally.isDone && iterator != null) {
          val request = RawLoad.getRequest(iterator)
          val head =
            s"POST / HTTP/1.1\r\nHost: ${endpoint.getAuthority}\r\nContent-Type: application/x-amz-cbor-1.1\r\n" +
              s"X-Amz-Target: Kinesis_20131202.GetRecords\r\nContent-Length: ${request.length}\r\n\r\n"
          socket.getOutputStream.write(head.getBytes(US_ASCII) ++ request)
          val length = lengthOfBody(in)
          if (body.length < length) body = new Array[Byte](length)
          in.readFully(body, 0, length)
          val answer = new SkimmedAnswer(body)
          tally.add(answer.records)
          iterator = answer.next
        }
      }
    }
    tally.await()
  }

  private def lengthOfBody(in: DataInputStream): Int = {
    val status = line(in)
    if (!status.startsWith("HTTP/1.1 200")) throw new IllegalStateException(status)
    Iterator.continually(line(in)).takeWhile(_.nonEmpty).map(_.toLowerCase).collect {
      case header if header.startsWith("content-length:") => header.drop(15).trim.toInt
    }.toVector.head
  }

  private def line(in: DataInputStream): String = {
    val text = new StringBuilder
    var next = in.read()
    while (next != '\n') {
      if (next < 0) throw new EOFException("the emulator closed the connection")
      if (next != '\r') text.append(next.toChar)
      next = in.read()
    }
    text.toString
  }
}

/** The number of records and the next iterator of a GetRecords answer in CBOR; all else is skipped. */
final private class SkimmedAnswer(body: Array[Byte]) {
  private var at = 0
  private var major = 0
  var records = 0
  var next: String = null

  each(head()) {
    text() match {
      case "Records" => each(head()) {
          records += 1
          skip()
        }
      case "NextShardIterator" => next = text()
      case _ => skip()
    }
  }

  /** Calls `element` for each element, of which there are `count`, or until a break byte if that is negative. */
  private def each(count: Long)(element: => Unit): Unit =
    if (count < 0) {
      while (body(at) != SkimmedAnswer.Break) element
      at += 1
    } else {
      var left = count
      while (left > 0) {
        element
        left -= 1
      }
    }

  private def text(): String = {
    val length = head().toInt
    at += length
    new String(body, at - length, length, US_ASCII)
  }

  private def skip(): Unit = {
    val value = head()
    major match {
      case 2 | 3 => at += value.toInt
      case 4 => each(value)(skip())
      case 5 => each(if (value < 0) value else value * 2)(skip())
      case 6 => skip()
      case _ => ()
    }
  }

  private def head(): Long = {
    val first = body(at) & 0xff
    at += 1
    major = first >>> 5
    val info = first & 0x1f
    if (info < 24) info.toLong
    else if (info == 31) -1
    else {
      var value = 0L
      (1 to (1 << (info - 24))).foreach { _ =>
        value = value << 8 | (body(at) & 0xff)
        at += 1
      }
      value
    }
  }
}

private object SkimmedAnswer {
  val Break: Byte = 0xff.toByte
}

private object BarePollingLoops {
  def oldest(stream: String, shard: Int): GetShardIteratorRequest = GetShardIteratorRequest
    .builder()
    .streamName(stream)
    .shardId(ShardId.ofIndex(shard.toLong).value)
    .shardIteratorType(ShardIteratorType.TRIM_HORIZON)
    .build()

  def page(iterator: String): GetRecordsRequest =
    GetRecordsRequest.builder().shardIterator(iterator).limit(KinesisQuotas.Request.GetRecordsLimit).build()

  def inThreads(shards: Int, tally: Tally)(read: Int => Unit): Unit = (0 until shards).foreach { shard =>
    val thread = new Thread(
      () =>
        try read(shard)
        catch { case NonFatal(error) => tally.fail(error) },
      s"bare-$shard"
    )
    thread.setDaemon(true)
    thread.start()
  }
}
