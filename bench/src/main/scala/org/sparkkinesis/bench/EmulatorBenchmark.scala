package org.sparkkinesis.bench

import java.lang.management.ManagementFactory
import java.net.URI
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, Semaphore, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}

/**
 * How fast the emulator is, asked by the AWS SDK from the same process, so that both share the machine: MB/s (10^6 bytes
 * of payload) in 1 KiB records over 4 shards with quotas off, and the 99th percentile from put to push in milliseconds.
 * The last line of the output is one object of JSON.
 */
object EmulatorBenchmark {
  private val Shards = 4
  private val RecordBytes = 1024
  private val InFlight = 12
  private val Stream = "bench"

  def main(args: Array[String]): Unit = {
    val seconds = args.sliding(2).collectFirst { case Array("--seconds", n) => n.toInt }.getOrElse(10)
    val cap = Runtime.getRuntime.maxMemory / 2
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, memoryCapBytes = cap))
    val client = KinesisAsyncClient
      .builder()
      .region(Region.US_EAST_1)
      .endpointOverride(URI.create(emulator.endpoint))
      .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("bench", "bench")))
      .httpClientBuilder(NettyNioAsyncHttpClient.builder().protocol(Protocol.HTTP2).maxConcurrency(100))
      .build()
    try {
      emulator.admin.createStream(Stream, Shards)
      val run = new Run(client, emulator)
      run.put(math.max(2, seconds / 3).seconds)
      val put = measured("put")(run.put(seconds.seconds))
      run.refill()
      run.get(math.max(2, seconds / 3).seconds)
      val get = measured("get")(run.get(seconds.seconds))
      run.push(math.max(2, seconds / 3).seconds)
      val push = measured("push")(run.push(seconds.seconds))
      val p99 = run.latency(seconds.seconds)
      println(f"""{"put_mb_s":$put%.1f,"get_mb_s":$get%.1f,"push_mb_s":$push%.1f,"push_p99_ms":$p99%.2f}""")
    } finally {
      client.close()
      emulator.close()
    }
  }

  /** Prints what a rate cost in CPU time, which a busy machine does not change as it changes the rate. */
  private def measured(name: String)(rate: => Double): Double = {
    val (cpu, emulatorCpu, start) = (processCpu(), emulatorThreadsCpu(), System.nanoTime())
    val found = rate
    val megabytes = found * (System.nanoTime() - start) / 1e9
    println(
      f"$name: $found%.1f MB/s, CPU ms for each MB: ${(processCpu() - cpu) / 1e6 / megabytes}%.2f in all, " +
        f"${(emulatorThreadsCpu() - emulatorCpu) / 1e6 / megabytes}%.2f in the emulator"
    )
    found
  }

  private def processCpu(): Long =
    ManagementFactory.getPlatformMXBean(classOf[com.sun.management.OperatingSystemMXBean]).getProcessCpuTime

  private def emulatorThreadsCpu(): Long = {
    val threads = ManagementFactory.getThreadMXBean
    threads
      .getThreadInfo(threads.getAllThreadIds)
      .toSeq
      .filter(info => info != null && info.getThreadName.startsWith("kinesis-emulator"))
      .map(info => math.max(0, threads.getThreadCpuTime(info.getThreadId)))
      .sum
  }

  final private class Run(client: KinesisAsyncClient, emulator: KinesisEmulator) {
    private val payload = SdkBytes.fromByteArray(Array.tabulate[Byte](RecordBytes)(i => (i * 31).toByte))
    private val entries = (0 until 500)
      .map(i => PutRecordsRequestEntry.builder().partitionKey(s"key-$i").data(payload).build())
      .asJava
    private val shardIds = (0 until Shards).map(i => f"shardId-$i%012d")
    private val consumers = new AtomicInteger

    def put(time: FiniteDuration): Double = {
      val permits = new Semaphore(InFlight)
      val bytes = new AtomicLong
      val start = System.nanoTime()
      val request = PutRecordsRequest.builder().streamName(Stream).records(entries).build()
      while (System.nanoTime() - start < time.toNanos) {
        permits.acquire()
        client.putRecords(request).whenComplete { (response, error) =>
          if (error == null) bytes.addAndGet((entries.size - response.failedRecordCount).toLong * RecordBytes)
          permits.release()
        }
      }
      permits.acquire(InFlight)
      rate(bytes.get, start)
    }

    /** Something to read that fits below the cap. */
    def refill(): Unit = {
      emulator.admin.deleteStream(Stream)
      emulator.admin.createStream(Stream, Shards)
      val requests = (300L * 1000 * 1000 / (RecordBytes * 500L)).toInt
      val request = PutRecordsRequest.builder().streamName(Stream).records(entries).build()
      (1 to requests).grouped(InFlight).foreach { group =>
        CompletableFuture.allOf(group.map(_ => client.putRecords(request)): _*).join()
      }
    }

    def get(time: FiniteDuration): Double = {
      val bytes = new AtomicLong
      val start = System.nanoTime()
      def expired: Boolean = System.nanoTime() - start > time.toNanos
      def fromStart(shard: String): CompletableFuture[Unit] = client
        .getShardIterator { (r: GetShardIteratorRequest.Builder) =>
          r.streamName(Stream).shardId(shard).shardIteratorType(ShardIteratorType.TRIM_HORIZON)
          ()
        }
        .thenCompose(i => follow(shard, i.shardIterator))
      def follow(shard: String, iterator: String): CompletableFuture[Unit] =
        client.getRecords((r: GetRecordsRequest.Builder) => r.shardIterator(iterator).limit(2000)).thenCompose { page =>
          page.records.forEach { record => bytes.addAndGet(record.data.asByteArrayUnsafe.length.toLong); () }
          if (expired) CompletableFuture.completedFuture(())
          else if (page.records.isEmpty) fromStart(shard)
          else follow(shard, page.nextShardIterator)
        }
      CompletableFuture.allOf(shardIds.map(fromStart): _*).join()
      rate(bytes.get, start)
    }

    def push(time: FiniteDuration): Double = {
      val bytes = new AtomicLong
      val start = System.nanoTime()
      def expired: Boolean = System.nanoTime() - start > time.toNanos
      val perShard = emulator.admin.recordCount(Stream) / Shards * RecordBytes
      def round(): Unit = if (!expired) {
        val arn = newConsumer()
        val done = new CountDownLatch(Shards)
        shardIds.foreach { shard =>
          val mine = new AtomicLong
          var over = false
          subscribe(arn, shard, ShardIteratorType.TRIM_HORIZON) { event =>
            event.records.forEach { record =>
              val n = record.data.asByteArrayUnsafe.length.toLong
              bytes.addAndGet(n)
              mine.addAndGet(n)
              ()
            }
            if (!over && (mine.get >= perShard * 0.9 || expired)) {
              over = true
              done.countDown()
            }
            !over
          }
        }
        done.await(60, TimeUnit.SECONDS)
        round()
      }
      round()
      rate(bytes.get, start)
    }

    def latency(time: FiniteDuration): Double = {
      val latencies = new ConcurrentLinkedQueue[java.lang.Double]
      val opened = new CountDownLatch(Shards)
      val arn = newConsumer()
      val start = System.nanoTime()
      shardIds.foreach { shard =>
        subscribe(arn, shard, ShardIteratorType.LATEST, () => opened.countDown()) { event =>
          val now = System.nanoTime()
          event.records.forEach { record =>
            val sent = record.data.asByteBuffer.getLong()
            if (sent - start > 1.second.toNanos) latencies.add((now - sent) / 1e6)
            ()
          }
          System.nanoTime() - start < time.toNanos
        }
      }
      opened.await(20, TimeUnit.SECONDS)
      var n = 0
      while (System.nanoTime() - start < time.toNanos) {
        val data = java.nio.ByteBuffer.allocate(RecordBytes)
        data.putLong(System.nanoTime()).rewind()
        n += 1
        val key = s"key-$n"
        client.putRecord((r: PutRecordRequest.Builder) =>
          r.streamName(Stream).partitionKey(key).data(SdkBytes.fromByteBuffer(data))
        )
        TimeUnit.MILLISECONDS.sleep(2)
      }
      val sorted = latencies.asScala.map(_.doubleValue).toArray.sorted
      sorted((sorted.length * 0.99).toInt)
    }

    private def newConsumer(): String = {
      val arn = client.describeStreamSummary((r: DescribeStreamSummaryRequest.Builder) =>
        r.streamName(Stream)
      ).join().streamDescriptionSummary.streamARN
      val name = s"c${consumers.incrementAndGet()}"
      val consumer = client.registerStreamConsumer((r: RegisterStreamConsumerRequest.Builder) =>
        r.streamARN(arn).consumerName(name)
      ).join().consumer.consumerARN
      while (
        client
          .describeStreamConsumer((r: DescribeStreamConsumerRequest.Builder) => r.consumerARN(consumer))
          .join()
          .consumerDescription
          .consumerStatus != ConsumerStatus.ACTIVE
      ) TimeUnit.MILLISECONDS.sleep(20)
      consumer
    }

    private def subscribe(arn: String, shard: String, from: ShardIteratorType, opened: () => Unit = () => ())(
        onEvent: SubscribeToShardEvent => Boolean
    ): Unit = {
      val request = SubscribeToShardRequest
        .builder()
        .consumerARN(arn)
        .shardId(shard)
        .startingPosition(StartingPosition.builder().`type`(from).build())
        .build()
      val handler = SubscribeToShardResponseHandler
        .builder()
        .onResponse((_: SubscribeToShardResponse) => opened())
        .subscriber(() =>
          new Subscriber[SubscribeToShardEventStream] {
            private var demand: Subscription = _
            override def onSubscribe(s: Subscription): Unit = {
              demand = s
              s.request(1)
            }
            override def onNext(event: SubscribeToShardEventStream): Unit = event match {
              case e: SubscribeToShardEvent => if (onEvent(e)) demand.request(1) else demand.cancel()
              case _ => demand.request(1)
            }
            override def onError(t: Throwable): Unit = ()
            override def onComplete(): Unit = ()
          }
        )
        .build()
      client.subscribeToShard(request, handler)
      ()
    }
  }

  private def rate(bytes: Long, startNanos: Long): Double = bytes / 1e6 / ((System.nanoTime() - startNanos) / 1e9)
}
