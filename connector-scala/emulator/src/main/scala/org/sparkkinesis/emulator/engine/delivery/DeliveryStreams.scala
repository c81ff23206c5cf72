package org.sparkkinesis.emulator.engine.delivery

import java.util.concurrent.ConcurrentSkipListMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.emulator.engine.error.ServiceError

/** The delivery streams of one account in one region, by name. They end with the emulator. Thread-safe. */
final class DeliveryStreams(account: String, region: String, store: DeliveryStore) {
  private val byName = new ConcurrentSkipListMap[String, DeliveryStream]

  /**
   * Adds a delivery stream, which is CREATING.
   *
   * @throws ServiceError
   *   ResourceInUseException if one of this name exists
   */
  def add(name: String, destination: S3Destination, nowMillis: Long): DeliveryStream = {
    val made = new DeliveryStream(name, account, region, nowMillis, destination, store)
    if (byName.putIfAbsent(name, made) != null)
      throw ServiceError.resourceInUse(s"Firehose $name under accountId $account already exists")
    made
  }

  def stream(name: String): DeliveryStream = Option(byName.get(name)).getOrElse(
    throw ServiceError.resourceNotFound(s"Firehose $name under account $account not found.")
  )

  /** Returns the names in order, starting after `name`. */
  def namesAfter(name: Option[String]): Iterator[String] =
    name.fold(byName.keySet.iterator)(byName.tailMap(_, false).keySet.iterator).asScala

  def remove(stream: DeliveryStream): Unit = {
    byName.remove(stream.name, stream)
    store.end(stream)
  }
}
