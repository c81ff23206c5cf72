package org.sparkkinesis.aws.client

import java.time.Clock

import software.amazon.awssdk.regions.Region

import org.sparkkinesis.aws.request.{CallerIdentity, SigningClock}
import org.sparkkinesis.network.Network

object TestIdentity {

  /** Returns an identity with the clock of this machine. */
  def of(settings: CredentialSettings): CallerIdentity = {
    val clock = new SigningClock(Clock.systemUTC)
    new CallerIdentity(Credentials.of(settings, Region.US_EAST_1, Network.Standard, clock), clock)
  }
}
