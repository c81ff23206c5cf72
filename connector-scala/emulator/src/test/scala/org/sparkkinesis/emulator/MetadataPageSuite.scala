package org.sparkkinesis.emulator

import scala.concurrent.duration._

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule, FaultTarget}
import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.suite.TimedSuite

class MetadataPageSuite extends TimedSuite {
  private val first = """{"version":1,"streams":{"orders":[],"returns":[]}}"""
  private val second = """{"version":2,"streams":{"orders":[]}}"""
  private val page = "/metadata/streams"

  private def withEmulator(body: (KinesisEmulator, JsonClient) => Any): Unit = {
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, changeDelay = 0.seconds))
    try body(emulator, new JsonClient(emulator.endpoint))
    finally emulator.close()
  }

  private def get(client: JsonClient, query: String, headers: (String, String)*): JsonClient.Reply =
    client.page("GET", page + query, "", headers: _*)

  private def faulty(emulator: KinesisEmulator, effect: FaultEffect): Unit = {
    emulator.faults.add(FaultRule(effect, FaultTarget.MetadataPage, count = 1))
    ()
  }

  test("the page has an ETag, and a request with this ETag gets no body") {
    withEmulator { (emulator, client) =>
      val published = emulator.admin.setMetadata(first)
      val reply = get(client, "")
      assert((reply.status, reply.text, reply.headers.get("etag")) == ((200, first, Some(published))))
      val unchanged = get(client, "", "If-None-Match" -> published)
      assert((unchanged.status, unchanged.text, unchanged.headers.get("etag")) == ((304, "", Some(published))))
      assert(emulator.admin.setMetadata(second) != published)
      assert(get(client, "", "If-None-Match" -> published).text == second)
      assert(emulator.calls.count("GetMetadata") == 3)
    }
  }

  test("a request that names streams gets only these, and 404 if the document has none of them") {
    withEmulator { (emulator, client) =>
      emulator.admin.setMetadata(first)
      assert(get(client, "?id=returns").text == """{"version":1,"streams":{"returns":[]}}""")
      assert(get(client, "?id=returns&id=orders").text == first)
      assert(get(client, "?pattern=ord.*").text == """{"version":1,"streams":{"orders":[]}}""")
      assert(get(client, "?id=other").status == 404)
    }
  }

  test("faults of the page do not affect calls of the API, and faults of calls do not affect the page") {
    withEmulator { (emulator, client) =>
      emulator.admin.setMetadata(first)
      emulator.admin.setMetadata(second)
      faulty(emulator, FaultEffect.Error(503, "ServiceUnavailable", "by a rule"))
      client.ok("ListStreams", "{}")
      assert(get(client, "").status == 503)
      faulty(emulator, FaultEffect.EmptyDocument)
      assert((get(client, "").status, get(client, "").text) == ((200, second)))
      faulty(emulator, FaultEffect.OlderDocument)
      assert(get(client, "").text == first)
      faulty(emulator, FaultEffect.TruncatedDocument)
      assert(get(client, "").text == second.take(second.length / 2))
      faulty(emulator, FaultEffect.Redirect("http://127.0.0.1:1/elsewhere"))
      assert(get(client, "").headers.get("location").contains("http://127.0.0.1:1/elsewhere"))
      emulator.faults.add(FaultRule(FaultEffect.Error(500, "InternalFailure", "every call")))
      assert(get(client, "").text == second)
      assert(client.call("ListStreams", "{}").status == 500)
    }
  }

  test("the page needs the token that was set with the document") {
    withEmulator { (_, client) =>
      client.admin("POST", "metadata", """{"document":"{}","token":"page-secret"}""")
      assert(get(client, "").status == 401)
      assert(get(client, "", "Authorization" -> "Bearer page-secret").text == "{}")
    }
  }

  test("a rule of a region or an account affects only the calls for it") {
    withEmulator { (emulator, client) =>
      val home = emulator.admin.createStream("s", 1)
      val far = emulator.admin.in("222222222222", "eu-west-1").createStream("s", 1)
      def status(arn: String): Int = client.call("DescribeStreamSummary", s"""{"StreamARN":"$arn"}""").status
      emulator.faults.add(FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "outage"), region = "eu-west-1"))
      assert((status(home), status(far)) == ((200, 503)))
      emulator.faults.clear()
      emulator.faults.add(
        FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "outage"), account = emulator.admin.account)
      )
      assert((status(home), status(far)) == ((503, 200)))
      assert(client.call("ListStreams", "{}").status == 503)
      assert(emulator.calls.count(account = "222222222222", region = "eu-west-1") == 2)
    }
  }
}
