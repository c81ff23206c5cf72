package org.sparkkinesis.emulator.wire.push

import java.util.concurrent.atomic.AtomicBoolean

import io.netty.buffer.ByteBuf
import io.netty.handler.codec.http.{DefaultHttpContent, LastHttpContent}

import org.sparkkinesis.emulator.action.call.SubscribeRequest
import org.sparkkinesis.emulator.action.record.RecordShape
import org.sparkkinesis.emulator.document.ReplyWriter
import org.sparkkinesis.emulator.engine.Engine
import org.sparkkinesis.emulator.engine.consumer.OpenSubscription
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.{Quota, TokenBucket}
import org.sparkkinesis.emulator.engine.shard.{ReadResult, SequenceNumbers}
import org.sparkkinesis.emulator.engine.time.Timers.Timer
import org.sparkkinesis.emulator.fault.FaultEffect
import org.sparkkinesis.emulator.wire.http.Exchange
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.model.KinesisQuotas.Lifetime

/**
 * Pushes the events of one subscription to one shard into one response.
 *
 * All work is done on the event loop of the channel; other threads only wake it. Events are written while the channel
 * is writable, so a slow reader stops the events (HTTP/2 flow control) but not the connection. The subscription ends
 * after five minutes, at the end of the shard, when another subscription takes over, or with its consumer.
 */
