package org.apache.spark.sparkkinesis

import java.io.IOException
import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}

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
      file.delete()
      assert(contents(folder).isEmpty)
      intercept[IOException](file.read(places.head))
    }
  }

  test("only the user of the process can read a file") {
    inSpark() { folder =>
      val file = LocalDisks.create()
      file.append("secret".getBytes)
      val found = Using.resource(Files.walk(folder))(_.iterator.asScala.filter(Files.isRegularFile(_)).toVector)
      assert(found.map(Files.getPosixFilePermissions(_).asScala.map(_.name).toSet) ==
        Seq(Set("OWNER_READ", "OWNER_WRITE")))
      file.delete()
      assert(contents(folder).isEmpty)
      intercept[IOException](file.append("secret".getBytes))
      assert(contents(folder).isEmpty, "a deleted file is not created again")
    }
  }

  test("a local directory in memory has no space for files") {
    val memory = Path.of("/dev/shm")
    assume(Files.isWritable(memory) && Files.getFileStore(memory).`type` == "tmpfs")
    inSpark("spark.local.dir" -> "/dev/shm")(_ => assert(LocalDisks.spareBytes == 0))
  }

  test("without Spark, writing fails like a full disk") {
    assert(SparkEnv.get == null && LocalDisks.spareBytes == 0)
    intercept[IOException](LocalDisks.create())
  }

  test("as much as the files have is left to others") {
    inSpark() { folder =>
      assume(Files.getFileStore(folder).`type` != "tmpfs")
      val before = LocalDisks.spareBytes
      val file = LocalDisks.create()
      file.append(new Array[Byte](8 << 20))
      // Other processes change the free space as well, by less.
      assert(before - LocalDisks.spareBytes > (8 << 20))
      file.delete()
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
