package org.apache.spark.sparkkinesis;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import scala.runtime.BoxedUnit;

/**
 * Adds the connector's rules to each session. Spark finds it through its service entry. It does nothing if the jar is
 * made for another line of Spark: the error appears when a format of the connector is used.
 */
public final class ConnectorExtensions implements SparkSessionExtensionsProvider {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    if (SparkCompatibility.fits()) ConnectorRules.addTo(extensions);
    return BoxedUnit.UNIT;
  }
}
