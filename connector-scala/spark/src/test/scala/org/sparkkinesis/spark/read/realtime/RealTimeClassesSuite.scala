package org.sparkkinesis.spark.read.realtime

import java.net.URLClassLoader

import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead.RecordStatus

import org.sparkkinesis.spark.connection.ApplicationLoader
import org.sparkkinesis.spark.read.{KinesisMicroBatchStream, StreamFactory}
import org.sparkkinesis.suite.TimedSuite

/** The connector runs with Spark versions without real-time mode, and with both shapes of its API. */
class RealTimeClassesSuite extends TimedSuite {
  private val long = classOf[java.lang.Long]

  test("the reader has both shapes of nextWithTimeout") {
    Seq(Seq(long), Seq(long, long)).foreach { arguments =>
      val method = classOf[RealTimeReader].getMethod("nextWithTimeout", arguments: _*)
      assert(method.getReturnType == classOf[RecordStatus])
    }
  }

  test("with this version of Spark, streams support real-time mode") {
    assert(StreamFactory.ofSpark.isInstanceOf[RealTimeStreams])
  }

  test("Spark reads the offset of a task without the connector's classes, which a jar of a session may contain") {
    val epoch = ApplicationLoader.received(RealTimePartitionOffset(7)) match {
      case RealTimePartitionOffset(epoch) => epoch
      case other => fail(s"not an offset: $other")
    }
    assert(epoch == 7L)
  }

  /** Loads the connector's classes anew, as if Spark had no real-time mode. */
  private object OlderSpark
      extends URLClassLoader(
        Array(classOf[StreamFactory].getProtectionDomain.getCodeSource.getLocation),
        getClass.getClassLoader
      ) {
    override def loadClass(name: String, resolve: Boolean): Class[_] =
      if (name.contains("SupportsRealTime")) throw new ClassNotFoundException(name)
      else if (name.startsWith("org.sparkkinesis.spark.read."))
        Option(findLoadedClass(name)).getOrElse(findClass(name))
      else super.loadClass(name, resolve)
  }

  test("without real-time mode no class of it is loaded, and streams run in micro-batches") {
    val factory = OlderSpark.loadClass(classOf[StreamFactory].getName + "$")
    val ofSpark = factory.getMethod("ofSpark").invoke(factory.getField("MODULE$").get(null))
    assert(!ofSpark.getClass.getName.contains("RealTime"), ofSpark.getClass)
    // Fails if a signature names a class that does not exist.
    assert(OlderSpark.loadClass(classOf[KinesisMicroBatchStream].getName).getMethods.nonEmpty)
    assertThrows[LinkageError](OlderSpark.loadClass(classOf[RealTimeKinesisStream].getName).getMethods)
  }
}
