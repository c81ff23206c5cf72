package org.sparkkinesis.metadata

import java.time.Instant

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.json.Json
import org.sparkkinesis.model.StartingPosition

/** Writes metadata documents in the form that [[DocumentParser]] reads. Members with default values are left out. */
object DocumentText {

  def render(document: MetadataDocument): String = Json.render(json(document))

  def json(document: MetadataDocument): Json = Json.obj(
    "version" -> Json.num(document.version),
    "streams" -> Json.obj(document.streams.toSeq.map { case (id, all) => id -> Json.Arr(all.map(physical)) }: _*)
  )

  private def physical(stream: PhysicalStream): Json = {
    val fields = Seq("arn" -> Json.Str(stream.arn), "state" -> Json.Str(stream.state.word)) ++
      Seq(
        "endpoint" -> stream.endpoint,
        "role" -> stream.role,
        "externalId" -> stream.externalId,
        "consumerArn" -> stream.consumerArn
      ).collect { case (name, Some(value)) => name -> Json.Str(value) } ++
      Option.when(stream.weight != PhysicalStream.Weight)("weight" -> Json.num(stream.weight.toLong)) ++
      Option.when(stream.priority != 0)("priority" -> Json.num(stream.priority.toLong)) ++
      stream.startAt.map(position => "startAt" -> positions(position)) ++
      Option.when(stream.after.nonEmpty)("after" -> Json.Arr(stream.after.toVector.sorted.map(Json.Str(_))))
    Json.obj(fields: _*)
  }

  private def positions(position: PositionOption): Json =
    if (position.shards.isEmpty) one(position.default)
    else
      Json.obj(position.shards.toSeq.map { case (shard, at) => shard.value -> one(at) } :+
        ("*" -> one(
          position.default
        )): _*)

  private def one(position: StartingPosition): Json = position match {
    case StartingPosition.Latest => Json.Str("latest")
    case StartingPosition.TrimHorizon => Json.Str("trim_horizon")
    case StartingPosition.AtTimestamp(millis) => Json.Str(Instant.ofEpochMilli(millis).toString)
    case StartingPosition.AtSequenceNumber(number) => Json.obj("at_sequence_number" -> Json.Str(number.toString))
    case StartingPosition.AfterSequenceNumber(number) => Json.obj("after_sequence_number" -> Json.Str(number.toString))
  }
}
