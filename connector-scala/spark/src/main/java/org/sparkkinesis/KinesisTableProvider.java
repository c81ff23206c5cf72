package org.sparkkinesis;

import org.apache.spark.sparkkinesis.RegisteredTables;

/** Provides {@code format("kinesis")} and {@code USING kinesis}. Spark finds it through its service entry. */
public final class KinesisTableProvider extends RegisteredTables {
  public KinesisTableProvider() {
    super("kinesis", "org.sparkkinesis.spark.table.KinesisTables");
  }
}
