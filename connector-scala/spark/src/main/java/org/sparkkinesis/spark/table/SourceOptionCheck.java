package org.sparkkinesis.spark.table;

import org.apache.spark.sparkkinesis.RegisteredFormat;

/** Checks the options of a read. */
public final class SourceOptionCheck extends RegisteredFormat {
  public SourceOptionCheck() {
    super("kinesis-source-options", "org.sparkkinesis.spark.table.ReadOptionCheck");
  }
}