final class EventPush(
    request: SubscribeRequest,
    exchange: Exchange,
    engine: Engine,
    fault: Option[FaultEffect.OfSubscription]
) extends OpenSubscription {
  import EventPush._

  private val ctx = exchange.ctx
  private val shard = request.shard
  private val pumpWanted = new AtomicBoolean
  private val wakeUp: Runnable = () => wake()
  private val openedMillis = engine.clock.millis
  private val pace = engine.policy
    .limit(Quota.FanOutBytes, KinesisQuotas.Shard.FanOutBytesPerSecond)
    .map(rate => new TokenBucket(rate, rate, openedMillis))
  private var after = request.afterSeqIx
  private var lastNumber: String = _
  private var lastEventMillis = openedMillis
  private var timers = List.empty[Timer]
  private var paceTimer: Timer = _
  private var events = 0
  private var ended = false

  /** Starts pushing. The head of the response has already been written. */
  def start(): Unit = {
    write(EventFrame.encode(ctx.alloc(), EventFrame.InitialResponse, 0)(_.obj(())))
    shard.onChange(wakeUp)
    timers = List(engine.timers.at(openedMillis + Lifetime.Subscription.toMillis)(() => complete()))
    scheduleIdle()
    afterEvent()
    pump()
  }

  /** Pushes new records soon, on the event loop. */
  def wake(): Unit = if (pumpWanted.compareAndSet(false, true)) ctx.channel.eventLoop.execute(() => pump())

  override def complete(): Unit = onLoop(finish())

  override def fail(error: ServiceError): Unit = onLoop {
    if (!ended) {
      write(EventFrame.encode(ctx.alloc(), EventFrame.exception(error.errorType), 0) { payload =>
        payload.obj(payload.field("message", error.getMessage))
      })
      finish()
    }
  }

  /** Stops writing, since the reader has disconnected. */
  def abandon(): Unit = onLoop(release())

  private def onLoop(body: => Unit): Unit =
    if (ctx.channel.eventLoop.inEventLoop) body else ctx.channel.eventLoop.execute(() => body)

  private def pump(): Unit = {
    pumpWanted.set(false)
    while (!ended && !isMute && ctx.channel.isWritable && !isPaced && pushOne()) {}
  }

  private def isPaced: Boolean = {
    val wait = pace.fold(0L)(_.millisUntil(0, engine.clock.millis))
    if (wait > 0) {
      if (paceTimer != null) paceTimer.cancel()
      paceTimer = engine.timers.after(wait)(() => wake())
    }
    wait > 0
  }

  /** Writes the next event. Returns false if there is none. */
  private def pushOne(): Boolean = {
    val now = engine.clock.millis
    val wasClosed = !shard.isOpen
    val read = shard.read(after, request.stream.horizon(now), MaxEventRecords, MaxEventBytes)
    val atEnd = wasClosed && read.nextArrivalMillis < 0
    if (read.records.isEmpty && !atEnd) false
    else {
      read.records.lastOption.foreach { record =>
        after = record.seqIx
        lastNumber = record.sequenceNumber
      }
      writeEvent(read, atEnd, now)
      pace.foreach(_.overdraw(read.bytes.toDouble, now))
      if (atEnd) finish()
      afterEvent()
      !atEnd
    }
  }

  private def isMute: Boolean = fault.contains(FaultEffect.Mute)

  // Applies faults that take effect after a number of events.
  private def afterEvent(): Unit = fault match {
    case Some(FaultEffect.EndAfter(n)) if events >= n => finish()
    case Some(FaultEffect.FailAfter(n, error)) if events >= n =>
      fail(new ServiceError(error.status, error.errorType, error.message))
    case Some(FaultEffect.ResetAfter(n)) if events >= n =>
      release()
      exchange.resetStream()
    case _ => ()
  }

  private def writeEvent(read: ReadResult, atEnd: Boolean, now: Long): Unit = {
    val hint = read.bytes * 4 / 3 + read.records.length * RecordJsonBytes
    val behind = if (read.nextArrivalMillis < 0) 0L else math.max(0, now - read.nextArrivalMillis)
    shard.traffic.fannedOut(read.bytes)
    val frame = EventFrame.encode(ctx.alloc(), EventFrame.SubscribeToShardEvent, hint.toInt) { event =>
      event.obj {
        event.array("Records", read.records)(RecordShape.write(event))
        if (!atEnd) event.field("ContinuationSequenceNumber", continuation(now))
        event.field("MillisBehindLatest", behind)
        writeEnd(event, atEnd)
      }
    }
    if (fault.contains(FaultEffect.DuplicateEvents)) write(frame.copy())
    write(frame)
    lastEventMillis = now
    events += 1
  }

  private def writeEnd(event: ReplyWriter, atEnd: Boolean): Unit =
    if (atEnd) RecordShape.writeChildren(event, request.stream, shard)

  private def continuation(now: Long): String =
    if (lastNumber != null) lastNumber
    else SequenceNumbers.encode(
      shard.createdSeconds,
      shard.index,
      math.max(after, 0),
      math.max(now / 1000, shard.createdSeconds)
    )

  // Empty events keep an idle subscription alive: the read timeout of a client is longer than their interval.
  private def scheduleIdle(): Unit = {
    val idle = Lifetime.IdleSubscriptionEvent.toMillis
    val due = lastEventMillis + idle
    val timer = engine.timers.at(due)(() => onLoop(idleCheck()))
    timers = timer :: timers.filter(_.dueMillis > engine.clock.millis)
  }

  private def idleCheck(): Unit = if (!ended) {
    val now = engine.clock.millis
    if (now - lastEventMillis >= Lifetime.IdleSubscriptionEvent.toMillis) {
      if (ctx.channel.isWritable && !isMute) writeEvent(NothingRead, atEnd = false, now) else lastEventMillis = now
    }
    scheduleIdle()
  }

  private def write(frame: ByteBuf): Unit = {
    ctx.writeAndFlush(new DefaultHttpContent(frame))
    ()
  }

  private def finish(): Unit = if (!ended) {
    ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
    release()
  }

  private def release(): Unit = if (!ended) {
    ended = true
    shard.removeListener(wakeUp)
    timers.foreach(_.cancel())
    if (paceTimer != null) paceTimer.cancel()
    request.consumer.released(shard.id.value, this)
  }
}

object EventPush {

  // 512 KiB keep an event below the client's flow-control window. A larger record is sent alone.
  private val MaxEventBytes = 512L * 1024
  private val MaxEventRecords = 10000
  private val RecordJsonBytes = 220
  private val NothingRead = new ReadResult(Array.empty, 0, -1)
}
