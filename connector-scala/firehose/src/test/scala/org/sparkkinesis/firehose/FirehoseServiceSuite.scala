package org.sparkkinesis.firehose

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.util.concurrent.CompletionException

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.emulator.wire.auth.EmulatorCredential
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

/** The calls over HTTP, to the emulator, which checks signatures. */
class FirehoseServiceSuite extends TimedSuite {
  private val credential = EmulatorCredential("AKIDEXAMPLE", "right", "123456789012")

  private def onEmulator(secret: String = "right")(body: (KinesisEmulator, FirehoseService) => Unit): Unit =
    Using.resource(KinesisEmulator.start(EmulatorConfig(credentials = Seq(credential)))) { emulator =>
      emulator.admin.createDeliveryStream("archive")
      val keys = CredentialSettings.Static(credential.accessKeyId, secret, None)
      val settings = ClientSettings.of(Some(emulator.region), Some(emulator.endpoint), keys)
      val requests = SdkClients.firehose(settings)
      Using.resource(new JsonFirehoseService(requests))(body(emulator, _))
    }

  private def bytes(text: String): Array[Byte] = text.getBytes(UTF_8)

  private def delivered(emulator: KinesisEmulator): String =
    Using.resource(Files.walk(emulator.deliveryFolder)) { paths =>
      paths.iterator.asScala.filter(Files.isRegularFile(_)).map(Files.readString(_)).mkString
    }

  private def failure(body: => Any): ServiceException =
    intercept[CompletionException](body).getCause.asInstanceOf[ServiceException]

  test("payloads of all sizes arrive as they are, and each has a result") {
    onEmulator() { (emulator, service) =>
      val payloads = Vector("", "a", "ab", "abc", "\u0000\n\"ü", "x" * 100000)
      assert(service.putRecordBatch("archive", payloads.map(bytes)).join() == Vector.fill(payloads.size)(None))
      assert(delivered(emulator) == payloads.mkString)
    }
  }

  test("a refused record has the code and the message of the service") {
    onEmulator() { (emulator, service) =>
      emulator.admin.addFault(
        """{"effect":"failEntries","errorType":"InternalFailure","message":"busy","skip":1,"count":1}"""
      )
      val results = service.putRecordBatch("archive", Vector("a", "b", "c").map(bytes)).join()
      assert(results == Vector(None, Some(RefusedRecord("InternalFailure", "busy")), None))
      assert(delivered(emulator) == "ac")
    }
  }

  test("a refused call fails with the kind and the code of the answer") {
    onEmulator() { (emulator, service) =>
      val missing = failure(service.putRecordBatch("nowhere", Vector(bytes("a"))).join())
      assert((missing.kind, missing.errorCode) ==
        (ServiceErrorKind.ResourceNotFound, "ResourceNotFoundException"))
      emulator.admin.scaleQuota("deliveryRequests", 0.0001)
      service.putRecordBatch("archive", Vector(bytes("a"))).join()
      val busy = failure(service.putRecordBatch("archive", Vector(bytes("a"))).join())
      assert((busy.errorCode, busy.detail) == ("ServiceUnavailableException", "Slow down."))
    }
  }

  test("a closed service fails its calls and sends nothing") {
    onEmulator() { (emulator, service) =>
      service.putRecordBatch("archive", Vector(bytes("a"))).join()
      service.close()
      assert(failure(service.putRecordBatch("archive", Vector(bytes("b"))).join()).kind == ServiceErrorKind.Client)
      assert(delivered(emulator) == "a")
    }
  }

  test("a wrong secret is refused, and the error does not contain it") {
    onEmulator("wrong-secret") { (_, service) =>
      val refused = failure(service.putRecordBatch("archive", Vector(bytes("a"))).join())
      assert(refused.kind == ServiceErrorKind.AccessDenied)
      assert(!refused.getMessage.contains("wrong-secret"))
    }
  }

  test("a call without an answer counts as unanswered, and a cancelled call ends") {
    onEmulator() { (emulator, service) =>
      emulator.admin.addFault("""{"effect":"cut","done":true,"count":1}""")
      assert(failure(service.putRecordBatch("archive", Vector(bytes("a"))).join()).kind == ServiceErrorKind.Network)
      emulator.admin.addFault("""{"effect":"silence","count":1}""")
      val call = service.putRecordBatch("archive", Vector(bytes("b")))
      while (emulator.calls.count("PutRecordBatch", result = "silence") == 0) Thread.onSpinWait()
      call.cancel(true)
      assert(failure(call.join()).kind == ServiceErrorKind.Network)
      assert(delivered(emulator) == "a")
    }
  }
}
