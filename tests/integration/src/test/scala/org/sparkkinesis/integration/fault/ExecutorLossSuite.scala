package org.sparkkinesis.integration.fault

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.process.StandaloneCluster
import org.sparkkinesis.kit.stream._

/** A query on a cluster of two executors, one of which is killed. */
class ExecutorLossSuite extends SparkSuite {
  private lazy val standalone = new StandaloneCluster(temporary, workers = 1, executorsPerWorker = 2)
  override protected def cluster: Option[StandaloneCluster] = Some(standalone)
  override protected def master: String = standalone.master
  override protected def settings: Map[String, String] = standalone.settings

  Seq("polling" -> Nil, "fan-out" -> Seq("consumerMode" -> "efo", "consumerName" -> "etl")).foreach {
    case (mode, options) =>
      test(s"other executors continue a killed executor's shards, with every record once and in order: $mode") {
        testStream(s"loss-$mode", 4, options: _*)(
          PutRecords(0 until 400),
          StartStream(),
          CheckRows(0 until 400),
          Await("shards on both executors")(run => owners(run).size == 2),
          KillExecutor,
          PutRecords(400 until 800),
          CheckRows(0 until 800),
          CheckKeyOrder
        )
      }
  }

  /** Returns the executors that read shards, from the last progress of the query. */
  private def owners(run: StreamRun): Set[String] =
    Option(run.query.lastProgress).flatMap(progress => Option(progress.sources.head.metrics.get("shardsByExecutor")))
      .fold(Set.empty[String])(_.split(", ").map(_.takeWhile(_ != ':')).toSet)
}
