package org.sparkkinesis.simulation.read

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.model.hash.HashKey
import org.sparkkinesis.model.{ShardId, StreamStatus}
import org.sparkkinesis.simulation.model.{ModelKinesis, ModelStream}
import org.sparkkinesis.simulation.read.schedule._

/**
 * The other users of one stream, which write to it, reshard it, delete it and create it.
 *
 * @param nextId
 *   returns an id for a user record that is unique over all streams
 */
final class StreamActions(
    service: ModelKinesis,
    ledger: ReadLedger,
    setup: ReadSetup,
    arn: String,
    random: Random,
    nextId: () => Long
) {
  import ReadAction._

  private var isDown = false
  private val filters = setup.options.get("deaggregation.hashRangeFilter").contains("true")

  service.create(arn, setup.shards, setup.retentionHours)

  /** Indexes are taken modulo the number of targets. */
  def perform(action: ReadAction): Unit = service.stream(arn).filterNot(_ => isDown).foreach { stream =>
    action match {
      case Put(count) => (1 to count).foreach(_ => put(stream, randomKey()))
      case PutTo(index, count) =>
        val shard = stream.open(index % stream.open.size)
        val keys = StreamActions.keys.filter(key => shard.range.contains(HashKey.ofPartitionKey(key)))
        if (keys.nonEmpty) (1 to count).foreach(_ => put(stream, keys(random.nextInt(keys.size))))
      case PutAggregate(count, strays) => putAggregate(stream, count, strays)
      case Split(index) =>
        val shard = stream.open(index % stream.open.size)
        if (stream.open.size < StreamActions.MostShards) service.split(stream, shard)
      case Merge(index) =>
        val open = stream.open
        if (open.size > 1) {
          val first = index % (open.size - 1)
          service.merge(stream, open(first), open(first + 1))
        }
      case Retain(hours) =>
        stream.retentionHours = hours
        ledger.retain(hours)
      case Recreate(shards, downMillis) => recreate(stream, shards, downMillis)
      case _ => ()
    }
  }

  /** Completes the creation of a recreated stream at once. */
  def heal(): Unit = if (isDown) {
    service.stream(arn).foreach(stream => ledger.removed(stream.life))
    if (service.stream(arn).isEmpty || service.status(arn) == StreamStatus.Deleting)
      service.create(arn, setup.shards, setup.retentionHours)
    service.activate(arn)
    isDown = false
  }

  private def randomKey(): String = StreamActions.keys(random.nextInt(StreamActions.Keys))

  private def put(stream: ModelStream, key: String): Unit = {
    val id = nextId()
    val (shard, record) = service.put(stream, id, key, HashKey.ofPartitionKey(key), data(id, setup.recordBytes))
    ledger.add(PutRecord(
      id,
      stream.life,
      shard.id.value,
      key,
      record.arrivalMillis,
      ordered = true,
      dropped = false,
      StreamActions.ancestors(stream, shard.id)
    ))
  }

  /** The id, with leading zeros up to the size. */
  private def data(id: Long, bytes: Int): Array[Byte] = {
    val digits = id.toString.getBytes(UTF_8)
    val data = new Array[Byte](math.max(bytes, digits.length))
    java.util.Arrays.fill(data, '0'.toByte)
    digits.copyToArray(data, data.length - digits.length)
    data
  }

  private def putAggregate(stream: ModelStream, count: Int, strays: Int): Unit = {
    val key = s"outer-${random.nextInt(StreamActions.Keys)}"
    val hash = HashKey.ofPartitionKey(key)
    val target = stream.shardOf(hash)
    val aggregator = new Aggregator()
    val first = nextId()
    val members = Iterator.from(0).map(i => s"member-${first + i}")
    val (own, other) =
      members.take(200).toVector.partition(member => target.range.contains(HashKey.ofPartitionKey(member)))
    val keys = random.shuffle(own.take(count) ++ other.take(strays))
    if (keys.nonEmpty) {
      val ids = keys.map { member =>
        val id = nextId()
        aggregator.tryAdd(member, None, data(id, 1))
        id -> member
      }
      val (shard, record) = service.put(stream, ids.last._1, key, hash, aggregator.result())
      ids.foreach { case (id, member) =>
        val isDropped = filters && !shard.range.contains(HashKey.ofPartitionKey(member))
        ledger.add(
          PutRecord(
            id,
            stream.life,
            shard.id.value,
            member,
            record.arrivalMillis,
            ordered = false,
            isDropped,
            StreamActions.ancestors(stream, shard.id)
          )
        )
      }
    }
  }

  private def recreate(stream: ModelStream, shards: Int, downMillis: Long): Unit = {
    isDown = true
    ledger.deleted(stream.life)
    service.beginDeletion(arn)
    later(downMillis / 2) {
      service.remove(arn)
      ledger.removed(stream.life)
    }
    later(downMillis * 3 / 4) {
      service.create(arn, shards, setup.retentionHours)
      service.beginCreation(arn)
    }
    later(downMillis) {
      service.activate(arn)
      isDown = false
    }
  }

  private def later(millis: Long)(body: => Unit): Unit = {
    service.scheduler.schedule(millis.millis)(if (isDown) body)
    ()
  }
}

