package org.sparkkinesis.simulation.read

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.model.HashKey
import org.sparkkinesis.simulation.model.{ModelKinesis, ModelStream}

/** The other users of the stream, which write to it, reshard it, delete it and create it. */
final class StreamActions(service: ModelKinesis, ledger: ReadLedger, setup: ReadSetup, random: Random) {
  import ReadAction._

  private var lastId = 0L
  private var isDown = false
  private val filters = setup.options.get("deaggregation.hashRangeFilter").contains("true")

  def perform(action: ReadAction): Unit =
    service.stream(ReadSimulation.Stream).filterNot(_ => isDown).foreach { stream =>
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
        case Recreate(shards, downMillis) => recreate(shards, downMillis)
        case _ => ()
      }
    }

  /** Completes the creation of a recreated stream at once. */
  def heal(): Unit = if (isDown) {
    if (service.stream(ReadSimulation.Stream).isEmpty || service.status(ReadSimulation.Stream) == "DELETING")
      service.create(ReadSimulation.Stream, setup.shards, setup.retentionHours)
    service.activate(ReadSimulation.Stream)
    isDown = false
  }

  private def randomKey(): String = StreamActions.keys(random.nextInt(StreamActions.Keys))

  private def put(stream: ModelStream, key: String): Unit = {
    lastId += 1
    val (shard, record) = service.put(stream, lastId, key, HashKey.ofPartitionKey(key), lastId.toString.getBytes(UTF_8))
    ledger.add(PutRecord(
      lastId,
      stream.generation,
      shard.id.value,
      key,
      record.arrivalMillis,
      ordered = true,
      dropped = false
    ))
  }

  private def putAggregate(stream: ModelStream, count: Int, strays: Int): Unit = {
    val key = s"outer-${random.nextInt(StreamActions.Keys)}"
    val hash = HashKey.ofPartitionKey(key)
    val target = stream.shardOf(hash)
    val aggregator = new Aggregator()
    val members = Iterator.from(0).map(i => s"member-${lastId + i}")
    val (own, other) =
      members.take(200).toVector.partition(member => target.range.contains(HashKey.ofPartitionKey(member)))
    val keys = random.shuffle(own.take(count) ++ other.take(strays))
    if (keys.nonEmpty) {
      val ids = keys.map { member =>
        lastId += 1
        aggregator.tryAdd(member, None, lastId.toString.getBytes(UTF_8))
        lastId -> member
      }
      val (shard, record) = service.put(stream, lastId, key, hash, aggregator.result())
      ids.foreach { case (id, member) =>
        val isDropped = filters && !shard.range.contains(HashKey.ofPartitionKey(member))
        ledger.add(
          PutRecord(id, stream.generation, shard.id.value, member, record.arrivalMillis, ordered = false, isDropped)
        )
      }
    }
  }

  private def recreate(shards: Int, downMillis: Long): Unit = {
    isDown = true
    service.stream(ReadSimulation.Stream).foreach(stream => ledger.deleted(stream.generation))
    service.beginDeletion(ReadSimulation.Stream)
    later(downMillis / 2)(service.remove(ReadSimulation.Stream))
    later(downMillis * 3 / 4) {
      service.create(ReadSimulation.Stream, shards, setup.retentionHours)
      service.beginCreation(ReadSimulation.Stream)
    }
    later(downMillis) {
      service.activate(ReadSimulation.Stream)
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
}
