package org.sparkkinesis.chaos

import java.nio.file.{Files, Path}
import java.util.Comparator

import scala.collection.mutable
import scala.util.Using

/** Folders that are gone after a suite that passed; after a failure they stay, with the logs of every process. */
trait TemporaryFolder extends munit.FunSuite {
  private val made = mutable.ArrayBuffer.empty[Path]

  protected def folder(): Path = {
    val path = Files.createTempDirectory(s"chaos-${getClass.getSimpleName}")
    made += path
    path
  }

  override def munitTestTransforms: List[TestTransform] = super.munitTestTransforms :+
    new TestTransform(
      "remove folders",
      test =>
        test.withBody { () =>
          test.body().map { result =>
            made.foreach(remove)
            made.clear()
            result
          }(munitExecutionContext)
        }
    )

  private def remove(path: Path): Unit = Using.resource(Files.walk(path))(
    _.sorted(Comparator.reverseOrder[Path]()).forEach(file => Files.delete(file))
  )
}
