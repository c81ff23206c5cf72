package org.sparkkinesis.aws.putrecords

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.aws.http.HttpExchange
import org.sparkkinesis.aws.request.{KinesisEndpoints, RequestContent, SignedCalls}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{Operation, PutEntry, PutResult}

/**
 * PutRecords calls in CBOR, with the SDK's endpoint rules, signer and HTTP client, but without its client. It does not
 * retry. Thread-safe.
 */
final private[aws] class PutRecordsClient(endpoints: KinesisEndpoints, calls: SignedCalls) {

  /** Makes a call, which `exchange` can end. */
  def put(
      stream: StreamRef,
      entries: IndexedSeq[PutEntry],
      exchange: HttpExchange
  ): CompletableFuture[IndexedSeq[PutResult]] = {
    val body = PutBody.of(stream, entries)
    val content = RequestContent(PutBody.ContentType, body.array, body.length)
    calls.make(Operation.PutRecords, endpoints.ofStream(stream.arn), PutRecordsClient.Target, content, exchange)
      .thenApply(PutAnswer.of)
  }
}

private object PutRecordsClient {
  val Target = "Kinesis_20131202.PutRecords"
}
