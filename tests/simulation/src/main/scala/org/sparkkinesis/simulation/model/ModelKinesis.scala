package org.sparkkinesis.simulation.model

import scala.collection.mutable
import scala.util.Random

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.model._
import org.sparkkinesis.service.{Operation, _}
import org.sparkkinesis.shard.ShardGraph

/**
 * The settings of the modelled service.
 *
 * @param latencyMillis
 *   maximum delay of an answer in milliseconds
 * @param recordsPerAnswer
 *   maximum number of records in one answer or event
 * @param shardsPerPage
 *   number of shards on one page of ListShards
 * @param arrivalJitterMillis
 *   maximum time in milliseconds by which arrival times are before the time of the put
 * @param writesPerSecond
 *   number of records per second that a shard accepts
 * @param idleEventMillis
 *   interval of the empty events of an idle subscription
 * @param lateEnds
 *   whether some answers with the last records of a closed shard report that the shard is read to its tip, and only the
 *   next answer reports its end
 */
final case class ModelSettings(
    latencyMillis: Int = 20,
    recordsPerAnswer: Int = 1000,
    shardsPerPage: Int = 100,
    arrivalJitterMillis: Int = 0,
    writesPerSecond: Int = KinesisQuotas.Shard.WriteRecordsPerSecond,
    idleEventMillis: Long = KinesisQuotas.Lifetime.IdleSubscriptionEvent.toMillis,
    lateEnds: Boolean = false
)

/**
 * An in-memory Kinesis on virtual time, for one thread: its streams and its errors. [[ModelClient]] is one process's
 * view of it.
 *
 * It is written from the service's documentation, independently of the emulator, so that no mistake is in both.
 */
final class ModelKinesis(val scheduler: Scheduler, val random: Random, val settings: ModelSettings) {
  import ModelKinesis._

  private val streams = mutable.LinkedHashMap.empty[String, ModelStream]
  private val deleting = mutable.Set.empty[String]
  private val creating = mutable.Set.empty[String]
  private val generations = mutable.HashMap.empty[String, Int]
  val faults = new ModelFaults(random, () => now)
  val consumers = new ModelConsumers(this)
  val calls = new CallLedger(settings.writesPerSecond, () => now)

  /** The shard that the last listings of a stream omitted, and how many of them in a row. */
  private val omissions = mutable.HashMap.empty[String, (ShardId, Int)]
  private var observer: StoredPut => Unit = _ => ()
  private var callObserver: PutCall => Unit = _ => ()
  private var puts = 0L

  def now: Long = scheduler.currentMillis

  /** Sets the listener for every record that PutRecords has stored. */
  def onStored(observer: StoredPut => Unit): Unit = this.observer = observer
  def stored(put: StoredPut): Unit = observer(put)

  /** Sets the listener for every call of PutRecords that begins to be executed. */
  def onPut(observer: PutCall => Unit): Unit = callObserver = observer
  def put(call: PutCall): Unit = callObserver(call)

  /** Returns the number of the next call of PutRecords. */
  def nextPut(): Long = {
    puts += 1
    puts
  }

  def create(arn: String, shards: Int, retentionHours: Int): ModelStream = {
    val generation = generations.getOrElse(arn, 0)
    generations(arn) = generation + 1
    val stream = new ModelStream(arn.drop(arn.indexOf('/') + 1), arn, generation, now, retentionHours, shards)
    streams(arn) = stream
    deleting -= arn
    stream
  }

  /** Returns the service for one process, as long as the process runs. */
  def client(process: String, isAlive: () => Boolean): ModelClient = new ModelClient(this, process, isAlive)

  /** Makes the stream appear as CREATING until [[activate]]. */
  def beginCreation(arn: String): Unit = creating += arn
  def activate(arn: String): Unit = creating -= arn

  /** Makes the stream appear as DELETING until [[remove]]. */
  def beginDeletion(arn: String): Unit = deleting += arn

  def remove(arn: String): Unit = {
    streams.remove(arn)
    deleting -= arn
    consumers.forget(arn)
  }

  def stream(arn: String): Option[ModelStream] = streams.get(arn)

  def status(arn: String): StreamStatus =
    if (deleting(arn)) StreamStatus.Deleting else if (creating(arn)) StreamStatus.Creating else StreamStatus.Active

  /** Stores a record in the open shard of its hash key. */
  def put(
      stream: ModelStream,
      id: Long,
      partitionKey: String,
      hash: BigInt,
      data: Array[Byte]
  ): (ModelShard, KinesisRecord) = {
    val shard = stream.shardOf(hash)
    val arrival = now - (if (settings.arrivalJitterMillis == 0) 0 else random.nextInt(settings.arrivalJitterMillis))
    val number = shard.number(shard.records.size + 1L)
    val record = new KinesisRecord(number.value, partitionKey, arrival, data, null)
    shard.records += StoredRecord(id, record)
    consumers.changed(shard)
    (shard, record)
  }

  def split(stream: ModelStream, shard: ModelShard): Unit = {
    stream.split(shard, now)
    consumers.changed(shard)
  }

