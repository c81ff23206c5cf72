package org.apache.spark.sparkkinesis;

import java.util.Map;

import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A format that Spark finds by its service entry. Spark creates the classes of all formats to find one, so this class
 * links with each version of Spark and Scala, and loads the implementation when the format is used.
 */
public abstract class RegisteredFormat implements TableProvider, DataSourceRegister {
  private final String name;
  private final String implementation;
  private TableProvider loaded;

  /**
   * @param name the name of the format
   * @param implementation the name of a class with a constructor that takes the name of the format
   */
  protected RegisteredFormat(String name, String implementation) {
    this.name = name;
    this.implementation = implementation;
  }

  @Override
  public final String shortName() {
    return name;
  }

  /**
   * Returns the implementation.
   *
   * @throws JarOfOtherSparkException if this jar is made for another line of Spark
   */
  public final synchronized TableProvider implementation() {
    if (loaded == null) {
      SparkCompatibility.ensureFits();
      try {
        Class<?> found = Class.forName(implementation, true, getClass().getClassLoader());
        loaded = (TableProvider) found.getDeclaredConstructor(String.class).newInstance(name);
      } catch (ReflectiveOperationException error) {
        throw new IllegalStateException("cannot create " + implementation, error);
      }
    }
    return loaded;
  }

  @Override
  public final StructType inferSchema(CaseInsensitiveStringMap options) {
    return implementation().inferSchema(options);
  }

  @Override
  public final Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return implementation().getTable(schema, partitioning, properties);
  }

  @Override
  public final boolean supportsExternalMetadata() {
    return implementation().supportsExternalMetadata();
  }
}
