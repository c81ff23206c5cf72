package org.sparkkinesis.secret

/** Where the driver finds the value of an option that does not contain it. `text` is the value of the option. */
sealed abstract class SecretReference(val text: String) {
  override def toString: String = text
}

object SecretReference {

  /** A variable of the driver's environment. */
  final case class Variable(name: String) extends SecretReference(s"env:$name")

  /** A file of the driver's machine or container. */
  final case class File(path: String) extends SecretReference(s"file:$path")

  /** A property of the Spark session or application. */
  final case class Property(key: String) extends SecretReference(s"conf:$key")

  /** A class of the user. */
  final case class OfClass(name: String) extends SecretReference(s"class:$name")

  /** The accepted forms, as a regular expression that Java and Python read alike. */
  val pattern: String =
    "env:([A-Za-z_][A-Za-z0-9_]*)|file:(\\S(?:.*\\S)?)|conf:(spark\\.[A-Za-z0-9_.-]+)|class:([A-Za-z_][A-Za-z0-9_.$]*)"

  val Expected: String = "a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of a " +
    "java.util.function.Supplier<String>"

  private val Form = pattern.r
  private val Prefixes = Seq("env:", "file:", "conf:", "class:")

  /** Returns the reference that the text is, if it is one. */
  def of(text: String): Option[SecretReference] = text match {
    case Form(name, null, null, null) => Some(Variable(name))
    case Form(null, path, null, null) => Some(File(path))
    case Form(null, null, key, null) => Some(Property(key))
    case Form(null, null, null, name) => Some(OfClass(name))
    case _ => None
  }

  def isReference(text: String): Boolean = of(text).nonEmpty

  /** Whether the text begins like a reference without being one. */
  def isMalformed(text: String): Boolean = Prefixes.exists(text.startsWith) && !isReference(text)
}
