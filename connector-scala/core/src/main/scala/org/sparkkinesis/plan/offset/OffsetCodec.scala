package org.sparkkinesis.plan.offset

import scala.collection.immutable.SortedMap
import scala.util.Try

import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.json.Json
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}

/**
 * Encodes and decodes offsets for Spark's offset log, as readable text.
 *
 * `{"v":1,"streams":[{"name":…,"arn":…,"created":ms,"base":ms,"shards":"0+<seq>.<delta>,1^,2@<ms>,3!"}]}`: for each
 * shard its index (or `~`, its name and `~` if the name is not of the service's form) and its position: `^` trim
 * horizon, `@` a time, `=` at and `+` after a sequence number, with the record's arrival relative to `base`, `!`
 * finished. The optional fields `begun` and `since` have, in the same form, the times of [[StreamOffset.begun]] and
 * [[StreamOffset.since]]. Numbers have base 36: 10,000 shards take less than 0.5 MB.
 *
 * Version 2 adds `:` and a sub-sequence number to `+`, for a position within an aggregate; `m` beside `streams`, for
 * the number of the metadata log's entry; and `st` of a stream that is removed: `d` for draining, `p` for parked and
 * drained, `q` for parked with records left, each with the time. It is written only if an offset has one of these, so
 * that older connectors read all other offsets. Old versions stay readable; golden files of each version check that.
 */
object OffsetCodec {
  val Version = 2
  private val Radix = 36
  private val NamePrefix = "shardId-"
  private val NameLength = ShardId.ofIndex(0).value.length
  private val Entry = "(?s)(~[a-zA-Z0-9_.-]+?~|[0-9a-z]+)([\\^@=+!])([0-9a-z]*)(?:\\.(-?[0-9a-z]+))?(?::([0-9a-z]+))?".r

  def encode(offset: SourceOffset): String = {
    val streams = offset.streams.values.map { stream =>
      val base = stream.shards.valuesIterator.collect {
        case ShardPosition.After(_, arrival) => arrival
        case ShardPosition.Within(_, _, arrival) => arrival
      }.minOption.getOrElse(0L)
      val shards = new java.lang.StringBuilder(stream.shards.size * 48)
      stream.shards.foreach { case (id, position) =>
        if (shards.length > 0) shards.append(',')
        appendShard(shards, id)
        appendPosition(shards, position, base)
      }
      val fields = Seq(
        "name" -> Json.Str(stream.name),
        "arn" -> Json.Str(stream.arn),
        "created" -> Json.num(stream.creationMillis),
        "base" -> Json.num(base),
        "shards" -> Json.Str(shards.toString)
      )
      val optional = Seq("begun" -> stream.begun, "since" -> stream.since).collect {
        case (name, ofShards) if ofShards.nonEmpty => name -> Json.Str(times(ofShards))
      }
      Json.obj(fields ++ optional ++ phase(stream.phase).map(text => "st" -> Json.Str(text)): _*)
    }
    val number = Option.when(offset.version != 0)("m" -> Json.num(offset.version))
    val fields = Seq("v" -> Json.num(versionOf(offset)), "streams" -> Json.Arr(streams.toVector)) ++ number
    Json.render(Json.obj(fields: _*))
  }

  private def phase(phase: StreamPhase): Option[String] = phase match {
    case StreamPhase.Active => None
    case StreamPhase.Draining(since) => Some(s"d${java.lang.Long.toString(since, Radix)}")
    case StreamPhase.Parked(since, isDrained) =>
      Some(s"${if (isDrained) "p" else "q"}${java.lang.Long.toString(since, Radix)}")
  }

  private def phase(text: Option[String]): Either[String, StreamPhase] =
    text.fold[Option[StreamPhase]](Some(StreamPhase.Active)) { word =>
      long(word.drop(1)).flatMap(since =>
        word.headOption.collect {
          case 'd' => StreamPhase.Draining(since)
          case 'p' => StreamPhase.Parked(since, isDrained = true)
          case 'q' => StreamPhase.Parked(since, isDrained = false)
        }
      )
    }.toRight(s"'${text.fold("")(_.take(80))}' is not the phase of a stream")

  /** The oldest version that can hold the offset. */
  private def versionOf(offset: SourceOffset): Long =
    if (offset.version != 0 || offset.streams.valuesIterator.exists(hasNews)) 2 else 1

  private def hasNews(stream: StreamOffset): Boolean =
    stream.phase != StreamPhase.Active || stream.shards.valuesIterator.exists(_.partOfNext.nonEmpty)

  /** @throws org.sparkkinesis.error.KinesisConnectorException KINESIS_OFFSET_INVALID */
  def decode(text: String): SourceOffset =
    read(text).fold(reason => throw ReadErrors.offsetInvalid(reason = reason, offset = text.take(120)), identity)

  /** Returns the offset, or the reason why the text is not an offset. */
  def read(text: String): Either[String, SourceOffset] = Json.parse(text).left.map(why => s"it is not JSON: $why")
    .flatMap { json =>
      json.field("v").flatMap(_.asLong) match {
        case Some(1L | 2L) => streams(json).map(_.copy(version = json.field("m").flatMap(_.asLong).getOrElse(0)))
        case Some(newer) => Left(s"its version is $newer, this connector reads up to $Version")
        case None => Left("it has no version")
      }
    }

  private def streams(json: Json): Either[String, SourceOffset] = json.field("streams") match {
    case Some(Json.Arr(items)) =>
      val all = items.foldLeft[Either[String, Vector[StreamOffset]]](Right(Vector.empty))((done, item) =>
        done.flatMap(list => stream(item).map(list :+ _))
      )
      all.map(SourceOffset(_))
    case _ => Left("it names no streams")
  }

