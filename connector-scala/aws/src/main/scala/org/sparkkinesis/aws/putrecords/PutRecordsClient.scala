package org.sparkkinesis.aws.putrecords

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.aws.record.CborOutput
import org.sparkkinesis.aws.request.{CollectedAnswer, KinesisEndpoints, RequestContent, ServiceAnswer, SignedCalls}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{Operation, PutEntry}

/** PutRecords calls in CBOR over the connector's own transport. It does not retry. Thread-safe. */
final private[aws] class PutRecordsClient(endpoints: KinesisEndpoints, calls: SignedCalls) {

  /** Makes a call. `cancel` requests its end, as [[SignedCalls]] says. */
  def put(stream: StreamRef, entries: IndexedSeq[PutEntry]): CompletableFuture[ServiceAnswer] = {
    val body = PutBody.of(stream, entries)
    val content = RequestContent(CborOutput.ContentType, body.array, body.length)
    val answer = new CollectedAnswer(Operation.PutRecords)
    calls.make(endpoints.ofStream(stream.arn), PutRecordsClient.Target, content, answer)
  }
}

private object PutRecordsClient {
  val Target = "Kinesis_20131202.PutRecords"
}
