package org.sparkkinesis.emulator.store

import java.io.OutputStream
import java.nio.file.{Files, Path}

import org.sparkkinesis.emulator.document.{Encoding, Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.Engine
import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.shard.ShardLog
import org.sparkkinesis.emulator.engine.shard.ShardLog.Closing
import org.sparkkinesis.emulator.engine.stream.{DataStream, StreamSettings}
import org.sparkkinesis.error.EmulatorErrors
import org.sparkkinesis.model.ConsumerStatus
import org.sparkkinesis.model.hash.HashKeyRange

/**
 * The description of a stream on disk: settings, tags, shards with their lineage, and consumers. It has a version.
 */
private[store] object StoredStream {
  private val Version = 2L

  def write(stream: DataStream, out: OutputStream): Unit = Encoding.Json.write(out) { json =>
    json.obj {
      json.field("version", Version)
      json.field("account", stream.account)
      json.field("region", stream.region)
      json.field("name", stream.name)
      json.field("createdMillis", stream.createdMillis)
      writeSettings(json, stream.settings)
      json.obj("tags")(stream.tags.foreach { case (key, value) => json.field(key, value) })
      json.array("shards", stream.shards.all)((shard: ShardLog) => json.obj(writeShard(json, shard)))
      json.array("consumers", stream.consumers) { (consumer: RegisteredConsumer) =>
        json.obj {
          json.field("name", consumer.name)
          json.field("arn", consumer.arn)
          json.field("createdMillis", consumer.createdMillis)
        }
      }
    }
  }

  private def writeSettings(json: ReplyWriter, settings: StreamSettings): Unit = json.obj("settings") {
    json.field("onDemand", settings.onDemand)
    json.field("retentionHours", settings.retentionHours.toLong)
    json.field("maxRecordKiB", settings.maxRecordKiB.toLong)
    json.field("encryptionKey", settings.encryptionKey.orNull)
    json.field("distributesItself", settings.distributesItself)
    settings.warmThroughputMiBps.foreach(mibps => json.field("warmThroughputMiBps", mibps.toLong))
    json.strings("shardMetrics", settings.shardMetrics)
    json.field("policy", settings.policy.orNull)
    json.field("expiredBeforeMillis", settings.expiredBeforeMillis)
  }

  private def writeShard(json: ReplyWriter, shard: ShardLog): Unit = {
    json.field("index", shard.index)
    json.field("start", shard.range.start.toString)
    json.field("end", shard.range.end.toString)
    shard.parent.foreach(json.field("parent", _))
    shard.adjacentParent.foreach(json.field("adjacentParent", _))
    json.field("openedMillis", shard.openedMillis)
    json.field("createdSeconds", shard.createdSeconds)
    shard.closing.foreach { closing =>
      json.field("closedMillis", closing.millis)
      json.field("closedSeconds", closing.seconds)
      json.field("endingSequenceNumber", closing.endingSequenceNumber)
    }
  }

  /** Reads the folder of one stream and adds the stream to the engine. */
  def load(engine: Engine, folder: Path): Unit = {
    val bytes = Files.readAllBytes(folder.resolve(FileStore.Description))
    val fields = Encoding.Json.parse(bytes, 0, bytes.length)
    if (!fields.long("version").contains(Version))
      throw EmulatorErrors.failed(
        what = s"cannot read the stream in $folder",
        reason = "Another version of the emulator wrote it.",
        fix = "Delete the folder, or use the version that wrote it."
      )
    val owner = engine.namespace(fields.string("account").get, fields.string("region").get)
    val name = fields.string("name").get
    val settings = readSettings(fields.structure("settings").get)
    val stream = owner.newStream(name, fields.long("createdMillis").get, settings)
    val shards = fields.structures("shards").get.map(readShard(engine, _, folder))
    val tags = fields.structure("tags").get.entries.map { case (key, value) => key -> String.valueOf(value) }.toMap
    val consumers = fields.structures("consumers").get.map { c =>
      val consumer =
        new RegisteredConsumer(
          c.string("name").get,
          c.string("arn").get,
          c.long("createdMillis").get,
          s"${owner.account}:$name"
        )
      consumer.status = ConsumerStatus.Active
      consumer
    }
    stream.restore(shards, tags, consumers)
    // A stream whose creation was not complete when the process ended is not restored.
    if (shards.nonEmpty) owner.restore(stream)
  }

  private def readSettings(fields: Fields): StreamSettings = StreamSettings(
    onDemand = fields.boolean("onDemand").get,
    retentionHours = fields.int("retentionHours").get,
    maxRecordKiB = fields.int("maxRecordKiB").get,
    encryptionKey = fields.string("encryptionKey"),
    distributesItself = fields.boolean("distributesItself").get,
    warmThroughputMiBps = fields.int("warmThroughputMiBps"),
    shardMetrics = fields.strings("shardMetrics").get.toSet,
    policy = fields.string("policy"),
    expiredBeforeMillis = fields.long("expiredBeforeMillis").get
  )

  private def readShard(engine: Engine, fields: Fields, folder: Path): (ShardLog, Option[Closing]) = {
    val range = HashKeyRange(BigInt(fields.string("start").get), BigInt(fields.string("end").get))
    val parents = fields.long("parent").toSeq ++ fields.long("adjacentParent")
    val index = fields.long("index").get
    val created = fields.long("createdSeconds").get
    val shard = ShardLog(index, range, parents, fields.long("openedMillis").get, created, engine.budget)
    ShardLogFile.read(folder.resolve(ShardLogFile.fileName(index)), created, index).foreach(shard.restore)
    val closing = fields.long("closedMillis").map { millis =>
      Closing(millis, fields.long("closedSeconds").get, fields.string("endingSequenceNumber").get)
    }
    (shard, closing)
  }
}
