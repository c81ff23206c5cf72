package org.sparkkinesis.simulation.common

/** Finds a short list with the same failure by removing ever smaller runs of its elements. */
object Shrinker {

  /**
   * @param fails
   *   whether a list still has the failure
   * @param simpler
   *   simpler forms of one element, the simplest first
   * @param attempts
   *   maximum number of lists to try
   */
  def shrink[A](list: Vector[A], attempts: Int = 400)(fails: Vector[A] => Boolean)(simpler: A => Seq[A]): Vector[A] = {
    var left = attempts
    def stillFails(candidate: Vector[A]): Boolean = left > 0 && {
      left -= 1
      fails(candidate)
    }
    var best = list
    var size = math.max(1, best.size / 2)
    while (size > 0 && left > 0) {
      var from = 0
      var removed = false
      while (from < best.size && left > 0) {
        val candidate = best.patch(from, Nil, size)
        if (stillFails(candidate)) {
          best = candidate
          removed = true
        } else from += size
      }
      if (!removed || size > 1) size /= 2
    }
    best.indices.foreach { i =>
      simpler(best(i)).find(form => form != best(i) && stillFails(best.updated(i, form))).foreach(form =>
        best = best.updated(i, form)
      )
    }
    best
  }
}
