package org.sparkkinesis.reference

import java.nio.file.Files

import org.sparkkinesis.suite.TimedSuite

class GeneratedFilesSuite extends TimedSuite {
  GeneratedFiles.all.foreach { case (path, text) =>
    test(s"$path matches the declarations") {
      val file = GeneratedFiles.root.resolve(path)
      val committed = if (Files.exists(file)) Files.readString(file) else ""
      assert(committed == text, s"$path is stale. Renew it with: ${GeneratedFiles.Command}")
    }
  }
}
