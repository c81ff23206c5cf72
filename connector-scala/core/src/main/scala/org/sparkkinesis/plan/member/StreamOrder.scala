package org.sparkkinesis.plan.member

import scala.annotation.tailrec

import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream}

/**
 * The order of streams whose newest definitions are in different documents. One document has no streams that wait for
 * each other, but the streams of several documents may: none of them would ever be read. Pure.
 */
private[member] object StreamOrder {

  /**
   * Returns the predecessors of streams that have not been read to their end, without cycles. Where documents
   * contradict each other, the newer one applies.
   *
   * @param streams
   *   the ARNs of the streams; their predecessors are added
   * @param documents
   *   the newest one first. The first one that has a stream applies to it. If streams of one document wait for each
   *   other, the one that is listed first applies.
   * @param isUnread
   *   whether the predecessor of a stream of this document has to be read
   */
  def of(
      streams: Set[String],
      documents: IndexedSeq[MetadataDocument],
      isUnread: (MetadataDocument, String) => Boolean
  ): Map[String, Set[String]] = {
    def unread(age: Int, stream: PhysicalStream): Set[String] = stream.after.filter(isUnread(documents(age), _))

    @tailrec
    def ages(todo: Set[String], known: Map[String, Int]): Map[String, Int] = if (todo.isEmpty) known
    else {
      val found =
        todo.iterator.map(arn => arn -> documents.indexWhere(_.physical.contains(arn))).filter(_._2 >= 0).toMap
      val before = found.iterator.flatMap { case (arn, age) => unread(age, documents(age).physical(arn)) }.toSet
      ages(before -- known.keySet -- todo, known ++ found)
    }

    val ageOf = ages(streams, Map.empty)
    val newestFirst = for {
      age <- ageOf.values.toVector.distinct.sorted
      listed <- documents(age).streams.values
      stream <- listed if ageOf.get(stream.arn).contains(age)
    } yield stream.arn -> unread(age, stream)
    newestFirst.foldLeft(Map.empty[String, Set[String]]) { case (order, (arn, before)) =>
      order.updated(arn, before.filterNot(one => follows(Set(one), arn, order, Set.empty)))
    }
  }

  /** Whether one of the streams is read only after another one. */
  @tailrec
  private def follows(
      streams: Set[String],
      other: String,
      order: Map[String, Set[String]],
      seen: Set[String]
  ): Boolean =
    if (streams(other)) true
    else {
      val known = seen ++ streams
      val next = streams.flatMap(order.getOrElse(_, Set.empty[String])) -- known
      next.nonEmpty && follows(next, other, order, known)
    }
}
