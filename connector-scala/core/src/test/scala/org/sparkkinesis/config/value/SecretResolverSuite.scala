package org.sparkkinesis.config.value

import java.nio.file.{Files, Path}
import java.util.function.Supplier

import org.sparkkinesis.config.ConnectionOptions.{awsAccessKey, awsSecretKey, roleExternalId}
import org.sparkkinesis.config.{MetadataOptions, Options, ReadOptions}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

class SecretResolverSuite extends TimedSuite {
  private val secret = "wJalrXUtnFEMI/K7MDENG"
  private val resolver =
    new SecretResolver(Map("KEY" -> secret, "BLANK" -> " ").get, Map("spark.etl.secret" -> s"$secret-p").get)

  private def file(text: String): Path = Files.writeString(Files.createTempFile("secret", ""), text)

  private def read(value: String): String = Options.read(Map("awsSecretKey" -> value), secrets = resolver)(awsSecretKey)

  private def failure(value: String): KinesisConnectorException = {
    val error = intercept[KinesisConnectorException](read(value))
    assert(!error.getMessage.contains(secret), error.getMessage)
    error
  }

  test("a reference gives the value of a variable, a file, a property or a class") {
    assert(read("env:KEY") == secret)
    assert(read(s"file:${file(s"$secret-f\n")}") == s"$secret-f")
    assert(read(s"file://${file(s"$secret-f")}") == s"$secret-f")
    assert(read("conf:spark.etl.secret") == s"$secret-p")
    assert(read(s"class:${classOf[SecretOfClass].getName}") == s"$secret-c")
  }

  test("a literal stays a literal, also if it has a colon") {
    Seq("abc", "x:y", "environment:KEY").foreach(text => assert(read(text) == text))
  }

  test("a missing value is an error that names the reference and the fix, and never a value") {
    val table = Seq(
      "env:NONE" -> "The environment of the driver has no variable NONE.",
      "env:BLANK" -> "The value is empty.",
      "file:/no/such/file" -> "The driver's file system has no such file.",
      s"file:${file("\n")}" -> "The value is empty.",
      s"file:${file("x" * 70000)}" -> "The file is longer than 65536 bytes.",
      s"file:${Files.createTempDirectory("secret")}" -> "The driver cannot read the file",
      "conf:spark.none" -> "Neither the Spark session nor the application has spark.none.",
      "class:no.such.Secret" -> "There is no such class on the class path of the driver.",
      s"class:${classOf[String].getName}" -> "The class does not implement java.util.function.Supplier.",
      s"class:${classOf[FailingSecret].getName}" -> "The class threw java.lang.IllegalStateException.",
      s"class:${classOf[NoSecret].getName}" -> "The class returned null.",
      s"class:${classOf[NumberAsSecret].getName}" -> "The class returned a java.lang.Integer instead of a String."
    )
    table.foreach { case (reference, reason) =>
      val error = failure(reference)
      assert(error.condition == "KINESIS_SECRET_UNRESOLVED", reference)
      Seq(reference, "'awsSecretKey'", reason, "Fix: ").foreach(part => assert(error.getMessage.contains(part), error))
    }
    val malformed = Seq("env:", "env:A B", "env:1", "conf:other.key", "class:", "class:a b", "file:", "file: x")
    malformed.foreach(value => assert(failure(value).condition == "KINESIS_OPTION_INVALID", value))
  }

  test("the value is checked like a literal, and the error hides it") {
    val resolver = new SecretResolver(Map("TOKEN" -> "not a token 4711").get)
    val options = Options.read(Map("metadataToken" -> "env:TOKEN"), secrets = resolver)
    val error = intercept[KinesisConnectorException](options.get(MetadataOptions.metadataToken))
    assert(error.condition == "KINESIS_OPTION_INVALID" && !error.getMessage.contains("4711"), error)
  }

  test("a reference is resolved once for the options of a query, and again for the next ones") {
    var asked = 0
    val counting = new SecretResolver({ _ => asked += 1; Some(s"key-of-time-$asked") })
    val raw = Map("awsAccessKey" -> "env:A", "awsSecretKey" -> "env:B")
    val options = Options.read(raw, secrets = counting)
    assert(asked == 0)
    val first = (options(awsAccessKey), options(awsSecretKey))
    assert((options(awsAccessKey), options(awsSecretKey)) == first && asked == 2)
    assert(Options.read(raw, secrets = counting)(awsSecretKey) == "key-of-time-3")
  }

  test("the option of one of several streams is resolved for that stream") {
    val raw = Map("roleExternalId" -> "env:KEY", "roleExternalId.orders" -> "conf:spark.etl.secret")
    val options = Options.read(raw, secrets = resolver)
    assert(options.get(roleExternalId).contains(secret))
    assert(options.ofStream(ReadOptions.roleExternalIdOf, StreamRef.ByName("orders")).contains(s"$secret-p"))
    assert(options.ofStream(ReadOptions.roleExternalIdOf, StreamRef.ByName("other")).isEmpty)
  }
}

class SecretOfClass extends Supplier[String] {
  override def get(): String = "wJalrXUtnFEMI/K7MDENG-c"
}

class FailingSecret extends Supplier[String] {
  override def get(): String = throw new IllegalStateException("wJalrXUtnFEMI/K7MDENG")
}

class NoSecret extends Supplier[String] {
  override def get(): String = null
}

class NumberAsSecret extends Supplier[Integer] {
  override def get(): Integer = 1
}
