package org.sparkkinesis.model

import org.sparkkinesis.model.hash.HashKeyRange

/** The name of a shard within its stream, such as `shardId-000000000000`. */
final case class ShardId(value: String) extends AnyVal {
  override def toString: String = value

  /** The index of which the service has made the name, if it is such a name. */
  def index: Option[Long] =
    Option.when(value.startsWith(ShardId.Prefix))(value).flatMap(_.drop(ShardId.Prefix.length).toLongOption)
}

object ShardId {
  private val Prefix = "shardId-"

  /** Returns the name that the service assigns to the shard with this index. */
  def ofIndex(index: Long): ShardId = ShardId(f"shardId-$index%012d")

  implicit val ordering: Ordering[ShardId] = (a, b) => a.value.compareTo(b.value)
}

/** A shard as ListShards returns it. It is open if `endingSequenceNumber` is empty. Its parents may have expired. */
final case class Shard(
    id: ShardId,
    parent: Option[ShardId],
    adjacentParent: Option[ShardId],
    hashKeyRange: HashKeyRange,
    startingSequenceNumber: SequenceNumber,
    endingSequenceNumber: Option[SequenceNumber]
) {
  def isOpen: Boolean = endingSequenceNumber.isEmpty
  def parents: Seq[ShardId] = parent.toSeq ++ adjacentParent
}

/** A shard as the last response of its closed parent describes it. */
final case class ChildShard(id: ShardId, parents: Seq[ShardId], hashKeyRange: HashKeyRange)
