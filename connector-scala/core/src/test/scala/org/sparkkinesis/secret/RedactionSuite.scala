package org.sparkkinesis.secret

import java.io.IOException

import org.scalacheck.Gen

import org.sparkkinesis.config.value.SecretResolver
import org.sparkkinesis.config.{ConnectorOptions, ForeignOption, ForeignOptions, Options}
import org.sparkkinesis.error.{KinesisConnectorException, OptionErrors}
import org.sparkkinesis.event.OptionDeprecated
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.PropertySuite

class RedactionSuite extends PropertySuite {
  private val Hidden = Redaction.Hidden

  /** The names of all sensitive options, with one for each option of one of several streams. */
  private val sensitive: Seq[String] =
    ConnectorOptions.all.filter(_.sensitive).map(entry => entry.key.replace(".*", ".orders")) ++
      ForeignOptions.all.filter(_.isSensitive).map(_.name)

  /** The names of other connectors for what this one does not have. */
  private val refused: Set[String] =
    ForeignOptions.all.collect { case option: ForeignOption.Refused => option.name }.toSet

  private val secret: Gen[String] = for {
    length <- Gen.choose(16, 60)
    chars <- Gen.listOfN(length, Gen.oneOf(Gen.alphaNumChar, Gen.oneOf('+', '/', '=', '-', '_', '.', '~')))
    digit <- Gen.numChar
    letter <- Gen.alphaChar
  } yield s"$letter$digit${chars.mkString}"

  private def recased(name: String): Gen[String] = Gen.oneOf(name, name.toLowerCase, name.toUpperCase)

  private def failure(body: => Any): KinesisConnectorException = intercept[KinesisConnectorException](body)

  test("there are sensitive options of every kind") {
    assert(Set(
      "awsSecretKey",
      "roleExternalId.orders",
      "metadataToken",
      "kinesis.awsSecretKey"
    ).subsetOf(sensitive.toSet))
  }

  test("the value of every sensitive option is hidden in the options, in errors, in events and in later texts") {
    forAll(Gen.oneOf(sensitive).flatMap(name => Gen.zip(Gen.const(name), recased(name), secret))) {
      case (declared, name, value) =>
        val texts =
          if (refused(declared)) Seq(failure(Options.read(Map(name -> value))).getMessage)
          else {
            val options = Options.read(Map(name -> value))
            Seq(
              options.toString,
              Options.redact(Map(name -> value)).toString,
              ConnectorOptions.all.map(entry => if (options.isSet(entry)) options.shown(entry) else "").mkString,
              options.warnings.mkString,
              // What a service, a user's class or an HTTP client may repeat.
              new ServiceException(
                ServiceErrorKind.AccessDenied,
                Operation.GetRecords,
                "X",
                s"'$value' is wrong"
              ).toString,
              OptionErrors.invalid(value = s"a$value", option = "o", reason = value, expected = "e").getMessage,
              QueryContext.Unknown.line(OptionDeprecated(s"The token $value.")),
              Redaction.failure(new IOException("x", new IOException(s"token=$value"))).getCause.toString
            )
          }
        texts.foreach(text => assert(!text.contains(value), s"$name: $text"))
    }
  }

  test("a reference is shown for every sensitive option, and an option is not resolved until it is used") {
    val resolver = new SecretResolver(_ => fail("resolved too early"))
    sensitive.filterNot(refused).foreach { name =>
      val options = Options.read(Map(name -> "env:SOME_NAME"), secrets = resolver)
      assert(options.toString.contains("env:SOME_NAME"), options.toString)
      assert(options.secretReferences.values.toSeq == Seq(SecretReference.Variable("SOME_NAME")), name)
      assert(options.literalSecrets.isEmpty, name)
    }
  }

