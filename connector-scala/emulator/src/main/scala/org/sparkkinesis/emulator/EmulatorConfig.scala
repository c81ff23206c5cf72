package org.sparkkinesis.emulator

import java.nio.file.Path

import scala.concurrent.duration._

import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.wire.auth.{EmulatorCredential, EmulatorRole}
import org.sparkkinesis.emulator.wire.http.Http2Limits

/**
 * How an emulator is to run.
 *
 * @param port
 *   on the loopback interface; 0 takes a free one
 * @param quotas
 *   whether the service's quotas are enforced
 * @param quotaScales
 *   factors on single quotas: 2 allows twice what the service allows
 * @param tls
 *   whether `endpoint` is https, with a certificate made at start
 * @param changeDelay
 *   how long a new or changing stream takes to become ACTIVE
 * @param memoryCapBytes
 *   how many bytes of records are held before the oldest go early
 * @param threads
 *   network threads
 */
final case class EmulatorConfig(
    port: Int = 0,
    quotas: Boolean = true,
    quotaScales: Map[Quota, Double] = Map.empty,
    clock: EmulatorClock = EmulatorClock.system,
    tls: Boolean = false,
    changeDelay: FiniteDuration = 50.millis,
    account: String = "123456789012",
    region: String = "us-east-1",
    memoryCapBytes: Long = Runtime.getRuntime.maxMemory / 2,
    threads: Int = math.max(2, Runtime.getRuntime.availableProcessors),
    directory: Option[Path] = None,
    credentials: Seq[EmulatorCredential] = Nil,
    roles: Seq[EmulatorRole] = Nil,
    http2: Http2Limits = Http2Limits()
)
