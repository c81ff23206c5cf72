package org.sparkkinesis.model

/**
 * A sequence number as the service gives it: a decimal without leading zeros, opaque, ordered by value.
 *
 * Numbers of the same shard are ordered as their records are; a child shard's numbers exceed its parents'.
 */
final class SequenceNumber private (val value: String) extends AnyVal with Ordered[SequenceNumber] {

  /** By length, then by digits: the order of the numbers themselves, without building big integers. */
  override def compare(that: SequenceNumber): Int = SequenceNumber.compareDigits(value, that.value)

  override def toString: String = value
}

object SequenceNumber {
  private val MaxDigits = 129

  /**
   * @throws IllegalArgumentException
   *   unless `value` matches `0|([1-9]\d{0,128})`, the service's own pattern
   */
  def apply(value: String): SequenceNumber = {
    require(isValid(value), s"not a sequence number: '${value.take(MaxDigits + 3)}' (expected 0|([1-9]\\d{0,128}))")
    new SequenceNumber(value)
  }

  def parse(value: String): Option[SequenceNumber] = if (isValid(value)) Some(new SequenceNumber(value)) else None

  /** Takes a number that the service has just sent; not checked again. */
  def trusted(value: String): SequenceNumber = new SequenceNumber(value)

  def compareDigits(a: String, b: String): Int = {
    val byLength = Integer.compare(a.length, b.length)
    if (byLength != 0) byLength else a.compareTo(b)
  }

  private def isValid(value: String): Boolean =
    value.nonEmpty && value.length <= MaxDigits && value.forall(c => c >= '0' && c <= '9') &&
      (value == "0" || value.charAt(0) != '0')

  implicit val ordering: Ordering[SequenceNumber] = (a, b) => a.compare(b)
}