  test("what has the form of a secret is hidden in any text, and the rest stays") {
    val table = Seq(
      "x-amz-security-token:FwoGZXIvYXdzEB3//x==" -> s"x-amz-security-token:$Hidden",
      "X-Amz-Security-Token: abc, next" -> s"X-Amz-Security-Token: $Hidden, next",
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/kinesis/aws4_request, SignedHeaders=host, " +
        "Signature=5d672d79c15b13162d9279b0855cfba6" ->
        s"AWS4-HMAC-SHA256 Credential=$Hidden, SignedHeaders=host, Signature=$Hidden",
      "User AKIAIOSFODNN7EXAMPLE is not authorized" -> s"User AKIA$Hidden is not authorized",
      "{\"SecretAccessKey\":\"wJalr/K7MDENG\",\"SessionToken\" : \"t\"}" ->
        s"{\"SecretAccessKey\":\"$Hidden\",\"SessionToken\" : \"$Hidden\"}",
      "<SecretAccessKey>wJalr/K7MDENG</SecretAccessKey>" -> s"<SecretAccessKey>$Hidden</SecretAccessKey>",
      "https://user:pass@meta.example/x?a=1" -> s"https://$Hidden@meta.example/x?a=1",
      "GET https://meta.example/x?team=etl&access_token=abc&n=1#f" ->
        s"GET https://meta.example/x?team=etl&access_token=$Hidden&n=1#f",
      "Authorization: Bearer eyJhbGciOi1.abc" -> s"Authorization: Bearer $Hidden"
    )
    table.foreach { case (text, expected) =>
      assert(Redaction.text(text) == expected)
      assert(Redaction.text(expected) == expected, "redacting twice changes nothing")
    }
    Seq(
      "The request signature we calculated does not match the signature you provided.",
      "Signature expired: 20150830T123600Z is now earlier than 20150830T124500Z",
      "Stream arn:aws:kinesis:us-east-1:123456789012:stream/tokens under account 123456789012 not found.",
      "Bearer tokens are sent to an https address only: https://meta.example:8443/path",
      "Set 'awsAccessKey' and 'awsSecretKey', 'profile' or 'credentialsProvider'."
    ).foreach(text => assert(Redaction.text(text) == text))
  }

  test("the query of a metadata service is hidden where the option is shown, and its values in later texts") {
    val options = Options.read(Map("metadataService" -> "https://meta.example/streams?t=s3cretS3cret&team=etl"))
    assert(options.toString == s"Options(metadataservice=https://meta.example/streams?$Hidden)")
    assert(options.literalSecrets == Seq("metadataService"))
    assert(!Redaction.text("failed: s3cretS3cret").contains("s3cret"))
  }

  test("a failure without a secret stays the same object, and a copy of one with a secret names its class") {
    val clean = new IOException("connection reset", new IllegalStateException("closed"))
    assert(Redaction.failure(clean) eq clean)
    val original = new IOException("outer", new IllegalStateException("Signature=abcdef"))
    original.addSuppressed(new IOException("AKIAIOSFODNN7EXAMPLE"))
    val copy = Redaction.failure(original)
    assert(copy.toString == "java.io.IOException: outer")
    assert(copy.getCause.toString == s"java.lang.IllegalStateException: Signature=$Hidden")
    assert(copy.getSuppressed.map(_.getMessage).toSeq == Seq(s"AKIA$Hidden"))
    assert(copy.getStackTrace.toSeq == original.getStackTrace.toSeq)
  }

  test("ordinary words and account numbers are not remembered, and the oldest of many values is forgotten") {
    Seq("production", "123456789012", "short1").foreach(Redaction.remember)
    assert(Redaction.text("production 123456789012 short1") == "production 123456789012 short1")
    Redaction.remember("first-of-many-9")
    (0 until 1000).foreach(i => Redaction.remember(s"one-of-many-$i-x"))
    assert(Redaction.text("first-of-many-9") == "first-of-many-9")
    assert(Redaction.text("one-of-many-999-x") == Hidden)
  }
}
