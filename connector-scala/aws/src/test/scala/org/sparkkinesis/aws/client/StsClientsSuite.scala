package org.sparkkinesis.aws.client

import java.net.URI

import software.amazon.awssdk.regions.Region

import org.sparkkinesis.suite.TimedSuite

/** The region for which calls of the Security Token Service are signed. */
class StsClientsSuite extends TimedSuite {
  for (
    (address, region) <- Seq(
      "https://sts.amazonaws.com" -> "us-east-1",
      "https://sts.us-west-2.amazonaws.com" -> "us-west-2",
      "https://sts-fips.us-gov-west-1.amazonaws.com" -> "us-gov-west-1",
      "https://sts.eu-west-1.api.aws" -> "eu-west-1",
      "https://sts.cn-north-1.amazonaws.com.cn" -> "cn-north-1",
      "https://vpce-0123-abcd.sts.ap-south-1.vpce.amazonaws.com" -> "ap-south-1",
      "http://127.0.0.1:4567" -> "eu-central-1",
      "https://tokens.example.com" -> "eu-central-1"
    )
  ) test(s"calls to $address are signed for $region") {
    assert(StsClients.signingRegion(Some(URI.create(address)), Region.EU_CENTRAL_1).id == region)
  }

  test("without an address, calls are signed for the region of the stream") {
    assert(StsClients.signingRegion(None, Region.EU_CENTRAL_1) == Region.EU_CENTRAL_1)
  }
}
