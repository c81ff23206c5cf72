package org.sparkkinesis.spark.sink

import org.sparkkinesis.suite.TimedSuite

class SinkWriteSuite extends TimedSuite {
  test("the tasks that send at once are limited by the partitions and by the cores, and are at least one") {
    // Partitions, cores of all executors, cores of a task, and the expected number of tasks.
    val cases = Seq(
      (10, 4, 1, 4),
      (3, 4, 1, 3),
      (4, 4, 1, 4),
      (10, 8, 2, 4),
      (10, 7, 2, 3),
      (2, 8, 2, 2),
      (10, 1, 2, 1),
      (0, 4, 1, 1)
    )
    cases.foreach { case (partitions, cores, coresPerTask, expected) =>
      val found = SinkWrite.tasksAtOnce(partitions, cores, coresPerTask)
      assert(found == expected, s"$partitions partitions, $cores cores, $coresPerTask cores for each task")
    }
  }
}
