package org.sparkkinesis.simulation.rules

import scala.util.Random

import org.sparkkinesis.config.Options
import org.sparkkinesis.model.hash.HashKey
import org.sparkkinesis.service.PutEntry
import org.sparkkinesis.simulation.common.SimulatedTime
import org.sparkkinesis.simulation.model._
import org.sparkkinesis.simulation.write._
import org.sparkkinesis.simulation.write.schedule.WriteAction.{Advance, Batch}
import org.sparkkinesis.simulation.write.schedule._
import org.sparkkinesis.simulation.write.task._
import org.sparkkinesis.sink.DeliveryFailedException
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings

/** Products that break the rules of the writing side: histories made by hand, and a run with a full service. */
object WriteRules {
  private val stream = new ModelStream("orders", ModelKinesis.arn(ModelKinesis.Account, "orders"), 0, 0, 24, 2)
  private val settings = KinesisSinkSettings.of(Options.read(Map.empty))
  private def row(id: Long, batch: Int = 1) = WriteRow(id, batch, WriteTarget.Name, "key", None, 10)
  private def rightShard: ModelShard = stream.shardOf(HashKey.ofPartitionKey("key"))
  private def wrongShard: ModelShard = stream.open.find(_ ne rightShard).get

  /** What the sink has stored. */
  final private class History {
    val ledger = new WriteLedger(ordered = true, () => 0, new PlacementDoubts)

    def store(attempt: Long, row: WriteRow, shard: ModelShard = rightShard): Unit = {
      val entry = PutEntry(row.key, None, WriteLedger.payload(attempt, row))
      val call = new PutCall(1, "executor-1", Vector(entry), 0)
      call.answeredMillis = Some(0)
      ledger.add(StoredPut(stream, shard, entry, call))
    }
  }

  private def history(body: History => Any): Any = body(new History)

  private def call(entries: Int, bytes: Int, at: Long = 0, throttled: Boolean = false): PutCall = {
    val made = new PutCall(at, "executor-1", Vector.fill(entries)(PutEntry("k", None, new Array[Byte](bytes - 1))), at)
    made.offers = made.entries.map(entry => PutOffer(rightShard, entry.size, throttled)).toVector
    made.answeredMillis = Some(at + 10)
    made
  }

  private def pace(calls: PutCall*): Unit = {
    val pace = new PutPace(isLimited = true, countsRecords = true)
    calls.foreach(pace.add)
    pace.check()
  }

  private def fails(error: Throwable): Unit = {
    val (time, random, setup) = (new SimulatedTime(0), new Random(1), WriteSetup())
    val service = new ModelKinesis(time.scheduler, random, setup.model)
    val strategies = new StrategyFaults(random, () => time.nowMillis)
    new WriteVerdict(setup, settings.requests, strategies, new StreamTroubles(service, setup), None).judge(error)
  }

  private val found = "A committed row is stored, where KCL finds it"
  private val ordered = "Rows of a key are stored in order, for first and last arrivals, also over batches"
  private val held = "A task holds at most the records and bytes that the options allow"
  private val requests = "A request has at most 500 records and 10 MiB, and no record more than 1 MiB"
  private val explained = "A task fails only for a reason that its faults explain, and not before `deliveryTimeout`"

  val all: Seq[BrokenProduct] = Seq(
    BrokenProduct(found, "a task commits before its row is stored", "loss")(history(_.ledger.commit(1, Seq(row(1))))),
    BrokenProduct(found, "a row is only in another shard", "misplaced")(history { one =>
      one.store(1, row(1), wrongShard)
      one.ledger.commit(1, Seq(row(1)))
    }),
    BrokenProduct(ordered, "a row is stored before an earlier one", "order")(history { one =>
      Seq(row(2), row(1)).foreach(one.store(1, _))
      one.ledger.commit(1, Seq(row(1), row(2)))
    }),
    BrokenProduct(ordered, "a row is stored before one of the batch before", "order")(history { one =>
      one.store(2, row(2, batch = 2))
      one.store(1, row(1))
      one.ledger.commit(1, Seq(row(1)))
      one.ledger.commit(2, Seq(row(2, batch = 2)))
    }),
    BrokenProduct(
      "A row is stored twice only if an answer was lost, or if it is in an aggregate which readers do not find, or " +
        "about which no listing could tell; also in attempts that fail",
      "a row is sent again after its answer",
      "duplicate"
    )(history { one =>
      Seq(row(1), row(1)).foreach(one.store(1, _))
      one.ledger.ended(1)
    }),
    BrokenProduct(
      "Nothing is stored after the end of a task, unless its executor was lost",
      "a task that was killed leaves a request",
      "late"
    )(history { one =>
      one.ledger.ended(1)
      one.store(1, row(1))
    }),
    BrokenProduct(
      "A row is stored in a stream of the routes of its micro-batch",
      "a task writes to a stream of other routes",
      "route"
    )(history { one =>
      one.ledger.routed(1, Set(ModelKinesis.arn(ModelKinesis.Account, "next")))
      one.store(1, row(1))
    }),
    BrokenProduct(held, "a task holds one record more", "memory")(
      WriteAttempt.checkMemory(settings.requests.maxBufferedEntries + 1L, 1, settings)
    ),
    BrokenProduct(held, "a task holds one byte more", "memory")(
      WriteAttempt.checkMemory(2, settings.requests.maxBufferedBytes + 1L, settings)
    ),
    BrokenProduct(requests, "a request has 501 records", "quota")(pace(call(501, 10))),
    BrokenProduct(requests, "a request has 11 MiB", "quota")(pace(call(11, 1024 * 1024))),
    BrokenProduct(requests, "a record has one byte more", "quota")(pace(call(1, 1024 * 1024 + 1))),
    BrokenProduct(
      "After a shard has throttled, a process sends at most five times the shard's documented rate to it " +
        "(`shardLimits`)",
      "a process sends as before",
      "quota"
    )(pace(call(500, 10, throttled = true) +: (1 to 11).map(i => call(500, 10, at = 10L + i)): _*)),
    BrokenProduct(explained, "an exception of the sink's code", "failure")(fails(new IllegalStateException("broken"))),
    BrokenProduct(
      explained,
      "a stream is not found though nothing has failed",
      "refusal"
    )(fails(new StreamUnusable("gone"))),
    BrokenProduct(explained, "a record is given up at once", "early")(fails(new DeliveryFailedException(1, 0, ""))),
    BrokenProduct("Every batch is committed in the end", "no row is ever stored", "hang")(
      new WriteSimulation(WriteScenario(
        1,
        WriteSetup(model = ModelSettings(writesPerSecond = 0), options = Map("deliveryTimeout" -> "1d")),
        Vector(Batch(1, 1, 30), Advance(1000))
      )).run()
    )
  )
}
