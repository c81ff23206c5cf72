package org.sparkkinesis.plan.prune

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.suite.TimedSuite

/** Positions of a range under the bounds of a filter. */
class RangePrunerSuite extends TimedSuite {
  private val skew = RangePruner.ArrivalSkew.toMillis
  private val now = 1_700_000_000_000L
  private val oldest = now - 86_400_000L
  private val noon = now - 43_200_000L
  private val number = SequenceNumber("100")

  private def range(after: StartingPosition, end: RangeEnd): ShardRange =
    ShardRange(StreamShard("arn", ShardId.ofIndex(0)), "orders", after, end, None, firstArrivalMillis = Some(1))

  private def pruned(after: StartingPosition, end: RangeEnd, bounds: ReadBounds): Option[PrunedRange] =
    RangePruner(range(after, end), bounds, oldest, now)

  private val untilNow = RangeEnd.ArrivedBy(now)

  test("a time narrows a range, by less than the times of records may be out of order") {
    val table = Seq[(StartingPosition, RangeEnd, ReadBounds, Option[(StartingPosition, RangeEnd)])](
      (TrimHorizon, untilNow, ReadBounds.Whole, Some(TrimHorizon -> untilNow)),
      (
        TrimHorizon,
        untilNow,
        ReadBounds(noon, noon + 9),
        Some(AtTimestamp(noon - skew) -> RangeEnd.ArrivedBy(noon + 9 + skew))
      ),
      (AtTimestamp(noon), untilNow, ReadBounds(noon + 1, now), Some(AtTimestamp(noon) -> untilNow)),
      (AtTimestamp(noon), untilNow, ReadBounds(noon + 1 + skew, now), Some(AtTimestamp(noon + 1) -> untilNow)),
      // The oldest record may expire meanwhile, which a time within the retention period would report.
      (TrimHorizon, untilNow, ReadBounds(oldest + skew, now), Some(TrimHorizon -> untilNow)),
      (TrimHorizon, untilNow, ReadBounds(Long.MinValue, oldest - skew - 1), None),
      (TrimHorizon, untilNow, ReadBounds(now + skew, Long.MaxValue), Some(AtTimestamp(now) -> untilNow)),
      (TrimHorizon, untilNow, ReadBounds(now + skew + 1, Long.MaxValue), None),
      (TrimHorizon, RangeEnd.ArrivedBy(noon), ReadBounds(noon + skew + 1, Long.MaxValue), None),
      (
        TrimHorizon,
        RangeEnd.ArrivedBy(noon),
        ReadBounds(toMillis = now),
        Some(TrimHorizon -> RangeEnd.ArrivedBy(noon))
      ),
      // Which of a number and a time is later is unknown.
      (AfterSequenceNumber(number), untilNow, ReadBounds(noon), Some(AfterSequenceNumber(number) -> untilNow)),
      (TrimHorizon, RangeEnd.At(number), ReadBounds(toMillis = noon), Some(TrimHorizon -> RangeEnd.At(number)))
    )
    for ((after, end, bounds, expected) <- table) {
      val found = pruned(after, end, bounds).map(one => one.range.after -> one.range.end)
      assert(found == expected, (after, end, bounds))
    }
  }

  test("numbers narrow a range, except one that begins at a position of the user") {
    def of(after: StartingPosition, bounds: ReadBounds) =
      pruned(after, untilNow, bounds).map(one => (one.from, one.range.before.map(_.value), one.isOneNumber))
    val one = ReadBounds(from = Some(number), to = Some(number))
    assert(of(TrimHorizon, one).contains((Some(number), Some("101"), true)))
    assert(of(TrimHorizon, one.copy(to = None)).contains((Some(number), None, false)))
    assert(of(TrimHorizon, one.copy(from = None)).contains((None, Some("101"), false)))
    assert(of(AtTimestamp(noon), one).contains((None, Some("101"), false)))
  }

  test("the first record that was found belongs to a start that stays") {
    assert(pruned(AtTimestamp(noon), untilNow, ReadBounds(noon)).flatMap(_.range.firstArrivalMillis).contains(1L))
    assert(pruned(AtTimestamp(noon), untilNow, ReadBounds(now)).flatMap(_.range.firstArrivalMillis).isEmpty)
  }
}