  def merge(stream: ModelStream, one: ModelShard, other: ModelShard): Unit = {
    stream.merge(one, other, now)
    Seq(one, other).foreach(consumers.changed)
  }

  /** Returns a stream that exists, or throws the service's error. */
  def existing(ref: StreamRef, operation: Operation): ModelStream = streams.getOrElse(
    ref.arn.getOrElse(arn(Account, ref.name)),
    throw refused(ServiceErrorKind.ResourceNotFound, operation, s"Stream $ref not found.")
  )

  /** Returns a shard that has not expired, or throws the service's error. */
  def livingShard(stream: ModelStream, id: ShardId, operation: Operation): ModelShard = {
    val shard = stream.shard(id).filterNot(stream.isExpired(_, now)).getOrElse(
      throw refused(
        ServiceErrorKind.ResourceNotFound,
        operation,
        s"Shard $id in stream ${stream.arn} does not exist"
      )
    )
    stream.trim(shard, now)
    shard
  }

  /** Returns the index of the first record at a position. */
  def indexOf(shard: ModelShard, position: StartingPosition, operation: Operation): Int = {
    val found = position match {
      case StartingPosition.TrimHorizon => shard.trimmed
      case StartingPosition.Latest => shard.records.size
      case StartingPosition.AtTimestamp(millis) =>
        if (millis > now)
          throw refused(ServiceErrorKind.InvalidArgument, operation, s"Timestamp $millis lies in the future of $now")
        firstIndex(shard)(_.arrivalMillis >= millis)
      case StartingPosition.AtSequenceNumber(number) => after(shard, number, operation)(_ >= number)
      case StartingPosition.AfterSequenceNumber(number) => after(shard, number, operation)(_ > number)
    }
    math.max(found, shard.trimmed)
  }

  private def after(
      shard: ModelShard,
      number: SequenceNumber,
      operation: Operation
  )(wanted: SequenceNumber => Boolean): Int = {
    if (number < shard.startingNumber || number > shard.number(999999999L))
      throw refused(
        ServiceErrorKind.InvalidArgument,
        operation,
        s"StartingSequenceNumber $number is invalid because it did not come from this stream."
      )
    firstIndex(shard)(record => wanted(SequenceNumber.trusted(record.sequenceNumber)))
  }

  private def firstIndex(shard: ModelShard)(wanted: KinesisRecord => Boolean): Int = {
    val index = shard.records.indexWhere(stored => wanted(stored.record), shard.trimmed)
    if (index < 0) shard.records.size else index
  }

  /** Returns the lag that the service would report to a reader at this index. */
  def millisBehind(shard: ModelShard, index: Int): Long =
    if (index >= shard.records.size) 0 else math.max(1, now - shard.records(index).record.arrivalMillis)

  /** Returns whether an answer that reads a shard up to this index reports the shard's end. */
  def tellsEnd(shard: ModelShard, index: Int, isEmpty: Boolean): Boolean =
    !shard.isOpen && index >= shard.records.size && (!settings.lateEnds || isEmpty || index % 2 == 0)

  /** Returns a listing, with the age and the gaps of the active faults. */
  def listing(stream: ModelStream, filter: ShardFilter): Seq[Shard] = {
    val asOf = now - faults.listingAgeMillis
    val known = stream.shards.iterator.filter(shard => shard.parents.isEmpty || shard.createdMillis - 1000 <= asOf)
      .filterNot(stream.isExpired(_, now)).toVector
    val wanted = filter match {
      case ShardFilter.FromTimestamp(millis) => known.filter(_.closedMillis.forall(_ >= millis))
      case ShardFilter.AtLatest => known.filter(_.closedMillis.forall(_ > asOf))
      case _ => known
    }
    val seen = wanted.map { shard =>
      val listed = shard.describe
      if (shard.closedMillis.exists(_ > asOf)) listed.copy(endingSequenceNumber = None) else listed
    }
    if (seen.nonEmpty && faults.leavesOut()) seen.filterNot(omitted(stream.life, seen.map(_.id))) else seen
  }

  /**
   * Returns whether a listing omits a shard: one of these at random, but none too often in a row. The product takes a
   * parent as expired that more listings omit.
   */
  private def omitted(life: String, shards: Seq[ShardId]): Shard => Boolean = {
    val one = shards(random.nextInt(shards.size))
    val times = omissions.get(life).filter(_._1 == one).fold(1)(_._2 + 1)
    omissions(life) = one -> times
    shard => shard.id == one && times < ShardGraph.Omissions
  }

  def latencyMillis: Int = 1 + random.nextInt(settings.latencyMillis)

  def refused(kind: ServiceErrorKind, operation: Operation, message: String): ServiceException =
    new ServiceException(kind, operation, s"${kind.name}Exception", message)
}

object ModelKinesis {

  /** The caller's account, which owns streams without an account. */
  val Account = "123456789012"

  def arn(account: String, name: String): String = s"arn:aws:kinesis:eu-central-1:$account:stream/$name"
}
