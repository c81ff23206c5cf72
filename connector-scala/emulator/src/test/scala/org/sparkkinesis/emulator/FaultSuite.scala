package org.sparkkinesis.emulator

import java.io.IOException
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.Try

import org.scalactic.source

import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.emulator.kit.JsonClient.at
import org.sparkkinesis.suite.TimedSuite

class FaultSuite extends TimedSuite {
  private def testOnEmulator(name: String)(body: ((KinesisEmulator, JsonClient)) => Any)(implicit
      position: source.Position
  ): Unit = test(name) {
    val made = {
      val up = KinesisEmulator.start(
        EmulatorConfig(clock = EmulatorClock.manual(1777319237000L), changeDelay = 0.seconds, quotas = false)
      )
      up.admin.createStream("s", 2)
      (up, new JsonClient(up.endpoint))
    }
    try body(made)
    finally made._1.close()
  }

  private def put(client: JsonClient): JsonClient.Reply =
    client.call("PutRecord", s"""{"StreamName":"s","Data":"${JsonClient.base64("x")}","PartitionKey":"k"}""")

  testOnEmulator("an error rule affects `count` calls after it has skipped `skip` calls") {
    case (up, client) =>
      up.faults.add(FaultRule(
        FaultEffect.Error(500, "InternalFailure", "by request"),
        "PutRecord",
        skip = 1,
        count = 2
      ))
      assert((1 to 5).map(_ => put(client).status) == Vector(200, 500, 500, 200, 200))
      assert(up.calls.count("PutRecord", result = "InternalFailure") == 2L)
      assert(up.admin.recordCount("s") == 3L)
  }

  testOnEmulator("the same seed affects the same calls") { case (up, client) =>
    def run(seed: Long): Seq[Int] = {
      up.faults.reset(seed)
      up.faults.add(FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "x"), probability = 0.5))
      (1 to 30).map(_ => put(client).status)
    }
    val first = run(7)
    assert(run(7) == first)
    assert(run(8) != first)
    assert(first.contains(200) && first.contains(503))
  }

  testOnEmulator("a call whose answer is lost has its effect") { case (up, client) =>
    up.admin.addFault("""{"effect":"lostAnswer","operation":"PutRecord","count":1}""")
    assert(put(client).status == 500)
    assert(put(client).status == 200)
    assert(up.admin.recordCount("s") == 2L)
  }

  testOnEmulator("PutRecords entries fail by partition key") { case (up, client) =>
    up.admin.addFault("""{"effect":"failEntries","partitionKey":"bad.*","errorType":"InternalFailure"}""")
    val entries = Seq("good", "bad1", "bad2").map(k => s"""{"Data":"eA==","PartitionKey":"$k"}""").mkString(",")
    val reply = client.ok("PutRecords", s"""{"StreamName":"s","Records":[$entries]}""")
    assert(at(reply, "FailedRecordCount") == 2L)
    assert(
      (0 to 2).map(at(reply, "Records", _, "ErrorCode")) ==
        Vector[Any](null, "InternalFailure", "InternalFailure")
    )
  }

  testOnEmulator("a rule with a duration ends after it") { case (up, client) =>
    up.admin.addFault("""{"effect":"error","errorType":"ServiceUnavailable","forMillis":3000}""")
    assert(put(client).status == 503)
    up.admin.advanceClock(2999)
    assert(put(client).status == 503)
    up.admin.advanceClock(1)
    assert(put(client).status == 200)
  }

  testOnEmulator("a cut connection is an I/O error of the client") { case (up, client) =>
    up.admin.addFault("""{"effect":"cut","operation":"PutRecord","stream":"s","count":1}""")
    intercept[IOException](put(client))
    assert(put(client).status == 200)
  }

  testOnEmulator("a late answer is sent after its delay") { case (up, client) =>
    up.admin.addFault("""{"effect":"lateAnswer","millis":60000,"operation":"PutRecord"}""")
    val answer = CompletableFuture.supplyAsync(() => put(client).status)
    while (up.admin.recordCount("s") == 0) Thread.onSpinWait()
    assert(!answer.isDone)
    // The timer may be set just after the record is stored. The clock stands still, so advancing it twice is
    // harmless.
    while (!answer.isDone) {
      up.admin.advanceClock(60000)
      Try(answer.get(5, TimeUnit.MILLISECONDS))
    }
    assert(answer.get.intValue == 200)
  }

  testOnEmulator("faults, clock, quotas, streams and counters can be controlled over HTTP") { case (up, client) =>
    client.admin("POST", "streams", """{"name":"other","shards":3}""")
    assert(up.admin.shards("other").size == 3)
    client.admin("POST", "faults", """{"effect":"throttle","operation":"PutRecord","count":1}""")
    assert(put(client).errorType == "ProvisionedThroughputExceededException")
    client.admin("DELETE", "faults")
    assert(put(client).status == 200)
    val before = at(client.admin("GET", "clock"), "millis").asInstanceOf[Long]
    client.admin("POST", "clock", """{"advanceMillis":5000}""")
    assert(at(client.admin("GET", "clock"), "millis") == before + 5000)
    client.admin("POST", "quotas", """{"on":true}""")
    client.admin("POST", "quotas", """{"quota":"writeRecords","scale":0.001}""")
    assert((1 to 2).map(_ => put(client).status) == Vector(200, 400))
    val calls = at(client.admin("GET", "calls"), "calls").asInstanceOf[Vector[Any]]
    assert(calls.filter(at(_, "operation") == "PutRecord").map(at(_, "count").asInstanceOf[Long]).sum == 4L)
  }

  testOnEmulator("an unknown fault is an error that lists the known names") { case (up, _) =>
    val refused = intercept[IllegalArgumentException](up.admin.addFault("""{"effect":"explode"}"""))
    assert(refused.getMessage.contains("throttle"), refused.getMessage)
  }

  testOnEmulator("the status page shows streams, shards and calls, and escapes clients' text") { case (up, client) =>
    put(client)
    client.call("PutRecord", """{"StreamName":"<b>","Data":"","PartitionKey":"k"}""")
    val page = client.page("GET", "/", "")
    assert(page.status == 200)
    assert(page.text.contains("shardId-000000000001"), page.text)
    assert(page.text.contains("PutRecord"))
    assert(!page.text.contains("<b>"))
    assert(up.calls.count("PutRecord") == 2L)
  }
}
