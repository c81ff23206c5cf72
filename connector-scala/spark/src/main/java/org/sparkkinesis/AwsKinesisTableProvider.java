package org.sparkkinesis;

import org.apache.spark.sparkkinesis.RegisteredTables;

/** Provides the same as {@link KinesisTableProvider} under a name that no platform uses for a connector of its own. */
public final class AwsKinesisTableProvider extends RegisteredTables {
  public AwsKinesisTableProvider() {
    super("aws-kinesis", "org.sparkkinesis.spark.table.KinesisTables");
  }
}
