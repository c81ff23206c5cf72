package org.sparkkinesis.emulator.wire.page

import java.time.Instant

import org.sparkkinesis.emulator.count.{CallCounters, CallKey}
import org.sparkkinesis.emulator.engine.Engine
import org.sparkkinesis.emulator.engine.shard.ShardLog
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.hash.HashKeyRange

/**
 * The read-only status page as HTML, which reloads itself. It shows streams, their shards with hash ranges and
 * lineage, rates since the last request of the page, consumers, and the latest calls.
 */
final private[page] class StatusPage(engine: Engine, counters: CallCounters) {
  import StatusPage._

  private var lastMillis = 0L
  private var lastSeen = Map.empty[ShardLog, Seen]

  def html(): String = synchronized {
    val now = engine.clock.millis
    val streams = engine.allNamespaces.flatMap(_.streams)
    val shown = streams.take(MaxStreams)
    val body = shown.map(stream(_, now)).mkString
    val more = if (streams.size > shown.size) s"<p>and ${streams.size - shown.size} more streams</p>" else ""
    lastSeen = shown.flatMap(_.shards.all).map(s => s -> seen(s)).toMap
    lastMillis = now
    s"""<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2">
       |<title>Kinesis emulator</title><style>$Css</style></head><body><h1>Kinesis emulator</h1>
       |<p>${Instant.ofEpochMilli(now)} &middot; ${streams.size} streams &middot; ${size(engine.budget.heldBytes)} of
       |${size(
        engine.budget.capBytes
      )} held &middot; quotas off: ${engine.policy.off.map(_.name).toSeq.sorted.mkString(", ") match {
        case "" => "none"
        case names => names
      }}</p>
       |$body$more<h2>Latest calls</h2>$calls</body></html>""".stripMargin
  }

  private def stream(s: DataStream, now: Long): String = {
    val shards = s.shards.all
    val rows = shards.take(MaxShards).map(shard(_, now)).mkString
    val hidden =
      if (shards.size > MaxShards) s"<tr><td colspan=8>and ${shards.size - MaxShards} more shards</td></tr>" else ""
    val consumers = s.consumers.map { c =>
      s"<li>${escape(c.name)} ${c.status.name}, ${c.openSubscriptions} subscriptions</li>"
    }.mkString
    s"""<h2>${escape(s.name)} <small>${s.status.name} ${s.settings.modeName}, ${s.shards.openCount} open shards,
       |${s.settings.retentionHours} h</small></h2>
       |<table><tr><th>shard</th><th>parents</th><th>hash keys</th><th>records</th><th>in/s</th><th>out/s</th>
       |<th>pushed/s</th><th>throttled</th></tr>$rows$hidden</table>${if (consumers.isEmpty) ""
      else s"<ul>$consumers</ul>"}""".stripMargin
  }

  private def shard(s: ShardLog, now: Long): String = {
    val before = lastSeen.getOrElse(s, Seen(0, 0, 0))
    val current = seen(s)
    val seconds = math.max(0.001, (now - lastMillis) / 1000.0)
    def rate(bytes: Long): String = size((bytes / seconds).toLong)
    val from = percent(s.range.start)
    val width = math.max(0.2, percent(s.range.end) - from)
    val parents = (s.parent.toSeq ++ s.adjacentParent).map(p => s"$p").mkString(" + ")
    f"""<tr class="${if (s.isOpen) "open" else "closed"}"><td>${s.id}</td><td>$parents</td><td class=keys>
       |<div style="margin-left:$from%.2f%%;width:$width%.2f%%"></div></td><td>${s.heldRecords}</td>
       |<td>${rate(current.in - before.in)}</td><td>${rate(current.out - before.out)}</td>
       |<td>${rate(current.pushed - before.pushed)}</td>
       |<td>${s.traffic.throttledWrites} / ${s.traffic.throttledReads}</td></tr>""".stripMargin
  }

  private def calls: String = counters.recent.reverse.take(MaxCalls).map {
    case (millis, CallKey(operation, stream, shard, result, _, _)) =>
      s"<tr class=${if (result == CallCounters.Ok) "ok" else "failed"}><td>${Instant.ofEpochMilli(millis)}</td>" +
        s"<td>$operation</td><td>${escape(stream)}</td><td>${escape(shard)}</td><td>${escape(result)}</td></tr>"
  }.mkString(
    "<table><tr><th>time</th><th>operation</th><th>stream</th><th>shard</th><th>result</th></tr>",
    "",
    "</table>"
  )
}

private object StatusPage {
  val MaxStreams = 50
  val MaxShards = 100
  val MaxCalls = 40

  final case class Seen(in: Long, out: Long, pushed: Long)

  def seen(shard: ShardLog): Seen = Seen(shard.traffic.bytesIn, shard.traffic.bytesOut, shard.traffic.bytesFannedOut)

  def percent(key: BigInt): Double = (key * 10000 / HashKeyRange.Max).toDouble / 100

  /** Formats a number of bytes in the unit that fits. */
  def size(bytes: Long): String =
    if (bytes < 1024) s"$bytes B"
    else if (bytes < 1024 * 1024) f"${bytes / 1024.0}%.1f KiB"
    else f"${bytes / 1048576.0}%.1f MiB"
  def escape(text: String): String = text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;")

  val Css: String =
    """body{font:14px system-ui;margin:2em;max-width:70em;color:#222}table{border-collapse:collapse;width:100%}
      |th,td{text-align:left;padding:2px 8px;border-bottom:1px solid #ddd}.keys{width:30%}
      |.keys div{height:10px;background:#2a78c8}.closed .keys div{background:#bbb}.closed{color:#888}.failed{color:#b00}
      |small{color:#666;font-weight:normal}""".stripMargin
}
