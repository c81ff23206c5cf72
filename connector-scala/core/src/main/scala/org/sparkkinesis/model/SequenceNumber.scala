package org.sparkkinesis.model

/**
 * A sequence number of the service: an opaque decimal without leading zeros, ordered by value.
 *
 * Sequence numbers of a shard have the order of its records. Those of a child shard are larger than those of its
 * parents.
 */
final class SequenceNumber private (val value: String) extends AnyVal with Ordered[SequenceNumber]
    with Serializable {

  /** Compares by length and then by digits, which is the numeric order, without creating big integers. */
  override def compare(that: SequenceNumber): Int = SequenceNumber.compareDigits(value, that.value)

  override def toString: String = value
}

object SequenceNumber {
  private val MaxDigits = 129

  /** @throws IllegalArgumentException if `value` does not match `0|([1-9]\d{0,128})`, the service's pattern */
  def apply(value: String): SequenceNumber = {
    require(isValid(value), s"not a sequence number: '${value.take(MaxDigits + 3)}' (expected 0|([1-9]\\d{0,128}))")
    new SequenceNumber(value)
  }

  def parse(value: String): Option[SequenceNumber] = if (isValid(value)) Some(new SequenceNumber(value)) else None

  /** Creates a sequence number that the service has sent, without validation. */
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
