package org.sparkkinesis.firehose;

import org.apache.spark.sparkkinesis.RegisteredTables;

/** Provides {@code format("firehose")} and {@code USING firehose} for writes. Its service entry names it. */
public final class FirehoseTableProvider extends RegisteredTables {
  public FirehoseTableProvider() {
    super("firehose", "org.sparkkinesis.firehose.FirehoseTables");
  }
}
