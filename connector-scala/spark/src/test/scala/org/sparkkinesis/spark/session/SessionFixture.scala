package org.sparkkinesis.spark.session

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.plan.offset.{ShardPosition, StreamOffset}
import org.sparkkinesis.service.{Operation, ShardPage}
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.suite.TimedSuite

/** The common part of the suites that compare offsets with streams: a session on virtual time. */
abstract class SessionFixture extends TimedSuite {
  protected val Created = 1_600_000_000_000L

  protected class SessionRig(
      names: Seq[String],
      failOnDataLoss: Boolean,
      retention: Map[String, Int],
      more: Map[String, String] = Map.empty
  ) {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    names.foreach(name => service.add(name, creationMillis = Created, retentionHours = retention.getOrElse(name, 24)))
    service.listings += ShardPage(shards(2), None)
    val environment = new VirtualEnvironment(time, service)
    private val options = more ++ Map(
      "streamName" -> names.mkString(","),
      "region" -> "us-east-1",
      "awsAccessKey" -> "test",
      "awsSecretKey" -> "test",
      "failOnDataLoss" -> failOnDataLoss.toString
    )
    val session = new StreamSession(Options.read(options), QueryContext.Unknown, environment)
    val check = new CheckpointCheck(session, environment)
    def listings: Int = service.callsOf(Operation.ListShards).size
    def lost: Seq[String] = environment.losses.map(_.condition).toSeq
  }

  protected def readUpTo(millis: Long): ShardPosition = ShardPosition.After(SequenceNumber("7"), millis)

  protected def stream(name: String, created: Long, positions: (Int, ShardPosition)*): StreamOffset = StreamOffset(
    name,
    arn(name),
    created,
    positions.map { case (index, position) => ShardId.ofIndex(index.toLong) -> position }.to(SortedMap)
  )

  /** Returns the time this long before the virtual clock's start. */
  protected def ago(time: FiniteDuration): Long = new VirtualScheduler().currentMillis - time.toMillis
}
