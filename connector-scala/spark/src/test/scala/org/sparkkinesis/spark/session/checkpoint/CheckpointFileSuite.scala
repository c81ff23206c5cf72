package org.sparkkinesis.spark.session.checkpoint

import java.io.{IOException, InterruptedIOException}
import java.net.URI
import java.nio.channels.ClosedByInterruptException
import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataOutputStream, Path, RawLocalFileSystem}
import org.apache.hadoop.util.Progressable

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.suite.TimedSuite

class CheckpointFileSuite extends TimedSuite {
  private val conf = {
    val conf = new Configuration(false)
    conf.set("fs.crash.impl", classOf[CrashingFileSystem].getName)
    conf.setBoolean("fs.crash.impl.disable.cache", true)
    conf
  }

  private def fresh(): CheckpointFile =
    new CheckpointFile(s"crash://${Files.createTempDirectory("checkpoint-file")}", "noted", conf)

  test("a text can be written, read, replaced and deleted") {
    val file = fresh()
    assert(file.read().isEmpty)
    file.write("one")
    assert(file.read().contains("one"))
    file.write("two")
    assert(file.read().contains("two"))
    file.delete()
    assert(file.read().isEmpty)
    file.delete()
  }

  test("names are those of the files with a prefix, also of a file whose replacement was interrupted") {
    val folder = s"crash://${Files.createTempDirectory("checkpoint-file")}"
    def names = CheckpointFile.names(folder, "noted-", conf)
    assert(CheckpointFile.names(s"$folder/missing", "noted-", conf).isEmpty && names.isEmpty)
    new CheckpointFile(folder, "other", conf).write("text")
    (1 to 12).foreach { step =>
      val file = new CheckpointFile(folder, s"noted-$step", conf)
      file.write("old")
      CrashingFileSystem.crashAt(step)(file.write("new"))
      assert(names == (1 to step).map(index => s"noted-$index").toSet)
    }
  }

  test("an interrupt, by which Spark stops a query, is not reported as a checkpoint that cannot be written") {
    val file = fresh()
    file.write("one")
    Seq(new InterruptedIOException("by Hadoop"), new ClosedByInterruptException).foreach { interrupt =>
      CrashingFileSystem.failing(interrupt)(intercept[InterruptedException](file.write("two")))
    }
    assert(file.read().contains("one"))
  }

  test("a crash before any step of a replacement leaves the old text or the new one") {
    val outcomes = (1 to 12).map { step =>
      val file = fresh()
      file.write("old")
      val crashed = CrashingFileSystem.crashAt(step)(file.write("new"))
      assert(file.read().exists(Set("old", "new")), s"step $step left ${file.read()}")
      // The next run writes as usual, and may crash as well.
      CrashingFileSystem.crashAt(step)(file.write("newer"))
      assert(file.read().exists(Set("old", "new", "newer")), s"a second crash at step $step left ${file.read()}")
      file.write("last")
      assert(file.read().contains("last"))
      file.delete()
      assert(file.read().isEmpty)
      crashed
    }
    assert(outcomes.head && !outcomes.last, "the crashes do not cover every step of the replacement")
  }

  test("an unwritable location is an error with a condition") {
    val error = intercept[KinesisConnectorException](CrashingFileSystem.strict(fresh().write("text")))
    assert(error.condition == "KINESIS_CHECKPOINT_UNWRITABLE")
  }
}

/** Lets changes of the file system fail from the n-th one on, as after a kill. */
object CrashingFileSystem {
  private[spark] val left = new AtomicInteger(Int.MaxValue)
  @volatile private[spark] var failure: () => IOException = crash

  private def crash: () => IOException = () => new IOException("crashed")

  /** Runs `body` while every change fails with this error. */
  def failing[A](error: IOException)(body: => A): A = {
    failure = () => error
    try strict(body)
    finally failure = crash
  }

  /** Runs `body` and returns true if it did not finish. */
  def crashAt(step: Int)(body: => Unit): Boolean = {
    left.set(step)
    try {
      body
      false
    } catch { case _: KinesisConnectorException => true }
    finally left.set(Int.MaxValue)
  }

  def strict[A](body: => A): A = {
    left.set(1)
    try body
    finally left.set(Int.MaxValue)
  }
}

/** The local file system under its own scheme. */
final class CrashingFileSystem extends RawLocalFileSystem {
  override def getUri: URI = URI.create("crash:///")
  override def getScheme: String = "crash"

  private def step(): Unit = if (CrashingFileSystem.left.decrementAndGet() <= 0) throw CrashingFileSystem.failure()

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    step()
    super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    step()
    super.delete(path, recursive)
  }

  override def rename(from: Path, to: Path): Boolean = {
    step()
    super.rename(from, to)
  }
}
