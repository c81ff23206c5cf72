package org.sparkkinesis.spark.sink

import org.apache.spark.SparkConf
import org.apache.spark.serializer.KryoSerializer
import org.apache.spark.sql.connector.write.WriterCommitMessage

import org.sparkkinesis.spark.connection.ApplicationLoader
import org.sparkkinesis.spark.sink.invalid.HeldLetter
import org.sparkkinesis.suite.TimedSuite

class WrittenPartitionSuite extends TimedSuite {
  private val letter = HeldLetter("too large", "orders", 3, 7L, Some("key"), None, Some(2L << 20))

  private def received(sent: WrittenPartition): WriterCommitMessage = ApplicationLoader.received(sent.message) match {
    case message: WriterCommitMessage => message
    case other => fail(s"not a message: $other")
  }

  test("the driver has the messages of all tasks, which Spark reads without the connector's classes") {
    val sent = Seq(
      WrittenPartition(WriteCounts(dropped = 3)),
      WrittenPartition(WriteCounts(deadLettered = 2), Seq(letter, letter.copy(row = 8L)))
    )
    assert(WrittenPartition.all(sent.map(received).toArray) == sent)
  }

  test("Kryo sends the message, also if it requires that all classes are registered") {
    val kryo = new KryoSerializer(new SparkConf(false).set("spark.kryo.registrationRequired", "true")).newInstance()
    val sent = WrittenPartition(WriteCounts(deadLettered = 1), Seq(letter))
    val received = kryo.deserialize[WriterCommitMessage](kryo.serialize(sent.message))
    assert(WrittenPartition.all(Array(received)) == Seq(sent))
  }

  test("a task that did not commit has no message") {
    val sent = WrittenPartition(WriteCounts(dropped = 3))
    assert(WrittenPartition.all(Array(null, sent.message)) == Seq(sent))
    assert(WrittenPartition.all(Array.empty) == Nil)
  }

  test("a message of another sink is an error") {
    intercept[IllegalArgumentException](WrittenPartition.all(Array(new WriterCommitMessage {})))
  }
}
