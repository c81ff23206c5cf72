package org.sparkkinesis.emulator.action.shard

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, PageTokens, Patterns, Validator}
import org.sparkkinesis.emulator.action.stream.StreamRules
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.ShardSet
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.{KinesisQuotas, ShardId, StreamRef, StreamStatus}

/**
 * ListShards lists shards by index, with a filter, at most 1,000 on a page. A NextToken contains stream, filter and
 * position; no other parameter may accompany it.
 */
object ListShards extends Action {
  val name = "ListShards"

  final private case class Position(stream: DataStream, filter: ShardSelection, afterIndex: Long)

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val max = validator.int("MaxResults", 1, KinesisQuotas.Request.ListShardsMaxResults)
    val token = validator.string("NextToken", maxLength = PageTokens.MaxLength, minLength = 1)
    val after = validator.string("ExclusiveStartShardId", Patterns.ShardId, Patterns.MaxName, 1)
    validator.check()
    val position = token.fold(first(call, validator, after))(continued(call, _))
    val page = math.min(max.getOrElse(Int.MaxValue), KinesisQuotas.Request.ListShardsPage)
    val stream = position.stream
    if (stream.status == StreamStatus.Creating)
      throw ServiceError.resourceInUse(
        s"Stream ${stream.name} under account ${stream.account} not ACTIVE, instead in state ${stream.status.name}"
      )
    val accepts = position.filter.accepts(stream, call.now)
    val found = stream.shards.pageAfter(position.afterIndex, page + 1)(accepts)
    val shown = found.take(page)
    Answer.body { reply =>
      reply.obj {
        reply.array("Shards", shown.filterNot(call.leavesOut))(StreamRules.writeShard(reply))
        if (found.size > page) reply.field("NextToken", next(call, position.copy(afterIndex = shown.last.index)))
      }
    }
  }

  private def first(call: Call, validator: Validator, after: Option[String]): Position = {
    val stream = call.stream(validator)
    val filter =
      call.fields.structure("ShardFilter").fold[ShardSelection](ShardSelection.FromTrimHorizon)(ShardSelection.read)
    call.fields.timestamp("StreamCreationTimestamp").foreach { created =>
      if (created / 1000 != stream.createdMillis / 1000)
        throw ServiceError.resourceNotFound(
          s"Stream ${stream.name} under account ${stream.account} with that creation timestamp not found."
        )
    }
    if (after.isDefined && call.fields.has("ShardFilter"))
      throw ServiceError.invalidArgument("ExclusiveStartShardId and ShardSelection cannot be given together.")
    val afterIndex = after.map { id =>
      ShardSet.indexOf(ShardId(id)).getOrElse(throw ServiceError.invalidArgument(s"Invalid ExclusiveStartShardId: $id"))
    }
    Position(stream, filter, afterIndex.getOrElse(-1L))
  }

  private def continued(call: Call, token: String): Position = {
    val notAlone = Seq("StreamName", "StreamARN", "ExclusiveStartShardId", "StreamCreationTimestamp", "ShardFilter")
      .filter(call.fields.has)
    if (notAlone.nonEmpty)
      throw ServiceError.invalidArgument(s"NextToken and ${notAlone.mkString(", ")} cannot be provided together.")
    PageTokens.read(call, token) match {
      case Seq(arn, created, after, filter) =>
        val stream = StreamRef.parse(arn).map(call.namespace.stream).filter(_.createdMillis == created.toLong)
        val found = stream.getOrElse(throw ServiceError.resourceNotFound(s"Stream $arn of this NextToken not found."))
        call.streamName = found.name
        call.admit()
        Position(found, ShardSelection.decode(filter), after.toLong)
      case _ => throw ServiceError.invalidArgument("NextToken is invalid.")
    }
  }

  private def next(call: Call, at: Position): String =
    PageTokens.make(call, at.stream.arn, at.stream.createdMillis.toString, at.afterIndex.toString, at.filter.encode)
}
