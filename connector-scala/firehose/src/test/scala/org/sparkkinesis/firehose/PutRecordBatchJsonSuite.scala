package org.sparkkinesis.firehose

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import org.sparkkinesis.suite.TimedSuite

class PutRecordBatchJsonSuite extends TimedSuite {
  private def answer(text: String) = PutRecordBatchJson.answer(text.getBytes(UTF_8))

  test("a request has the name and each payload as base64") {
    val body = PutRecordBatchJson.request("archive", Vector("a", "bc").map(_.getBytes(UTF_8)))
    assert(new String(body, UTF_8) ==
      """{"DeliveryStreamName":"archive","Records":[{"Data":"YQ=="},{"Data":"YmM="}]}""")
  }

  test("an answer has the refusal of each record in order; unknown members are ignored") {
    val text = """{"FailedPutCount":1,"Encrypted":true,"New":{},"RequestResponses":[{"RecordId":"1"},
                 |{"ErrorCode":"InternalFailure","ErrorMessage":"why"},{"ErrorCode":"X"}]}""".stripMargin
    val refused = Vector(RefusedRecord("InternalFailure", "why"), RefusedRecord("X", "no message"))
    assert(answer(text) == None +: refused.map(Some(_)))
  }

  test("an answer that is cut or another document is an I/O error, so that its records are sent again") {
    Seq("", "{", "[]", "{}", """{"RequestResponses":[{"RecordId":"1"}""").foreach { text =>
      intercept[IOException](answer(text))
    }
  }
}
