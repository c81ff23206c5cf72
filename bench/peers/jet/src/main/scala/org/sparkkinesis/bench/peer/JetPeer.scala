package org.sparkkinesis.bench.peer

import scala.annotation.unused

import com.hazelcast.config.Config
import com.hazelcast.core.Hazelcast
import com.hazelcast.jet.kinesis.{KinesisSinks, KinesisSources}
import com.hazelcast.jet.pipeline.{Pipeline, SinkBuilder, SourceBuilder}

import org.sparkkinesis.bench.Tally

/** Hazelcast Jet's connector on a member in this process: the source (`polling`) and the sink. */
object JetPeer extends Peer {
  private val Region = "us-east-1"
  private val AccessKey = "AKIDEXAMPLE"
  private val SecretKey = "secret"
  private val WriteParallelism = 2
  private val AtOnce = 1024

  def main(@unused arguments: Array[String]): Unit = PeerServer.serve(this)

  private val member = {
    val config = new Config
    config.setProperty("hazelcast.logging.type", "none")
    config.setProperty("hazelcast.phone.home.enabled", "false")
    config.getJetConfig.setEnabled(true).setCooperativeThreadCount(2)
    val network = config.getNetworkConfig
    network.getJoin.getMulticastConfig.setEnabled(false)
    network.getJoin.getAutoDetectionConfig.setEnabled(false)
    network.getInterfaces.setEnabled(true).addInterface("127.0.0.1")
    Hazelcast.newHazelcastInstance(config)
  }

  override def read(connector: String, endpoint: String, stream: String): AutoCloseable = {
    val source = KinesisSources.kinesis(stream)
      .withEndpoint(endpoint)
      .withRegion(Region)
      .withCredentials(AccessKey, SecretKey)
      .withInitialShardIteratorRule(".*", "TRIM_HORIZON", null)
      .build()
    val counted = SinkBuilder.sinkBuilder("count", _ => "")
      .receiveFn((_: String, _: Any) => Tally.count(1))
      .build()
    val pipeline = Pipeline.create()
    pipeline.readFrom(source).withoutTimestamps().writeTo(counted)
    val job = member.getJet.newJob(pipeline)
    () => {
      job.cancel()
      // The future of a canceled job fails.
      job.getFuture.handle[Unit]((_, _) => ()).get()
    }
  }

  override def write(endpoint: String, stream: String, records: Long, bytes: Int): Unit = {
    val numbers = SourceBuilder.batch("numbers", _ => new Numbers(records))
      .fillBufferFn[java.lang.Long]((numbers, buffer) => numbers.fill(buffer))
      .build()
    val sink = KinesisSinks.kinesis[java.lang.Long](
      stream,
      number => number.toString,
      _ => {
        Tally.count(1)
        new Array[Byte](bytes)
      }
    ).withEndpoint(endpoint).withRegion(Region).withCredentials(AccessKey, SecretKey).build()
    val pipeline = Pipeline.create()
    pipeline.readFrom(numbers).writeTo(sink).setLocalParallelism(WriteParallelism)
    member.getJet.newJob(pipeline).join()
  }

  final private class Numbers(end: Long) extends Serializable {
    private var next = 0L

    def fill(buffer: SourceBuilder.SourceBuffer[java.lang.Long]): Unit = {
      val until = math.min(end, next + AtOnce)
      while (next < until) {
        buffer.add(next)
        next += 1
      }
      if (next == end) buffer.close()
    }
  }
}
