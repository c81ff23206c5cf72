package org.sparkkinesis.emulator.engine

import java.util.concurrent.ConcurrentSkipListMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.delivery.DeliveryStreams
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.CallRates
import org.sparkkinesis.emulator.engine.stream.{DataStream, StreamSettings}
import org.sparkkinesis.model.StreamRef

/** The streams of one account in one region, by name. Thread-safe. */
final class Namespace(val account: String, val region: String, val engine: Engine) {
  import Namespace._

  val rates = new CallRates
  val deliveryStreams = new DeliveryStreams(account, region, engine.deliveries)
  private val byName = new ConcurrentSkipListMap[String, DataStream]

  /** Whether the account has a minimum throughput commitment (On-demand Advantage). */
  @volatile var hasCommitment: Boolean = false

  def streams: Iterable[DataStream] = byName.values.asScala
  def streamsAfter(name: Option[String]): Iterator[DataStream] =
    name.fold(byName.values.iterator)(byName.tailMap(_, false).values.iterator).asScala

  def openShards: Int = streams.iterator.map(_.shards.openCount).sum
  def find(name: String): Option[DataStream] = Option(byName.get(name))

  def stream(name: String): DataStream = find(name).getOrElse(throw notFound(name))

  def stream(ref: StreamRef): DataStream = ref match {
    case StreamRef.ByArn(_, arnRegion, arnAccount, name) =>
      if (arnRegion == region && arnAccount == account) stream(name)
      else engine.namespace(arnAccount, arnRegion).stream(name)
    case StreamRef.ByName(name) => stream(name)
  }

  def consumerByArn(arn: String): (DataStream, RegisteredConsumer) = arn match {
    case ConsumerArn(streamArn, name, _) =>
      val found = for {
        ref <- StreamRef.parse(streamArn)
        stream = this.stream(ref)
        consumer <- stream.consumer(name) if consumer.arn == arn
      } yield (stream, consumer)
      found.getOrElse(throw ServiceError.resourceNotFound(s"Consumer $arn under account $account not found."))
    case _ => throw ServiceError.invalidArgument(s"$arn is not a consumer ARN.")
  }

  private def arn(name: String): String = s"arn:aws:kinesis:$region:$account:stream/$name"

  /**
   * Adds a stream without shards. The caller has checked the limits.
   *
   * @throws ServiceError
   *   ResourceInUse if a stream of this name exists
   */
  def add(name: String, settings: StreamSettings): DataStream = {
    val made = newStream(name, engine.clock.millis, settings)
    if (byName.putIfAbsent(name, made) != null)
      throw ServiceError.resourceInUse(s"Stream $name under account $account already exists.")
    made
  }

  /** Creates a stream without adding it. */
  private[emulator] def newStream(name: String, createdMillis: Long, settings: StreamSettings): DataStream =
    new DataStream(name, arn(name), account, region, createdMillis, settings, engine)

  private[emulator] def restore(stream: DataStream): Unit = {
    byName.put(stream.name, stream)
    ()
  }

  def remove(stream: DataStream): Unit = {
    byName.remove(stream.name, stream)
    rates.forget(stream.name)
    stream.discard()
    engine.store.deleted(stream)
  }

  private def notFound(name: String): ServiceError =
    ServiceError.resourceNotFound(s"Stream $name under account $account not found.")
}

object Namespace {
  private val ConsumerArn =
    """(arn:aws[^:]*:kinesis:[^:]+:\d{12}:stream/[a-zA-Z0-9_.-]+)/consumer/([a-zA-Z0-9_.-]+):(\d+)""".r
}
