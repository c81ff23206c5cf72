package org.sparkkinesis.spark.catalog

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.StreamStatus
import org.sparkkinesis.service.ChangeRequest._
import org.sparkkinesis.service.{ChangeRequest, StreamDescription}
import org.sparkkinesis.suite.TimedSuite

class StreamPropertiesSuite extends TimedSuite {
  private val provisioned =
    StreamDescription("s", "arn:aws:kinesis:us-east-1:1:stream/s", StreamStatus.Active, 0, 24, 2, 1 << 20, false)
  private val onDemand = provisioned.copy(onDemand = true, openShards = 4)

  private def changes(found: StreamDescription, properties: (String, String)*): Seq[ChangeRequest] =
    StreamProperties.of(properties).changes(found)

  test("a statement changes what differs, the mode first") {
    assert(changes(provisioned) == Nil)
    assert(changes(provisioned, "shards" -> "2", "mode" -> "provisioned", "retentionhours" -> "24") == Nil)
    assert(changes(provisioned, "shards" -> "5") == Seq(Reshard(4), Reshard(5)))
    assert(changes(provisioned, "retentionHours" -> "48", "shards" -> "4") == Seq(Reshard(4), IncreaseRetention(48)))
    assert(changes(provisioned.copy(retentionHours = 48), "retentionHours" -> "24") == Seq(DecreaseRetention(24)))
    assert(changes(provisioned, "mode" -> "ON_DEMAND") == Seq(SetMode(onDemand = true)))
    assert(changes(onDemand, "mode" -> "PROVISIONED", "shards" -> "2") == Seq(SetMode(onDemand = false), Reshard(2)))
  }

  test("a new stream is on-demand unless the statement says otherwise") {
    assert(StreamProperties.of(Nil).create == Create(None))
    assert(StreamProperties.of(Seq("mode" -> "on_demand", "owner" -> "me")).create == Create(None))
    assert(StreamProperties.of(Seq("shards" -> "3")).create == Create(Some(3)))
  }

  test("a created stream with the shown properties is equal") {
    Seq(provisioned, provisioned.copy(retentionHours = 168, openShards = 7), onDemand).foreach { found =>
      val wanted = StreamProperties.of(StreamProperties.shown(found))
      assert(wanted.changes(found) == Nil)
      assert(wanted.create == Create(if (found.onDemand) None else Some(found.openShards)))
    }
  }

  test("what a stream cannot have is an error that says what it can have") {
    def refused(body: => Any): String = {
      val error = intercept[KinesisConnectorException](body)
      assert(error.condition == "KINESIS_CATALOG_PROPERTY_INVALID")
      error.getMessage
    }
    assert(refused(StreamProperties.of(Seq("shards" -> "0"))).contains("from 1 to"))
    assert(refused(StreamProperties.of(Seq("retentionHours" -> "8761"))).contains("from 24 to 8760"))
    assert(refused(StreamProperties.of(Seq("mode" -> "manual"))).contains("ON_DEMAND or PROVISIONED"))
    assert(refused(StreamProperties.of(Seq("initialPosition" -> "latest"))).contains("WITH ('option' = 'value')"))
    assert(refused(StreamProperties.of(Seq("mode" -> "ON_DEMAND", "shards" -> "2"))).contains("on-demand"))
    assert(refused(StreamProperties.of(Seq("mode" -> "PROVISIONED")).create).contains("number of shards"))
    assert(refused(changes(onDemand, "shards" -> "2")).contains("on-demand"))
  }
}
