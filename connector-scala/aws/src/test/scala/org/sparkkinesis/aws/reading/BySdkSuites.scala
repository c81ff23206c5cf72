package org.sparkkinesis.aws.reading

import org.sparkkinesis.aws.client.{SdkKinesisServiceSuite, WithEmulator}
import org.sparkkinesis.config.value.Transport

/** What the SDK's clients must do as well, with the option `transport=sdk`. */
trait BySdk { this: WithEmulator =>
  override protected def transport: Transport = Transport.Sdk
}

class PollingBySdkSuite extends PollingWithEmulatorSuite with BySdk
class PollingWithinQuotaBySdkSuite extends PollingWithinQuotaSuite with BySdk
class FanOutBySdkSuite extends FanOutWithEmulatorSuite with BySdk {
  // The SDK allocates 2 MiB for each subscription.
  override protected def many: Int = 100
}
class ReadingThroughFaultsBySdkSuite extends ReadingThroughFaultsSuite with BySdk
class ServiceBySdkSuite extends SdkKinesisServiceSuite with BySdk
