package org.sparkkinesis.emulator.engine

import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalactic.source

import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.emulator.engine.shard.{IncomingRecord, MemoryBudget, ShardLog}
import org.sparkkinesis.emulator.engine.stream.{DataStream, PlannedShard, Resharding, StreamSettings, StreamStore}
import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.store.DeliveryFiles
import org.sparkkinesis.model.StreamStatus
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.suite.TimedSuite

class ReshardRaceSuite extends TimedSuite {
  private def testOnEngine(name: String)(body: Engine => Any)(implicit position: source.Position): Unit = test(name) {
    val made = {
      val delays = ChangeDelays(0, 0, 0, 0)
      new Engine(
        EmulatorClock.manual(1777319237000L),
        QuotaPolicy.Off,
        delays,
        new MemoryBudget(1L << 30),
        StreamStore.None,
        new DeliveryFiles(None)
      )
    }
    try body(made)
    finally made.close()
  }

  private def newStream(engine: Engine): DataStream = {
    val stream = engine.namespace("123456789012", "us-east-1").add("s", StreamSettings())
    stream.change(StreamStatus.Creating, 0)(() => stream.open(1, engine.clock.millis))
    stream
  }

  private def widest(stream: DataStream): ShardLog = stream.shards.openShards.maxBy(s => s.range.end - s.range.start)

  private def split(stream: DataStream): Unit = {
    val shard = widest(stream)
    val middle = (shard.range.start + shard.range.end) / 2
    stream.reshard(Resharding.split(PlannedShard(shard.index, shard.range, Nil), middle, stream.shards.nextIndex))
  }

  testOnEngine("a reader that sees a closed shard finds its children") { engine =>
    val stream = newStream(engine)
    val missing = new AtomicReference[String]
    (1 to 200).foreach { _ =>
      val shard = widest(stream)
      val watching = new CountDownLatch(1)
      val seen = new CountDownLatch(1)
      val watcher = new Thread(() => {
        watching.countDown()
        while (shard.isOpen) Thread.onSpinWait()
        if (stream.shards.childrenOf(shard.index).size != 2) missing.set(shard.id.value)
        seen.countDown()
      })
      shard.onChange { () =>
        if (!shard.isOpen && stream.shards.childrenOf(shard.index).size != 2) missing.set(shard.id.value)
      }
      watcher.start()
      watching.await()
      split(stream)
      assert(seen.await(10, TimeUnit.SECONDS))
      assert(missing.get == null)
    }
  }

  testOnEngine("no record is lost or put into a closed shard during concurrent splits") { engine =>
    val stream = newStream(engine)
    val perThread = 5000
    val threads = (1 to 3).map { t =>
      new Thread(() =>
        (1 to perThread).foreach { i =>
          val key = s"$t-$i"
          stream.append(
            new IncomingRecord(key, Array.emptyByteArray, HashPoint.ofPartitionKey(key), key.length),
            null,
            engine.clock.millis,
            null
          )
        }
      )
    }
    threads.foreach(_.start())
    (1 to 20).foreach(_ => split(stream))
    threads.foreach(_.join())
    val records = stream.shards.all.flatMap(_.read(-1, 0, Int.MaxValue, Long.MaxValue).records)
    assert(records.map(_.partitionKey).toSet.size == 3 * perThread)
    assert(records.size == 3 * perThread)
  }
}
