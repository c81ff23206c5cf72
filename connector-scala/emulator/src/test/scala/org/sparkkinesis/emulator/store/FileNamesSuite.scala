package org.sparkkinesis.emulator.store

import java.nio.file.Path
import java.util.Locale

import org.sparkkinesis.suite.TimedSuite

class FileNamesSuite extends TimedSuite {
  private val names = Seq(
    "orders",
    "Orders",
    "ORDERS",
    ".",
    "..",
    "...",
    "a.b",
    "a_b",
    "a..b",
    ".hidden",
    "_",
    "-",
    "-a",
    "con~1",
    "x" * 128,
    "X" * 128,
    "." * 128,
    "../escape",
    "a/b",
    "a\\b",
    "/absolute",
    "",
    "ä"
  )

  test("a plain name is its own folder name") {
    Seq("orders", "orders-2", "a_b", "123456789012", "us-east-1").foreach(name => assert(FileNames.of(name) == name))
  }

  names.foreach { name =>
    test(s"the folder of '${name.take(20)}' (${name.length} characters) is directly below its parent") {
      val parent = Path.of("/data/emulator")
      val folder = parent.resolve(FileNames.of(name))
      assert(folder.normalize == folder)
      assert(folder.getParent == parent)
      assert(folder.getFileName.toString.length <= 255)
    }
  }

  test("different names have different folders, even if the file system ignores case") {
    assert(names.map(FileNames.of(_).toLowerCase(Locale.ROOT)).distinct.size == names.size)
  }
}
