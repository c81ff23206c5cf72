package org.sparkkinesis.spark.table;

import org.apache.spark.sparkkinesis.RegisteredFormat;

/** Checks the options of a write. The rows may name its streams. */
public final class SinkOptionCheck extends RegisteredFormat {
  public SinkOptionCheck() {
    super("kinesis-sink-options", "org.sparkkinesis.spark.table.WriteOptionCheck");
  }
}
