package org.sparkkinesis.simulation.read.schedule

import scala.util.Random

import org.sparkkinesis.service.Operation.DescribeStreamSummary
import org.sparkkinesis.service.ServiceErrorKind
import org.sparkkinesis.simulation.model.ServiceFault
import org.sparkkinesis.simulation.spark.QueryTrigger

/**
 * Scenarios that begin with a query at positions without a record, whose stream is deleted, created again, and
 * resharded as before. A consumer that begins anew at such a position reads the new stream without an error.
 */
private[schedule] object RecreatedScenarios {
  import ReadAction._

  /** Adds such a beginning. No query ends because of lost data. */
  def of(scenario: ReadScenario, random: Random): ReadScenario = {
    def one[A](items: A*): A = items(random.nextInt(items.size))
    def maybe(action: => ReadAction): Seq[ReadAction] = if (random.nextBoolean()) Seq(action) else Nil
    val unit = if (scenario.setup.options.get("minFetchPeriod").contains("4m")) 60000L else 1000L
    def pause(units: Int*): ReadAction = Advance(one(units: _*) * unit + random.nextInt(500))
    val trigger = one(QueryTrigger.ProcessingTime(unit), QueryTrigger.RealTime(5 * unit), QueryTrigger.AvailableNow)
    val start = Start(trigger, efo = random.nextInt(5) == 0, failOnDataLoss = false)
    val fault = one(
      ServiceFault.Failing(Some(DescribeStreamSummary), ServiceErrorKind.Internal, one(50, 100)),
      ServiceFault.ListingHoles(2),
      ServiceFault.StaleListing(9),
      ServiceFault.EndWithoutChildren
    )
    val downUnits = one(1, 2, 10)
    val others = random.shuffle(Vector(Put(3), Put(3), Split(0), Merge(0), LoseExecutor(0), AddExecutor, start))
    val beginning = maybe(Put(1)) ++ Seq(start, pause(3, 8, 20), Split(0), pause(1, 5, 15)) ++
      maybe(Fault(fault, one(20, 60, 120) * unit)) ++
      Seq(Recreate(1 + random.nextInt(2), downUnits * unit), pause(downUnits), Put(3), Split(0)) ++
      others.flatMap(action => action +: maybe(pause(0, 1, 3))) ++ Seq(pause(5, 20))
    val rest = scenario.actions.map {
      case start: Start => start.copy(failOnDataLoss = false)
      case other => other
    }
    val options = scenario.setup.options.filterNot { case (name, _) => ReadScenarios.NotInRealTime(name) }
    scenario.copy(setup = scenario.setup.copy(options = options), actions = beginning.toVector ++ rest)
  }
}
