package org.sparkkinesis.firehose;

import org.apache.spark.sparkkinesis.RegisteredFormat;

/** Checks the options of a write to a delivery stream. */
public final class FirehoseOptionCheck extends RegisteredFormat {
  public FirehoseOptionCheck() {
    super("firehose-sink-options", "org.sparkkinesis.firehose.DeliveryOptionCheck");
  }
}
