package org.sparkkinesis.aws.client

import java.time.Instant
import java.util.function.{Function => JavaFunction, Supplier}

import scala.jdk.CollectionConverters._

import software.amazon.awssdk.auth.credentials._

import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}

/** Gets credentials from an object of the user, and gets them again after five minutes. */
final private[client] class SuppliedCredentials(className: String, supplier: SuppliedCredentials.Supply)
    extends AwsCredentialsProvider {
  private var current: Option[(Instant, AwsCredentials)] = None

  override def resolveCredentials(): AwsCredentials = synchronized {
    val now = Instant.now()
    current match {
      case Some((until, credentials)) if now.isBefore(until) => credentials
      case _ =>
        val fresh = read()
        current = Some(now.plusSeconds(SuppliedCredentials.RefreshSeconds) -> fresh)
        fresh
    }
  }

  private def read(): AwsCredentials = {
    val supplied =
      try supplier.get.asScala
      catch {
        case error: Exception =>
          throw new IllegalStateException(s"The class $className threw ${error.getClass.getName}.", error)
      }
    def required(name: String): String = supplied.get(name).filter(_ != null)
      .getOrElse(throw SuppliedCredentials.failed(s"The map that $className returned has no '$name'.", null))
    supplied.get("sessionToken").filter(_ != null) match {
      case Some(token) => AwsSessionCredentials.create(required("accessKeyId"), required("secretAccessKey"), token)
      case None => AwsBasicCredentials.create(required("accessKeyId"), required("secretAccessKey"))
    }
  }
}

private[client] object SuppliedCredentials {
  type Supply = Supplier[java.util.Map[String, String]]
  val RefreshSeconds = 300L

  /** Loads the class with the context class loader, which belongs to the session. */
  def classOf(className: String): Class[_] = {
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
    try Class.forName(className, true, loader)
    catch { case error: ReflectiveOperationException => throw notCreated(className, error) }
  }

  /** Creates the object, and returns how it gives credentials. */
  def load(settings: CredentialSettings.SuppliedBy): Supply = {
    val name = settings.className
    val instance =
      try classOf(name).getDeclaredConstructor().newInstance()
      catch { case error: ReflectiveOperationException => throw notCreated(name, error) }
    instance match {
      case function: JavaFunction[_, _] =>
        val options = new java.util.TreeMap[String, String](String.CASE_INSENSITIVE_ORDER)
        options.putAll(settings.options.asJava)
        val read = java.util.Collections.unmodifiableMap[String, String](options)
        () =>
          function.asInstanceOf[JavaFunction[java.util.Map[String, String], java.util.Map[String, String]]].apply(read)
      case supplier: Supplier[_] if settings.options.isEmpty => supplier.asInstanceOf[Supply]
      case _: Supplier[_] =>
        throw failed(
          s"The class $name is a java.util.function.Supplier, which gets no options, and " +
            s"'credentialsProvider.${settings.options.keys.min}' is set.",
          null
        )
      case _ =>
        throw failed(
          s"The class $name does not implement java.util.function.Supplier or java.util.function.Function.",
          null
        )
    }
  }

  private def notCreated(className: String, error: ReflectiveOperationException): KinesisConnectorException =
    failed(s"The class $className cannot be instantiated: ${error.getClass.getSimpleName}.", error)

  private def failed(reason: String, cause: Throwable): KinesisConnectorException =
    ServiceErrors.credentialsFailed(stream = "any", reason = reason).causedBy(cause)
}
