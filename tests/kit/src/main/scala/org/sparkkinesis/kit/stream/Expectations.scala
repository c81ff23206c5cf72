package org.sparkkinesis.kit.stream

/** Waits for this number of rows, and then checks them like [[CheckRowsNow]]. */
final case class CheckRows(numbers: Seq[Int]) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    in.await(s"${numbers.size} rows")(in.collected.rows.size >= numbers.size)
    CheckRowsNow(numbers).run(in)
  }
}

/** Checks that the data of all rows so far are exactly these numbers, each once. */
final case class CheckRowsNow(numbers: Seq[Int]) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val (found, expected) = (in.collected.numbers, numbers.sorted.toVector)
    in.expect(
      found == expected,
      s"missing: ${expected.diff(found).mkString(", ")}; not expected: ${found.diff(expected).mkString(", ")}"
    )
  }
}

/** Waits for at least this number of rows. */
final case class AwaitRows(count: Int) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.await(s"$count rows")(in.collected.rows.size >= count)
}

/**
 * Checks that the batches returned the numbers of each partition key in ascending order. Within a batch any order is
 * valid.
 */
case object CheckKeyOrder extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    val byBatch = in.collected.byBatch.map(_.groupMap(_.getAs[String]("partitionKey"))(Collected.text(_).toInt))
    byBatch.flatMap(_.keys).distinct.foreach { key =>
      val seen = byBatch.flatMap(_.getOrElse(key, Vector.empty).sorted)
      in.expect(seen == seen.sorted, s"the numbers of $key came in the order ${seen.mkString(", ")}")
    }
  }
}

/** Checks that the numbers of each partition key were handed over in ascending order, also within each batch. */
case object CheckStrictKeyOrder extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit =
    in.collected.rows.groupMap(_.getAs[String]("partitionKey"))(Collected.number).foreach { case (key, seen) =>
      in.expect(seen == seen.sorted, s"the numbers of $key came in the order ${seen.mkString(", ")}")
    }
}

/** Waits for a condition. */
final case class Await(what: String)(condition: StreamRun => Boolean) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = in.await(what)(condition(in))
}

/** Runs code that has no action of its own, or checks it with the assertions of the suite. */
final case class Execute(what: String)(body: StreamRun => Any) extends StreamAction {
  override private[stream] def run(in: StreamRun): Unit = {
    body(in)
    ()
  }
}