private object StreamActions {
  val Keys = 16
  val keys: Vector[String] = Vector.tabulate(Keys)(i => s"key-$i")
  val MostShards = 8

  def ancestors(stream: ModelStream, shard: ShardId): Set[String] = stream.ancestors(shard).map(_.value)
}

/** The other users of all streams of a query, each of which belongs to another account. */
final class AllStreams(service: ModelKinesis, ledger: ReadLedger, setup: ReadSetup, random: Random) {
  import ReadAction._

  private var lastId = 0L

  val arns: Vector[String] = AllStreams.Accounts.take(setup.streams).zipWithIndex.map { case (account, i) =>
    ModelKinesis.arn(account, if (setup.isLogical) s"${AllStreams.Name}-$i" else AllStreams.Name)
  }

  private val all = arns.map(new StreamActions(
    service,
    ledger,
    setup,
    _,
    random,
    () => {
      lastId += 1
      lastId
    }
  ))

  def perform(action: ReadAction): Unit = action match {
    case Put(count) if all.size > 1 => (1 to count).foreach(_ => anyStream().perform(Put(1)))
    case PutTo(shard, count) => all(shard % all.size).perform(PutTo(shard / all.size, count))
    case Split(shard) => all(shard % all.size).perform(Split(shard / all.size))
    case Merge(shard) => all(shard % all.size).perform(Merge(shard / all.size))
    case other => anyStream().perform(other)
  }

  def heal(): Unit = all.foreach(_.heal())

  private var mostShards = 0

  /**
   * The highest number of shards of all streams so far, including closed ones. Executors may still hold records of a
   * stream that was deleted.
   */
  def shards: Int = {
    mostShards = math.max(mostShards, arns.flatMap(service.stream).map(_.shards.size).sum)
    mostShards
  }

  /** Returns the shards from which a shard of a stream descends, which a report names by its name or ARN. */
  def ancestors(stream: String, shard: String): Set[String] = arns.filter(LossReport.isNamed(_, stream))
    .flatMap(service.stream).flatMap(StreamActions.ancestors(_, ShardId(shard))).toSet

  /** Returns the shards of a stream that have expired by now and have a parent of this one. */
  def expiredSiblings(stream: String, shard: String, now: Long): Set[String] = {
    val found = for {
      one <- arns.filter(LossReport.isNamed(_, stream)).flatMap(service.stream)
      reported <- one.shard(ShardId(shard)).toSeq
      other <- one.shards if one.isExpired(other, now) && other.parents.exists(reported.parents.contains)
    } yield other.id.value
    found.toSet
  }

  private def anyStream(): StreamActions = if (all.size == 1) all.head else all(random.nextInt(all.size))
}

private object AllStreams {
  val Name = "orders"
  val Accounts: Vector[String] = Vector(ModelKinesis.Account, "210987654321", "333333333333")
}
