package org.sparkkinesis.aws.client

import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.services.kinesis.model.DescribeStreamSummaryResponse

import org.sparkkinesis.suite.TimedSuite

class AnsweredTimeSuite extends TimedSuite {
  private def answer(headers: (String, String)*): DescribeStreamSummaryResponse = {
    val http = headers.foldLeft(SdkHttpResponse.builder().statusCode(200)) { case (response, (name, value)) =>
      response.putHeader(name, value)
    }
    val builder = DescribeStreamSummaryResponse.builder()
    builder.sdkHttpResponse(http.build())
    builder.build()
  }

  test("the Date header tells when the service answered") {
    assert(
      SdkConversions.answeredMillis(answer("Date" -> "Tue, 14 Nov 2023 22:13:20 GMT")).contains(1_700_000_000_000L)
    )
    assert(
      SdkConversions.answeredMillis(answer("date" -> "Tue, 14 Nov 2023 22:13:20 GMT")).contains(1_700_000_000_000L)
    )
  }

  test("an answer without the header, with one that cannot be read, or without HTTP tells no time") {
    assert(SdkConversions.answeredMillis(answer()).isEmpty)
    assert(SdkConversions.answeredMillis(answer("Date" -> "yesterday")).isEmpty)
    assert(SdkConversions.answeredMillis(DescribeStreamSummaryResponse.builder().build()).isEmpty)
  }
}
