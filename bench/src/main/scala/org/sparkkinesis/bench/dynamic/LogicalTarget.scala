package org.sparkkinesis.bench.dynamic

import java.nio.file.{Files, Path, StandardCopyOption}

import software.amazon.awssdk.core.SdkBytes

import org.sparkkinesis.bench.sink.WriteTarget

/** A logical stream of the emulator whose metadata document is a file. */
final class LogicalTarget(target: WriteTarget) {
  private val folder = Files.createTempDirectory("bench")
  private val file: Path = folder.resolve("streams.json")
  private var version = 0

  /** The options with which Spark reads and writes the logical stream. */
  val options: Map[String, String] = Map(
    "streamId" -> LogicalTarget.Id,
    "metadataService" -> s"file:$file",
    "metadataRefreshInterval" -> "1s",
    "endpoint" -> target.endpoint,
    "region" -> "us-east-1",
    "awsAccessKey" -> "AKIDEXAMPLE",
    "awsSecretKey" -> "secret"
  )

  /** Creates a stream and returns its ARN. */
  def create(name: String, shards: Int = 1): String = {
    target.createStream(name, shards)
    target.sdk.describeStreamSummary { request =>
      request.streamName(name); ()
    }.get().streamDescriptionSummary.streamARN
  }

  /** Makes these the physical streams. */
  def set(arns: Seq[String]): Unit = {
    version += 1
    val list = arns.map(arn => s"""{"arn": "$arn"}""").mkString(", ")
    val next = folder.resolve("next.json")
    Files.writeString(next, s"""{"version": $version, "streams": {"${LogicalTarget.Id}": [$list]}}""")
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
    ()
  }

  def put(stream: String): Unit = {
    target.sdk.putRecord { request =>
      request.streamName(stream).partitionKey("key").data(SdkBytes.fromUtf8String("row"))
      ()
    }.get()
    ()
  }
}

object LogicalTarget {
  private val Id = "bench"
}
