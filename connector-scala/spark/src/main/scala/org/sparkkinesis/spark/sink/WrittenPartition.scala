package org.sparkkinesis.spark.sink

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream, ObjectStreamClass}

import scala.util.Using

import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.execution.datasources.WriteTaskResult

import org.sparkkinesis.spark.sink.invalid.HeldLetter

/** What a task has written, after its rows are stored. */
final case class WrittenPartition(counts: WriteCounts, letters: Seq[HeldLetter] = Nil) {

  /**
   * Returns the message to the driver. Spark reads it there with the class loader of the application, which does not
   * have the connector's classes if the jar was added to a running session, and with the serializer of the
   * application. Thus it is an object of Spark itself, which Spark registers for Kryo, with this object as bytes.
   */
  def message: WriterCommitMessage = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new ObjectOutputStream(bytes))(_.writeObject(this))
    WriteTaskResult(new TaskCommitMessage(bytes.toByteArray), null)
  }
}

object WrittenPartition {

  /** Returns what the tasks have written. The message of a task that did not commit is null. */
  def all(messages: Array[WriterCommitMessage]): Seq[WrittenPartition] = messages.toSeq.flatMap {
    case WriteTaskResult(Bytes(written), _) => Some(read(written))
    case null => None
    case other => throw new IllegalArgumentException(s"not a message of this sink: $other")
  }

  private object Bytes {
    def unapply(message: TaskCommitMessage): Option[Array[Byte]] =
      Some(message.obj).collect { case bytes: Array[Byte] => bytes }
  }

  private def read(bytes: Array[Byte]): WrittenPartition = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        Class.forName(description.getName, false, classOf[WrittenPartition].getClassLoader)
    }
    Using.resource(in)(_.readObject()) match {
      case written: WrittenPartition => written
      case other => throw new IllegalArgumentException(s"not what a task has written: $other")
    }
  }
}
