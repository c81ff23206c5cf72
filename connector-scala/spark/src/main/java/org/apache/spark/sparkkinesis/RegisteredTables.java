package org.apache.spark.sparkkinesis;

import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.sources.SchemaRelationProvider;
import org.apache.spark.sql.types.StructType;

/** A format whose tables a catalog can store; its implementation is a {@link SessionTableProvider}. */
public abstract class RegisteredTables extends RegisteredFormat implements RelationProvider, SchemaRelationProvider {

  /**
   * @param name the name of the format
   * @param implementation the name of a {@link SessionTableProvider}
   */
  protected RegisteredTables(String name, String implementation) {
    super(name, implementation);
  }

  @Override
  public final BaseRelation createRelation(
      SQLContext context, scala.collection.immutable.Map<String, String> options) {
    return ((RelationProvider) implementation()).createRelation(context, options);
  }

  @Override
  public final BaseRelation createRelation(
      SQLContext context, scala.collection.immutable.Map<String, String> options, StructType schema) {
    return ((SchemaRelationProvider) implementation()).createRelation(context, options, schema);
  }
}
