package org.sparkkinesis.model

/** A shard's name within its stream, `shardId-000000000000` and so on. */
final case class ShardId(value: String) extends AnyVal {
  override def toString: String = value
}

object ShardId {

  /** The name that the service gives the shard of this index. */
  def ofIndex(index: Long): ShardId = ShardId(f"shardId-$index%012d")

  implicit val ordering: Ordering[ShardId] = (a, b) => a.value.compareTo(b.value)
}

/** A shard as ListShards tells it. Open while `endingSequenceNumber` is empty; a parent may have expired already. */
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

/** A shard as the last answer of a closed parent names it. */
final case class ChildShard(id: ShardId, parents: Seq[ShardId], hashKeyRange: HashKeyRange)
