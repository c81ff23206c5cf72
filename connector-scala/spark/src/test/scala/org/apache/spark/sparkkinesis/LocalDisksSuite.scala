package org.apache.spark.sparkkinesis

import java.io.IOException
import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.{SparkConf, SparkContext}

import org.sparkkinesis.suite.TimedSuite

class LocalDisksSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 1.minute

  private def inSpark(settings: (String, String)*)(body: Path => Unit): Unit = {
    val folder = Files.createTempDirectory("local-disks")
    val context = new SparkContext(
      new SparkConf().setMaster("local[1]").setAppName("disks").set("spark.ui.enabled", "false")
        .set("spark.driver.bindAddress", "127.0.0.1").set("spark.driver.host", "127.0.0.1")
        .set("spark.local.dir", folder.toString).setAll(settings)
    )
    try body(folder)
    finally context.stop()
  }

  /** Returns the bytes of all files as text. */
  private def contents(folder: Path): Seq[String] = Using.resource(Files.walk(folder))(
    _.iterator.asScala.filter(Files.isRegularFile(_)).map(file => new String(Files.readAllBytes(file), "ISO-8859-1"))
      .toVector
  )

  for (encrypts <- Seq(false, true)) test(s"blocks are read as they were written, encrypted: $encrypts") {
    inSpark("spark.io.encryption.enabled" -> encrypts.toString) { folder =>
      val blocks = Seq("first secret", "", "x" * 100000, "last secret").map(_.getBytes)
      val file = LocalDisks.create()
      val places = blocks.map(file.append)
      blocks.zip(places).reverse.foreach { case (block, place) => assert(file.read(place).sameElements(block)) }
      assert(contents(folder).exists(_.contains("secret")) != encrypts)
      assert(places.map(_.length.toLong).sum == contents(folder).map(_.length.toLong).sum)
      assert(LocalDisks.freeBytes > 0)
      file.delete()
      assert(contents(folder).isEmpty)
      intercept[IOException](file.read(places.head))
    }
  }

  test("an interrupted thread can write and read") {
    inSpark() { _ =>
      val file = LocalDisks.create()
      Thread.currentThread.interrupt()
      val place = file.append("block".getBytes)
      assert(file.read(place).sameElements("block".getBytes))
      assert(Thread.interrupted(), "the interrupt is kept for the caller")
    }
  }
}
