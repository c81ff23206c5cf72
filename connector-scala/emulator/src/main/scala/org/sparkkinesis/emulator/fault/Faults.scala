package org.sparkkinesis.emulator.fault

import java.util.SplittableRandom

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.time.EmulatorClock

/**
 * The active fault rules. Thread-safe.
 *
 * The same seed gives the same faults: every rule draws one random number for each matching call, from a generator
 * that is created from the seed and the number of the rule.
 */
final class Faults(clock: EmulatorClock) {
  final private class Active(val id: Int, val rule: FaultRule, val random: SplittableRandom, val addedMillis: Long) {
    var seen = 0
    var hit = 0
  }

  private var rules = Vector.empty[Active]
  private var seed = 0L
  private var lastId = 0
  @volatile private var isEmpty = true

  /** Removes all rules and sets the seed of the rules that are added from now on. */
  def reset(newSeed: Long): Unit = synchronized {
    rules = Vector.empty
    seed = newSeed
    lastId = 0
    isEmpty = true
  }

  /** Adds a rule after the existing ones and returns its number. */
  def add(rule: FaultRule): Int = synchronized {
    lastId += 1
    rules :+= new Active(lastId, rule, new SplittableRandom(seed * 31 + lastId), clock.millis)
    isEmpty = false
    lastId
  }

  def remove(id: Int): Unit = synchronized {
    rules = rules.filterNot(_.id == id)
    isEmpty = rules.isEmpty
  }

  def clear(): Unit = synchronized {
    rules = Vector.empty
    isEmpty = true
  }

  /** Returns the number of calls that a rule has affected. */
  def hits(id: Int): Int = synchronized(rules.find(_.id == id).fold(0)(_.hit))

  /** Returns the effect of the first rule that affects this call. */
  def of(call: => FaultTarget): Option[FaultEffect] =
    if (isEmpty) None
    else
      synchronized {
        val target = call
        rules.iterator
          .filter(a => isOfCalls(a.rule.effect) && isHit(a, target))
          .map(_.rule.effect)
          .nextOption()
      }

  /** Returns the effect of the first rule that affects this request for the metadata page. */
  def ofMetadataPage(): Option[FaultEffect] =
    if (isEmpty) None
    else
      synchronized {
        val target = FaultTarget(FaultTarget.MetadataPage, "", "")
        rules.iterator.filter(a => a.rule.operation == target.operation && isHit(a, target)).map(_.rule.effect)
          .nextOption()
      }

  /**
   * Returns the errors of the entries of a put that fail, with null for the other entries.
   *
   * @param partitionKey
   *   returns the key of an entry, or null
   */
  def ofEntries(call: FaultTarget, count: Int, partitionKey: Int => String): Array[ServiceError] = {
    val failures = new Array[ServiceError](count)
    if (!isEmpty) synchronized {
      rules.foreach { active =>
        active.rule.effect match {
          case effect: FaultEffect.FailEntries if isAlive(active) && active.rule.matches(call) =>
            failEntries(active, effect, partitionKey, failures)
          case _ => ()
        }
      }
    }
    failures
  }

  /** Whether a rule removes this shard from a listing. */
  def leavesOut(listed: FaultTarget): Boolean = !isEmpty && synchronized {
    rules.exists(active => active.rule.effect == FaultEffect.LeaveOut && isHit(active, listed))
  }

  private def failEntries(
      active: Active,
      effect: FaultEffect.FailEntries,
      partitionKey: Int => String,
      failures: Array[ServiceError]
  ): Unit = failures.indices.foreach { i =>
    val key = partitionKey(i)
    if (active.rule.partitionKey.forall(p => key != null && p.matches(key)) && draws(active))
      failures(i) = ServiceError(effect.errorType, effect.message)
  }

  private def isOfCalls(effect: FaultEffect): Boolean = effect match {
    case _: FaultEffect.OfParts | _: FaultEffect.OfDocument => false
    case _ => true
  }

  private def isAlive(active: Active): Boolean =
    active.rule.forMillis == 0 || clock.millis - active.addedMillis < active.rule.forMillis

  private def isHit(active: Active, target: FaultTarget): Boolean =
    isAlive(active) && active.rule.matches(target) && draws(active)

  private def draws(active: Active): Boolean = {
    active.seen += 1
    val chosen = active.seen > active.rule.skip && active.hit < active.rule.count &&
      (active.rule.probability >= 1 || active.random.nextDouble() < active.rule.probability)
    if (chosen) active.hit += 1
    chosen
  }
}
