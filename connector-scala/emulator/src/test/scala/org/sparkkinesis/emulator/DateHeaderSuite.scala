package org.sparkkinesis.emulator

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}

import scala.util.Using

import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.suite.TimedSuite

class DateHeaderSuite extends TimedSuite {
  test("every answer has the emulator's time in its Date header, as the service's answers do") {
    // A day below 10 is written with two digits.
    val clock = EmulatorClock.manual(1_699_142_399_999L)
    Using.resource(KinesisEmulator.start(EmulatorConfig(clock = clock))) { emulator =>
      def date(operation: String, body: String): (Int, String) = {
        val request = HttpRequest.newBuilder(URI.create(emulator.endpoint))
          .header("Content-Type", "application/x-amz-json-1.1")
          .header("X-Amz-Target", s"Kinesis_20131202.$operation")
          .POST(HttpRequest.BodyPublishers.ofString(body))
        val answer = HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString())
        (answer.statusCode, answer.headers.firstValue("Date").orElse(""))
      }
      assert(date("ListStreams", "{}") == ((200, "Sat, 04 Nov 2023 23:59:59 GMT")))
      emulator.admin.advanceClock(25 * 3600 * 1000L)
      val missing = date("DescribeStreamSummary", """{"StreamName": "none"}""")
      assert(missing == ((400, "Mon, 06 Nov 2023 00:59:59 GMT")))
    }
  }
}
