package org.sparkkinesis.aws.client

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.config.value.Transport
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.model._
import org.sparkkinesis.network.Network
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.suite.TimedSuite

/** A suite that connects to its own emulator with the AWS SDK. */
abstract class WithEmulator(config: EmulatorConfig = EmulatorConfig(quotas = false)) extends TimedSuite
    with BeforeAndAfterAll {
  protected lazy val emulator: KinesisEmulator = KinesisEmulator.start(config)
  protected lazy val settings: ClientSettings = ClientSettings.of(
    Some(emulator.region),
    Some(emulator.endpoint),
    CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
  ).copy(network = Network.Standard.copy(transport = transport))

  /** What sends the calls that carry records. */
  protected def transport: Transport = Transport.Native
  protected lazy val service: SdkKinesisService = SdkClients.create(settings)

  override def afterAll(): Unit = {
    service.close()
    emulator.close()
  }

  protected def await[A](future: CompletableFuture[A]): A = future.get(30, TimeUnit.SECONDS)

  protected def failure(future: CompletableFuture[_]): ServiceException =
    intercept[ExecutionException](await(future)).getCause match {
      case error: ServiceException => error
      case other => fail(s"not a ServiceException: $other", other)
    }

  protected def ref(stream: String): StreamRef = StreamRef.ByName(stream)

  protected def put(stream: String, texts: Seq[String], key: String => String = identity): Unit =
    texts.foreach(text => emulator.admin.putRecord(stream, key(text), text.getBytes("UTF-8")))
}
