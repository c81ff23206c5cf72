package org.sparkkinesis.sink.route

import org.sparkkinesis.model.StreamRef

/**
 * What a write has done with one physical stream of its logical streams.
 *
 * @param records
 *   acknowledged records
 * @param bytes
 *   their bytes, as the service counts them
 * @param refused
 *   records that the service refused because of its limits, and that were sent again
 * @param left
 *   how often a task has left the stream because of a failure
 * @param inUse
 *   whether a task has the stream open now, or had it open at its end
 */
final case class RouteCounts(
    records: Long = 0,
    bytes: Long = 0,
    refused: Long = 0,
    left: Long = 0,
    inUse: Boolean = false
) {
  def +(other: RouteCounts): RouteCounts = RouteCounts(
    records + other.records,
    bytes + other.bytes,
    refused + other.refused,
    left + other.left,
    inUse || other.inUse
  )

  /** Counts of a closed stream. */
  def ended: RouteCounts = copy(inUse = false)
}

object RouteCounts {

  /** Names each stream as short as possible: by its name, with its region, or with its region and account. */
  def byShortName(counts: Map[String, RouteCounts]): Seq[(String, RouteCounts)] = {
    val streams = counts.toSeq.sortBy(_._1).map { case (arn, of) => StreamRef.parse(arn) -> (arn -> of) }
    val forms = Seq[StreamRef.ByArn => String](
      _.name,
      one => s"${one.name}@${one.region}",
      one => s"${one.name}@${one.region}/${one.account}"
    )
    streams.map {
      case (Some(own: StreamRef.ByArn), (_, of)) =>
        val others = streams.collect { case (Some(other: StreamRef.ByArn), _) if other != own => other }
        forms.map(form => (form(own), others.exists(form(_) == form(own))))
          .collectFirst { case (name, false) => name }.getOrElse(own.value) -> of
      case (_, (arn, of)) => arn -> of
    }
  }
}
