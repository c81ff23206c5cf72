package org.sparkkinesis.emulator.store

import java.io.{BufferedInputStream, DataInputStream, DataOutputStream, EOFException}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardOpenOption}

import scala.util.Using

import org.sparkkinesis.emulator.engine.shard.{SequenceNumbers, StoredRecord}
import org.sparkkinesis.model.Utf8

/**
 * The log file of a shard. Records are in the order in which they were written, which is nearly the order of their
 * sequence numbers. Reading a file removes an incomplete last record, which a killed process may leave.
 */
private[store] object ShardLogFile {
  def fileName(shardIndex: Long): String = f"shard-$shardIndex%012d.log"

  def write(out: DataOutputStream, record: StoredRecord): Unit = {
    out.writeLong(record.seqIx)
    out.writeLong(record.arrivalMillis)
    out.writeBoolean(record.encryptionType != null)
    val key = if (record.partitionKey == null) null else record.partitionKey.getBytes(UTF_8)
    out.writeInt(if (key == null) -1 else key.length)
    if (key != null) out.write(key)
    out.writeInt(record.data.length)
    out.write(record.data)
  }

  /** Returns the records of a file in the order of their sequence numbers. */
  def read(file: Path, createdSeconds: Long, shardIndex: Long): Vector[StoredRecord] =
    if (!Files.exists(file)) Vector.empty
    else {
      val found = Vector.newBuilder[StoredRecord]
      var whole = 0L
      Using.resource(new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) { in =>
        try
          while (true) {
            val (record, bytes) = readOne(in, createdSeconds, shardIndex)
            found += record
            whole += bytes
          }
        catch { case _: EOFException => () }
      }
      if (whole < Files.size(file))
        Using.resource(Files.newByteChannel(file, StandardOpenOption.WRITE))(_.truncate(whole))
      found.result().sortBy(_.seqIx)
    }

  private def readOne(in: DataInputStream, createdSeconds: Long, shardIndex: Long): (StoredRecord, Long) = {
    val seqIx = in.readLong()
    val arrival = in.readLong()
    val encryption = if (in.readBoolean()) "KMS" else null
    val keyLength = in.readInt()
    val key = if (keyLength < 0) null else new String(readBytes(in, keyLength), UTF_8)
    val data = readBytes(in, in.readInt())
    val number = SequenceNumbers.encode(createdSeconds, shardIndex, seqIx, math.max(arrival / 1000, createdSeconds))
    val size = data.length + (if (key == null) 0 else Utf8.length(key))
    val bytes = FixedBytes + math.max(keyLength, 0) + data.length
    (new StoredRecord(number, seqIx, arrival, key, data, size, encryption), bytes)
  }

  private val FixedBytes = 8L + 8 + 1 + 4 + 4

  private def readBytes(in: DataInputStream, length: Int): Array[Byte] = {
    val bytes = new Array[Byte](length)
    in.readFully(bytes)
    bytes
  }
}
