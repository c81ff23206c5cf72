package org.sparkkinesis.config.value

import java.io.IOException
import java.nio.charset.StandardCharsets
import java.nio.file.{Files, InvalidPathException, NoSuchFileException, Paths}
import java.util.function.Supplier

import scala.util.control.NonFatal

import org.sparkkinesis.error.{KinesisConnectorException, OptionErrors}
import org.sparkkinesis.secret.{Redaction, SecretReference}

/**
 * Finds the values of references, in the driver. No message contains a value.
 *
 * @param variable
 *   returns a variable of the driver's environment
 * @param property
 *   returns a property of the Spark session or application
 */
final class SecretResolver(
    variable: String => Option[String] = sys.env.get,
    property: String => Option[String] = _ => None
) {
  import SecretResolver._

  /**
   * @param option
   *   name of the option, for messages
   * @throws KinesisConnectorException
   *   KINESIS_SECRET_UNRESOLVED
   */
  def resolve(option: String, reference: SecretReference): String = {
    def failed(reason: String, fix: String): KinesisConnectorException =
      OptionErrors.secretUnresolved(option = option, reference = reference.text, reason = reason, fix = fix)
    val value = reference match {
      case SecretReference.Variable(name) =>
        val fix = s"Set the variable $name in the environment of the driver before it starts."
        variable(name).getOrElse(throw failed(s"The environment of the driver has no variable $name.", fix))
      case SecretReference.Property(key) =>
        val fix = s"Set the property, for example in a file that spark-submit takes with --properties-file."
        property(key).getOrElse(throw failed(s"Neither the Spark session nor the application has $key.", fix))
      case SecretReference.File(path) => contents(path, failed(_, FileFix))
      case SecretReference.OfClass(name) => supplied(name, failed(_, ClassFix))
    }
    if (value.trim.isEmpty) throw failed("The value is empty.", "Store the secret there.")
    Redaction.remember(value)
    value
  }

  private def contents(path: String, failed: String => KinesisConnectorException): String =
    try {
      val file = Paths.get(path.stripPrefix("//"))
      if (Files.size(file) > MaxFileBytes) throw failed(s"The file is longer than $MaxFileBytes bytes.")
      new String(Files.readAllBytes(file), StandardCharsets.UTF_8).stripLineEnd
    } catch {
      case _: NoSuchFileException => throw failed("The driver's file system has no such file.")
      case error @ (_: IOException | _: InvalidPathException | _: SecurityException) =>
        throw failed(s"The driver cannot read the file: ${error.getClass.getSimpleName}.").causedBy(error)
    }

  private def supplied(name: String, failed: String => KinesisConnectorException): String = {
    val missing = "There is no such class on the class path of the driver."
    val constructor = UserClass.constructor(name, classOf[Supplier[_]], None, missing)
      .fold(reason => throw failed(reason), identity)
    val value =
      try constructor.newInstance().get()
      catch {
        // The message of the class may have the secret.
        case NonFatal(error) =>
          val thrown = Option(error.getCause).getOrElse(error)
          throw failed(s"The class threw ${thrown.getClass.getName}.")
      }
    value match {
      case text: String => text
      case null => throw failed("The class returned null.")
      case other => throw failed(s"The class returned a ${other.getClass.getName} instead of a String.")
    }
  }
}

object SecretResolver {

  /** For a process without a Spark session. */
  val OfProcess: SecretResolver = new SecretResolver()

  private val MaxFileBytes = 64 * 1024
  private val FileFix = "Mount or copy the file to the driver, and let the driver's user read it."
  private val ClassFix =
    "Name a class that implements java.util.function.Supplier<String> and has a public constructor without parameters."
}
