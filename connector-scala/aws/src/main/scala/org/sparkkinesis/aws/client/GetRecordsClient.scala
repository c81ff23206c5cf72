package org.sparkkinesis.aws.client

import java.util.concurrent.{CompletableFuture, Executor}

import scala.util.{Success, Try}

import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.services.kinesis.KinesisClient
import software.amazon.awssdk.services.kinesis.model.GetRecordsRequest

import org.sparkkinesis.aws.getrecords.{AnswerCapture, CapturedAnswer}
import org.sparkkinesis.service.RecordPage

/**
 * GetRecords calls with a synchronous client. A thread is used only while a call is in flight. It decodes the response
 * while it arrives, which needs less CPU time than the asynchronous client.
 *
 * @param client
 *   does not retry; this instance owns it
 * @param threads
 *   runs the calls and completes their futures; limits their number
 */
final class GetRecordsClient(client: KinesisClient, threads: Executor) extends AutoCloseable {

  /** Returns the decoded response, or a failure if this package cannot decode what the service sent. */
  def get(request: GetRecordsRequest): CompletableFuture[Try[RecordPage]] = {
    val captured = new CapturedAnswer
    val settings = AwsRequestOverrideConfiguration.builder()
    settings.putExecutionAttribute(AnswerCapture.Wanted, captured)
    val capturing = request.toBuilder.overrideConfiguration(settings.build()).build()
    CompletableFuture.supplyAsync(
      () => {
        val answer = client.getRecords(capturing)
        captured.result.getOrElse(Success(SdkConversions.page(answer)))
      },
      threads
    )
  }

  /** Returns the response as the SDK decodes it. */
  def getWithSdk(request: GetRecordsRequest): CompletableFuture[RecordPage] =
    CompletableFuture.supplyAsync(() => SdkConversions.page(client.getRecords(request)), threads)

  override def close(): Unit = client.close()
}
