package org.sparkkinesis.spark.metadata

import java.nio.charset.StandardCharsets

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.sparkkinesis.config.MetadataOptions
import org.sparkkinesis.config.value.UserClass
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.metadata._

/**
 * Asks a class of the user: a `java.util.function.Function<Collection<String>, String>` from the ids to the text of the
 * document. With a pattern instead of ids, the collection is empty, which asks for all streams. An `AutoCloseable` is
 * closed at the end.
 */
final private[metadata] class ClassMetadataService(className: String) extends StreamMetadataService {
  private val function: java.util.function.Function[java.util.Collection[String], String] = {
    def invalid(reason: String) = OptionErrors.invalid(
      value = s"class:$className",
      option = MetadataOptions.metadataService.key,
      reason = reason,
      expected = "the name of a java.util.function.Function<Collection<String>, String> with a constructor without " +
        "parameters"
    )
    try
      UserClass.load(className).getDeclaredConstructor().newInstance() match {
        case function: java.util.function.Function[_, _] =>
          function.asInstanceOf[java.util.function.Function[java.util.Collection[String], String]]
        case _ => throw invalid("The class is no java.util.function.Function.")
      }
    catch {
      case failure: ReflectiveOperationException =>
        throw invalid(s"The class cannot be created: $failure.").causedBy(failure)
    }
  }

  override def address: String = s"class:$className"

  override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer = {
    val text =
      try function.apply(named(ids))
      catch { case NonFatal(failure) => throw failed(ids, failure) }
    if (text == null) throw Documents.unavailable(ids, this, "The class returned null.")
    Documents.answer(ids, this, text.getBytes(StandardCharsets.UTF_8), known, None)
  }

  private def failed(ids: StreamIds, failure: Throwable) =
    Documents.unavailable(ids, this, s"The class failed with ${failure.getClass.getName}.").causedBy(failure)

  private def named(ids: StreamIds): java.util.Collection[String] = ids match {
    case StreamIds.Named(names) => names.toSeq.sorted.asJava
    case _: StreamIds.Matching => java.util.Collections.emptyList()
  }

  override def close(): Unit = function match {
    case closeable: AutoCloseable => closeable.close()
    case _ => ()
  }
}
