package org.sparkkinesis.emulator.admin

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._

import org.sparkkinesis.emulator.access.AccessPolicies
import org.sparkkinesis.emulator.document.{Encoding, Fields}
import org.sparkkinesis.emulator.engine.Namespace
import org.sparkkinesis.emulator.engine.delivery.S3Destination
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.{Quota, QuotaPolicy}
import org.sparkkinesis.emulator.engine.shard.IncomingRecord
import org.sparkkinesis.emulator.engine.stream.{PlannedShard, Resharding, StreamSettings}
import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.fault.{FaultJson, Faults}
import org.sparkkinesis.model.hash.{HashKey, HashPoint}
import org.sparkkinesis.model.{ConsumerStatus, KinesisRecord, Shard, ShardId, StreamStatus, Utf8}

/**
 * Changes an emulator in the same process directly, without calls of the API. The changes take effect at once,
 * without quotas and delays. Thread-safe. The parameters and results are types that py4j supports.
 */
final class EmulatorAdmin private[emulator] (
    home: Namespace,
    val faults: Faults,
    val metadata: PublishedMetadata,
    policies: AccessPolicies
) {
  private val engine = home.engine

  def account: String = home.account
  def region: String = home.region

  /** Returns the same control for the streams of another account and region. */
  def in(account: String, region: String): EmulatorAdmin =
    new EmulatorAdmin(engine.namespace(account, region), faults, metadata, policies)

  /** Sets the document of the page `/metadata/streams`, and returns its entity tag. */
  def setMetadata(document: String): String = metadata.publish(document, None)

  /**
   * Sets the IAM policies of the calls with an access key or with a role, which then may do only what they allow.
   * Without any policy, they may do everything again.
   *
   * @param owner
   *   access key ID, or ARN of a role
   * @param documents
   *   policies in JSON
   * @throws IllegalArgumentException
   *   if a policy is not valid
   */
  def setPolicies(owner: String, documents: String*): Unit = policies.set(owner, documents)

  def clock: EmulatorClock = engine.clock

  def advanceClock(millis: Long): Unit = clock.advance(millis.millis)

  /**
   * Adds a fault that is written as JSON (see [[org.sparkkinesis.emulator.fault.FaultJson]]), and returns its number.
   */
  def addFault(json: String): Int = {
    val bytes = json.getBytes(UTF_8)
    addFault(Encoding.Json.parse(bytes, 0, bytes.length))
  }

  private[emulator] def addFault(fields: Fields): Int = faults.add(FaultJson.read(fields))

  /** Creates a stream that is ACTIVE when this returns, and returns its ARN. */
  def createStream(name: String, shards: Int): String = {
    val stream = home.add(name, StreamSettings())
    stream.change(StreamStatus.Creating, 0)(() => stream.open(shards, clock.millis))
    stream.arn
  }

  /**
   * Creates a delivery stream that is ACTIVE when this returns, and returns its ARN. Its files are in the folder of its
   * name in the emulator's folder of deliveries.
   */
  def createDeliveryStream(name: String): String = {
    val stream =
      home.deliveryStreams.add(name, S3Destination(name, "arn:aws:iam::123456789012:role/delivery"), clock.millis)
    stream.activate()
    stream.arn
  }

  /** The number of records that a delivery stream has delivered. */
  def deliveredRecords(name: String): Long = home.deliveryStreams.stream(name).deliveredRecords.get

  /**
   * Changes the stream to on-demand mode with record distribution strategy AUTO: it ignores partition keys when it
   * chooses shards.
   */
  def distributeItself(name: String): Unit =
    home.stream(name).update(_.copy(onDemand = true, distributesItself = true))

  /** Changes how long the stream keeps its records, without the limits of the service. */
  def setRetention(name: String, hours: Int): Unit = home.stream(name).update(_.copy(retentionHours = hours))

  /** Changes the size that a record of the stream may have, in KiB. */
  def setMaxRecordSize(name: String, kib: Int): Unit = home.stream(name).update(_.copy(maxRecordKiB = kib))

  def deleteStream(name: String): Unit = home.remove(home.stream(name))

  def streamNames: Array[String] = home.streams.map(_.name).toArray

  /** The names of the enhanced fan-out consumers that are not being deleted. */
  def consumerNames(stream: String): Array[String] =
    home.stream(stream).consumers.filter(_.status != ConsumerStatus.Deleting).map(_.name).toArray

  /** Puts one record without a write limit, and returns its sequence number. */
  def putRecord(stream: String, partitionKey: String, data: Array[Byte]): String =
    put(stream, partitionKey, null, data)

  def putRecord(stream: String, partitionKey: String, explicitHashKey: String, data: Array[Byte]): String =
    put(stream, partitionKey, explicitHashKey, data)

  private def put(streamName: String, partitionKey: String, explicitHashKey: String, data: Array[Byte]): String = {
    val stream = home.stream(streamName)
    val hash =
      if (explicitHashKey == null) HashPoint.ofPartitionKey(partitionKey)
      else HashPoint.of(
        HashKey.parse(explicitHashKey).getOrElse(throw ServiceError.invalidArgument("Invalid ExplicitHashKey."))
      )
    val entry = new IncomingRecord(partitionKey, data, hash, data.length + Utf8.length(partitionKey))
    val (shard, record) = stream.append(entry, stream.settings.encryptionType, clock.millis, null)
    shard.wake()
    record.sequenceNumber
  }

  /** Splits an open shard at once, in the middle of its range. */
  def splitShard(stream: String, shard: String): Unit = {
    val state = home.stream(stream)
    val parent = state.shard(ShardId(shard))
    val middle = (parent.range.start + parent.range.end + 1) / 2
    state.reshard(Resharding.split(PlannedShard(parent.index, parent.range, Nil), middle, state.shards.nextIndex))
  }

  /** Merges two adjacent open shards at once. */
  def mergeShards(stream: String, shard: String, adjacent: String): Unit = {
    val state = home.stream(stream)
    val Seq(first, second) =
      Seq(shard, adjacent).map(id => state.shard(ShardId(id))).map(s => PlannedShard(s.index, s.range, Nil)): @unchecked
    state.reshard(Resharding.merge(first, second, state.shards.nextIndex))
  }

  /** Scales the stream to a number of equal shards at once, without the limits of the service. */
  def updateShardCount(stream: String, target: Int): Unit = {
    val state = home.stream(stream)
    val open = state.shards.openShards.map(s => PlannedShard(s.index, s.range, Nil))
    state.reshard(Resharding.uniform(open, target, state.shards.nextIndex))
  }

  def shards(stream: String): Seq[Shard] = home.stream(stream).shards.all.map(_.toShard)

  /** All records that a shard holds now, in order. */
  def records(stream: String, shard: String): IndexedSeq[KinesisRecord] = {
    val state = home.stream(stream)
    val read = state.shard(ShardId(shard)).read(-1, state.horizon(clock.millis), Int.MaxValue, Long.MaxValue)
    read.records.toIndexedSeq.map { r =>
      new KinesisRecord(r.sequenceNumber, r.partitionKey, r.arrivalMillis, r.data, r.encryptionType)
    }
  }

  /** All records that a stream holds now, shard by shard. */
  def records(stream: String): IndexedSeq[KinesisRecord] =
    home.stream(stream).shards.all.flatMap(shard => records(stream, shard.id.value))

  def recordCount(stream: String): Long = home.stream(stream).shards.all.map(_.heldRecords.toLong).sum

  /** Bytes of payloads and keys that GetRecords has returned of each shard that the stream has now. */
  def bytesRead(stream: String): Map[String, Long] =
    home.stream(stream).shards.all.map(shard => shard.id.value -> shard.traffic.bytesOut).toMap

  /** Switches all quotas on or off. */
  def setQuotas(on: Boolean): Unit = engine.policy = if (on) QuotaPolicy.Service else QuotaPolicy.Off

  /** Scales the quota of this name in [[Quota]]; 0 switches it off. */
  def scaleQuota(name: String, factor: Double): Unit = {
    val quota = Quota
      .parse(name)
      .getOrElse(throw new IllegalArgumentException(
        s"No quota $name. The quotas are ${Quota.all.map(_.name).mkString(", ")}."
      ))
    engine.policy = if (factor == 0) engine.policy.without(quota) else engine.policy.scaled(quota, factor)
  }
}
