package org.sparkkinesis.chaos

import java.util.concurrent.TimeUnit

import scala.collection.mutable

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.model.{KinesisQuotas, StreamRef}
import org.sparkkinesis.service.{PutEntry, PutResult}

/**
 * Puts numbered records under many keys from its own thread, up to the allowed number, and remembers the sequence
 * number of each.
 *
 * @param keys
 *   number of partition keys over which the numbers are distributed evenly
 */
final class Producer(endpoint: String, stream: String, keys: Int) extends AutoCloseable {
  private val service = SdkClients.create(
    ClientSettings.of(Some("us-east-1"), Some(endpoint), CredentialSettings.Static("AKIDEXAMPLE", "secret", None))
  )
  private val sequenceNumbers = mutable.ArrayBuffer.empty[String]
  private var allowed = 0L
  private var failure: Option[Throwable] = None
  private var closed = false
  private var isPaused = false
  private var isPutting = false
  private val thread = new Thread(() => run(), "producer")
  thread.setDaemon(true)
  thread.start()

  /** Allows the producer to continue until this number of records is put. */
  def allow(total: Long): Unit = synchronized {
    allowed = math.max(allowed, total)
    notifyAll()
  }

  /** Returns the number of records that the stream has accepted. */
  def count: Long = synchronized {
    failure.foreach(throw _)
    sequenceNumbers.size.toLong
  }

  /** Waits until all allowed records are put. */
  def awaitAll(): Unit = synchronized {
    while (failure.isEmpty && sequenceNumbers.size < allowed) wait()
    failure.foreach(throw _)
  }

  /** Stops putting until [[resume]], and waits for the request that is under way. */
  def pause(): Unit = synchronized {
    isPaused = true
    while (isPutting && failure.isEmpty) wait()
  }

  def resume(): Unit = synchronized {
    isPaused = false
    notifyAll()
  }

  /** Returns the sequence number of a record. */
  def sequenceNumber(number: Int): String = synchronized(sequenceNumbers(number))

  override def close(): Unit = {
    synchronized {
      closed = true
      notifyAll()
    }
    thread.join()
    service.close()
  }

  private def run(): Unit =
    try {
      var next = nextRange()
      while (next.nonEmpty) {
        val numbers = put(next)
        synchronized {
          sequenceNumbers ++= numbers
          isPutting = false
          notifyAll()
        }
        next = nextRange()
      }
    } catch {
      case error: Throwable => synchronized {
          failure = Some(error)
          notifyAll()
        }
    }

  /** Returns the next numbers to put; empty at the end. */
  private def nextRange(): Range = synchronized {
    while (!closed && (isPaused || sequenceNumbers.size >= allowed)) wait()
    val from = sequenceNumbers.size
    isPutting = !closed
    if (closed) 0 until 0 else from until math.min(from + BatchSize, allowed.toInt)
  }

  /** Puts the numbers and returns their sequence numbers in order. Refused entries are put again. */
  private def put(numbers: Range): Seq[String] = {
    val taken = mutable.HashMap.empty[Int, String]
    while (taken.size < numbers.size) {
      val left = numbers.filterNot(taken.contains)
      val entries = left.map(number => PutEntry(s"$stream/${number % keys}", None, number.toString.getBytes("UTF-8")))
      val results = service.putRecords(StreamRef.ByName(stream), entries).get(1, TimeUnit.MINUTES)
      left.zip(results).foreach {
        case (number, PutResult.Accepted(_, sequenceNumber)) => taken(number) = sequenceNumber.value
        case (_, _: PutResult.Rejected) => ()
      }
    }
    numbers.map(taken)
  }

  private def BatchSize: Int = KinesisQuotas.Request.PutRecordsEntries
}
