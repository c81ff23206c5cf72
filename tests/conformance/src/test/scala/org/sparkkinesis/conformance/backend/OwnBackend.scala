package org.sparkkinesis.conformance.backend

import java.net.URI

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}

/** The project's emulator in this process. */
final class OwnBackend extends Backend {
  private val emulator = KinesisEmulator.start(EmulatorConfig())

  override def name: String = "own"
  override def endpoint: Option[URI] = Some(URI.create(emulator.endpoint))
  override def passTime(by: FiniteDuration): Unit = emulator.admin.clock.advance(by)
  override def enforcesQuotas: Boolean = true
  override def close(): Unit = emulator.close()
}
