package org.sparkkinesis.bench.source

import scala.util.Using

import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.{EmulatorProcess, JavaProcess}

/**
 * Runs a query in a JVM with a heap of 512 MiB that takes at most a tenth of the records that its shards offer:
 * `MemoryBenchmark [--seconds N] [--shards N] [--records N] [--rate ROWS_PER_SECOND]`. Every shard has a backlog,
 * from which the query takes `rate` rows per second.
 *
 * The last line is one JSON object with, for polling and for fan-out: the peak of the prefetch buffer as a share of
 * its capacity, the heap after the last collection, the peak of direct memory, the rows taken, the number of shards
 * they came from, and the consumers' retries and resubscriptions. The benchmark fails when a query runs out of memory
 * or ends.
 */
object MemoryBenchmark {
  private val Heap = "512m"

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seconds = arguments.seconds(60) / 2
    val shards = arguments.number("shards", 64)
    Using.resource(new EmulatorProcess("4g", processor = Some(0))) { emulator =>
      Using.resource(BareClients.asynchronous(emulator.endpoint))(
        ReadingStream.load(_, shards, arguments.number("records", 2000000))
      )
      val figures = Seq("polling", "efo").map { mode =>
        val query = JavaProcess.start(
          "org.sparkkinesis.bench.source.SlowQuery",
          Seq("--endpoint", emulator.endpoint, "--mode", mode) ++
            Seq("--seconds", seconds.toString, "--rate", arguments.number("rate", 20000).toString),
          Heap
        )
        val lines = query.inputReader.lines.toArray(new Array[String](_))
        val exit = query.waitFor()
        if (exit != 0 || lines.isEmpty)
          throw new IllegalStateException(s"the query in a heap of $Heap ($mode) ended with $exit")
        lines.last
      }
      println(figures.mkString("{", ", ", "}"))
    }
  }
}
