package org.sparkkinesis.sink.kinesis.put

import org.sparkkinesis.model.ShardId
import org.sparkkinesis.sink.Verdict

/** The verdict of an entry and the shard that stored it. */
final private[kinesis] case class EntryVerdict(verdict: Verdict, shard: Option[ShardId])