  private def stream(json: Json): Either[String, StreamOffset] = {
    def long(name: String): Option[Long] = json.field(name).flatMap(_.asLong)
    def text(name: String): Option[String] = json.field(name).flatMap(_.asString)
    (text("name"), text("arn"), long("created"), long("base"), text("shards")) match {
      case (Some(name), Some(arn), Some(created), Some(base), Some(shards)) =>
        val entries = if (shards.isEmpty) Vector.empty else shards.split(',').toVector
        entries
          .foldLeft[Either[String, Vector[(ShardId, ShardPosition)]]](Right(Vector.empty)) { (done, entry) =>
            done.flatMap(list =>
              shard(entry, base).toRight(s"'${entry.take(80)}' is not a shard's position").map(list :+ _)
            )
          }
          .flatMap(list =>
            for {
              begun <- times("begun", text("begun"))
              since <- times("since", text("since"))
              phase <- phase(text("st"))
            } yield StreamOffset(name, arn, created, list.to(SortedMap), begun, since, phase)
          )
      case _ => Left("a stream lacks name, arn, created, base or shards")
    }
  }

  private def times(ofShards: SortedMap[ShardId, Long]): String = {
    val out = new java.lang.StringBuilder
    ofShards.foreach { case (id, millis) =>
      if (out.length > 0) out.append(',')
      appendShard(out, id)
      appendPosition(out, ShardPosition.Start(StartingPosition.AtTimestamp(millis)), 0)
    }
    out.toString
  }

  /** The field is absent from offsets of older connectors, which ignore it. */
  private def times(field: String, text: Option[String]): Either[String, SortedMap[ShardId, Long]] = {
    val entries = text.filter(_.nonEmpty).fold(Vector.empty[String])(_.split(',').toVector)
    entries.foldLeft[Either[String, SortedMap[ShardId, Long]]](Right(SortedMap.empty[ShardId, Long])) { (done, entry) =>
      shard(entry, 0) match {
        case Some((id, ShardPosition.Start(StartingPosition.AtTimestamp(millis)))) => done.map(_ + (id -> millis))
        case _ => Left(s"'${entry.take(80)}' in '$field' is not a shard's time")
      }
    }
  }

  private def appendShard(out: java.lang.StringBuilder, id: ShardId): Unit =
    if (isStandard(id.value))
      out.append(java.lang.Long.toString(java.lang.Long.parseLong(id.value, NamePrefix.length, NameLength, 10), Radix))
    else out.append('~').append(id.value).append('~')

  /** Whether the name has the form that the service assigns. */
  private def isStandard(name: String): Boolean = name.length == NameLength && name.startsWith(NamePrefix) && {
    var i = NamePrefix.length
    while (i < NameLength && name.charAt(i) >= '0' && name.charAt(i) <= '9') i += 1
    i == NameLength
  }

  private def appendPosition(out: java.lang.StringBuilder, position: ShardPosition, base: Long): Unit = position match {
    case ShardPosition.After(number, arrival) =>
      Base36.append(out.append('+'), number.value)
      out.append('.').append(java.lang.Long.toString(arrival - base, Radix))
    case ShardPosition.Within(number, sub, arrival) =>
      appendPosition(out, ShardPosition.After(number, arrival), base)
      out.append(':').append(java.lang.Long.toString(sub, Radix))
    case ShardPosition.ShardEnd => out.append('!')
    case ShardPosition.Start(StartingPosition.TrimHorizon) => out.append('^')
    case ShardPosition.Start(StartingPosition.AtTimestamp(millis)) =>
      out.append('@').append(java.lang.Long.toString(millis, Radix))
    case ShardPosition.Start(StartingPosition.AtSequenceNumber(number)) => Base36.append(out.append('='), number.value)
    case ShardPosition.Start(other) => throw new IllegalArgumentException(
        s"$other cannot be stored in an offset, because it would select other records after a restart"
      )
  }

  private def shard(text: String, base: Long): Option[(ShardId, ShardPosition)] = text match {
    case Entry(name, kind, digits, delta, sub) =>
      val id =
        if (name.startsWith("~")) Some(ShardId(name.substring(1, name.length - 1))) else long(name).map(ShardId.ofIndex)
      val position = (kind, digits, Option(delta)) match {
        case ("+", _, Some(relative)) if sub != null =>
          for {
            number <- sequenceNumber(digits)
            ms <- long(relative)
            last <- long(sub)
          } yield ShardPosition.Within(number, last, base + ms)
        case _ if sub != null => None
        case ("^", "", None) => Some(ShardPosition.Horizon)
        case ("!", "", None) => Some(ShardPosition.ShardEnd)
        case ("@", _, None) => long(digits).map(ms => ShardPosition.Start(StartingPosition.AtTimestamp(ms)))
        case ("=", _, None) =>
          sequenceNumber(digits).map(number => ShardPosition.Start(StartingPosition.AtSequenceNumber(number)))
        case ("+", _, Some(relative)) => sequenceNumber(digits).zip(long(relative)).map { case (number, ms) =>
            ShardPosition.After(number, base + ms)
          }
        case _ => None
      }
      id.zip(position)
    case _ => None
  }

  private def long(digits: String): Option[Long] = Try(java.lang.Long.parseLong(digits, Radix)).toOption

  private def sequenceNumber(digits: String): Option[SequenceNumber] =
    Try(new java.math.BigInteger(digits, Radix).toString).toOption.flatMap(SequenceNumber.parse)
}
