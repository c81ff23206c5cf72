package org.sparkkinesis.bench.scale

import java.util.concurrent.Executors
import java.util.concurrent.atomic.LongAdder
import java.util.concurrent.locks.LockSupport

import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.spark.coordinator.cluster.{ExecutorCluster, ExecutorPlace}
import org.sparkkinesis.spark.protocol.{DriverHandler, Endpoint}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Executors whose shards receive a steady number of chunks per second. Their messages reach the driver one at a time on
 * a thread of its own, as with Spark's RPC. The names of threads that belong to executors begin with
 * [[InventedCluster.ExecutorThread]].
 *
 * @param chunksPerSecond
 *   the number of chunks per second and shard
 * @param rows
 *   the number of rows of a chunk
 */
final private[scale] class InventedCluster(chunksPerSecond: Double, rows: Int)
    extends ExecutorCluster
    with AutoCloseable {
  import InventedCluster._

  /** Number and bytes of the messages that the driver has received. */
  val received = new LongAdder
  val receivedBytes = new LongAdder

  private val rpc = Executors.newSingleThreadExecutor(task => new Thread(task, RpcThread))
  private val scheduler = new SystemScheduler(ExecutorThread, 2)
  @volatile private var handler = Option.empty[DriverHandler]
  @volatile private var isClosed = false

  private val all = (0 until Size).map(i => new InventedExecutor(s"executor-$i", scheduler, deliver))
  private val fetching = new Thread(() => fetch(), s"$ExecutorThread-fetch")
  fetching.setDaemon(true)

  def sent: Long = all.map(_.messages.sum).sum
  def sentBytes: Long = all.map(_.bytes.sum).sum
  def missedReports: Long = all.map(_.missedReports.sum).sum
  def assignedShards: Int = all.map(_.shards).sum

  /** Starts the arrival of chunks. */
  def start(): Unit = fetching.start()

  override def open(name: String, of: DriverHandler): Endpoint = {
    handler = Some(of)
    () => handler = None
  }

  override def executors: Seq[ExecutorPlace] = all.map(one => ExecutorPlace(one.id, "localhost"))
  override def slots: Int = Size * 2
  override def location(place: ExecutorPlace): String = s"executor_${place.host}_${place.id}"

  override def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit = {
    val wanted = places.map(_.id).toSet
    all.filter(one => wanted(one.id)).foreach(one => rpc.execute(() => register(one)))
  }

  private def register(one: InventedExecutor): Unit = handler.foreach(_.onRegister(one.registration, one, one.id))

  override def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable = () => ()

  override def close(): Unit = {
    isClosed = true
    fetching.join()
    scheduler.close()
    rpc.shutdown()
  }

  private def deliver(message: Array[Byte]): Unit = {
    received.increment()
    receivedBytes.add(message.length.toLong)
    rpc.execute(() => handler.foreach(_.onMessage(message)))
  }

  /** Spreads the chunks evenly over time and over the executors. */
  private def fetch(): Unit = {
    val began = System.nanoTime()
    var done = 0L
    while (!isClosed) {
      val due = ((System.nanoTime() - began) / 1e9 * chunksPerSecond * assignedShards).toLong
      while (done < due) {
        all((done % Size).toInt).fetch(rows)
        done += 1
      }
      LockSupport.parkNanos(StepNanos)
    }
  }
}

private[scale] object InventedCluster {
  val ExecutorThread = "invented-executor"
  val RpcThread = "rpc"
  private val Size = 10
  private val StepNanos = 1000000L
}
