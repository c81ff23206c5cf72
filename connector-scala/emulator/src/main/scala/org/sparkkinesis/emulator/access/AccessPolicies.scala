package org.sparkkinesis.emulator.access

import java.util.concurrent.ConcurrentHashMap

/**
 * The policies of callers, by access key ID or by ARN of a role. A caller without policies may do everything in its
 * account. Thread-safe.
 */
final class AccessPolicies {
  private val byOwner = new ConcurrentHashMap[String, Seq[PolicyDocument]]

  /**
   * Replaces the policies of an access key or a role. Without any policy it may do everything again.
   *
   * @throws IllegalArgumentException
   *   if a policy is not valid
   */
  def set(owner: String, policies: Seq[String]): Unit = {
    if (policies.isEmpty) byOwner.remove(owner) else byOwner.put(owner, policies.map(PolicyDocument.parse))
    ()
  }

  def isEmpty: Boolean = byOwner.isEmpty
  def of(owner: String): Option[Seq[PolicyDocument]] = Option(byOwner.get(owner))
}
