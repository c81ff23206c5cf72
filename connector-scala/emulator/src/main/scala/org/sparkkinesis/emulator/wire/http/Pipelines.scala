package org.sparkkinesis.emulator.wire.http

import io.netty.channel.{Channel, ChannelInitializer, ChannelOption, ChannelPipeline, WriteBufferWaterMark}
import io.netty.handler.codec.http.HttpServerCodec
import io.netty.handler.codec.http2._

/** HTTP/2 settings that the server announces. */
final case class Http2Limits(maxConcurrentStreams: Int = 100, initialWindowBytes: Int = 1024 * 1024)

/** Installs the handlers of a connection after its protocol is known. */
final private[http] class Pipelines(receiver: RequestReceiver, limits: Http2Limits, dates: HttpDates) {
  import Pipelines._

  def http1(pipeline: ChannelPipeline): Unit = {
    pipeline.channel.config.setWriteBufferWaterMark(PushWaterMark)
    pipeline.addLast(
      new HttpServerCodec(MaxInitialLine, MaxHeaderBytes, MaxChunkBytes),
      new RequestCollector(receiver, dates)
    )
    ()
  }

  def http2(pipeline: ChannelPipeline): Unit = {
    val settings = Http2Settings.defaultSettings
      .maxConcurrentStreams(limits.maxConcurrentStreams.toLong)
      .initialWindowSize(limits.initialWindowBytes)
      .maxHeaderListSize(MaxHeaderBytes.toLong)
    val codec = Http2FrameCodecBuilder.forServer().initialSettings(settings).build()
    pipeline.addLast(codec, new Http2MultiplexHandler(StreamInitializer))
    widenConnectionWindow(codec)
  }

  // The flow-control window of the connection starts at 64 KiB regardless of the settings, which would slow down
  // puts.
  private def widenConnectionWindow(codec: Http2FrameCodec): Unit = {
    val connection = codec.connection
    val more = limits.initialWindowBytes * ConnectionWindows
    connection.local.flowController.incrementWindowSize(connection.connectionStream, more)
  }

  private object StreamInitializer extends ChannelInitializer[Channel] {
    override def isSharable: Boolean = true

    override def initChannel(stream: Channel): Unit = {
      stream.config.setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, PushWaterMark)
      stream.pipeline.addLast(new Http2StreamFrameToHttpObjectCodec(true), new RequestCollector(receiver, dates))
      ()
    }
  }
}

private object Pipelines {
  val MaxInitialLine: Int = 8192
  val MaxHeaderBytes: Int = 16384
  val MaxChunkBytes: Int = 64 * 1024
  val ConnectionWindows: Int = 8

  // The number of bytes that may wait in a channel before pushing stops, low enough that a slow reader uses little
  // memory.
  val PushWaterMark = new WriteBufferWaterMark(128 * 1024, 512 * 1024)
}
