package org.apache.spark.sparkkinesis

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{
  Cast, Expression, ExpressionInfo, NamedArgumentExpression, Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.error.TableErrors
import org.sparkkinesis.spark.error.StatementException

/**
 * The table-valued function `read_kinesis(streamName => 'orders', …)`, whose arguments are the options of a batch read.
 * It has the name of the function of Databricks. Spark's grammar accepts `STREAM` before the name of a table only.
 */
private object ReadFunction {
  private val Format = "kinesis"
  private val Name = "read_kinesis"

  def addTo(extensions: SparkSessionExtensions): Unit =
    extensions.injectTableFunction((FunctionIdentifier(Name), information, read))

  private def information: ExpressionInfo = new ExpressionInfo(
    getClass.getName,
    null,
    Name,
    s"$Name(option => value, ...) - Returns the records of Amazon Kinesis Data Streams. The options are those of a " +
      s"batch read with the format $Format.",
    "",
    "",
    "",
    "table_funcs",
    "",
    "",
    "scala_udf"
  )

  private def read(arguments: Seq[Expression]): LogicalPlan = StatementException.raised {
    val named = arguments.zipWithIndex.map { case (argument, i) => option(argument, i + 1) }
    named.groupBy(_._1.toLowerCase(Locale.ROOT)).values.find(_.size > 1).foreach { twice =>
      throw TableErrors.functionArgument(Name, twice.head._1, "is given twice")
    }
    val options = named.toMap.asJava
    val found = SessionTables.providerOf(Some(Format), SQLConf.get)
    val provider = found.getOrElse(throw new IllegalStateException(s"the format $Format is not this connector's"))
    val table = provider.getTable(provider.columns, Array.empty, options)
    DataSourceV2Relation.create(table, None, None, new CaseInsensitiveStringMap(options))
  }

  /** Values are not shown in errors, because they may be secrets. */
  private def option(argument: Expression, number: Int): (String, String) = argument match {
    case NamedArgumentExpression(name, value) =>
      def refused(reason: String) = TableErrors.functionArgument(Name, name, reason)
      if (!value.foldable || value.exists(_.isInstanceOf[Unevaluable])) throw refused("is not a constant")
      val text = Cast(value, StringType, Some(SQLConf.get.sessionLocalTimeZone)).eval()
      if (text == null) throw refused("is NULL")
      name -> text.toString
    case _ => throw TableErrors.functionArgument(Name, number.toString, "has no name")
  }
}
