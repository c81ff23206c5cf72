package org.sparkkinesis.chaos

import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.collection.mutable
import scala.util.Using

import org.scalatest.Outcome

import org.sparkkinesis.suite.TimedSuite

/**
 * Creates folders that are deleted after a successful suite. After a failure they remain, with the logs of every
 * process.
 */
trait TemporaryFolder extends TimedSuite {
  private val made = mutable.ArrayBuffer.empty[Path]

  protected def folder(): Path = {
    val path = Files.createTempDirectory(s"chaos-${getClass.getSimpleName}")
    made += path
    path
  }

  override protected def withFixture(test: NoArgTest): Outcome = {
    val outcome = super.withFixture(test)
    if (outcome.isSucceeded) {
      made.foreach(remove)
      made.clear()
    }
    outcome
  }

  private def remove(path: Path): Unit = Using.resource(Files.walk(path))(
    _.sorted(Comparator.reverseOrder[Path]()).forEach(file => Files.delete(file))
  )
}
