package org.sparkkinesis.emulator

import java.nio.file.Path

import scala.concurrent.duration._

import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.wire.auth.{EmulatorCredential, EmulatorRole}
import org.sparkkinesis.emulator.wire.http.Http2Limits

/**
 * Settings of an emulator.
 *
 * @param host
 *   address or host name to listen on, such as `0.0.0.0`; any but one of the loopback interface needs `credentials`
 * @param port
 *   port to listen on; 0 takes a free port
 * @param quotas
 *   whether the service's quotas are enforced
 * @param quotaScales
 *   factors on single quotas; 2 allows twice as much as the service
 * @param clock
 *   the time that retention, expiry and delays follow
 * @param tls
 *   whether `endpoint` is https, with a certificate that is created at start
 * @param changeDelay
 *   how long a new or changed stream takes to become ACTIVE
 * @param account
 *   the account of callers without configured credentials
 * @param memoryCapBytes
 *   how many bytes of records are held before the oldest records are dropped early
 * @param threads
 *   number of network threads
 * @param directory
 *   where streams are kept from one run to the next; without it they end with the emulator
 * @param deliveries
 *   where the files of delivery streams are written; without it a temporary folder that ends with the emulator
 * @param credentials
 *   the keys that requests must be signed with; without them every request is served
 * @param roles
 *   the roles that AssumeRole accepts
 * @param checksTime
 *   whether signatures must have the time of `clock`; otherwise the time of this machine is accepted, too
 */
final case class EmulatorConfig(
    host: String = EmulatorConfig.Loopback,
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
    deliveries: Option[Path] = None,
    credentials: Seq[EmulatorCredential] = Nil,
    roles: Seq[EmulatorRole] = Nil,
    http2: Http2Limits = Http2Limits(),
    checksTime: Boolean = false
) {

  /**
   * Serves several accounts. The account of a request is that of its access key, which is the account's number; the
   * secret of each key is `emulator`. The first account is the emulator's own. The region of a request is the region
   * of its signature.
   */
  def withAccounts(numbers: Seq[String]): EmulatorConfig = {
    numbers.filterNot(_.matches("\\d{12}")).foreach { number =>
      throw new IllegalArgumentException(s"An account is a number of 12 digits, but was '$number'.")
    }
    copy(
      account = numbers.headOption.getOrElse(account),
      credentials = credentials ++ numbers.map(EmulatorCredential.ofAccount)
    )
  }
}

object EmulatorConfig {

  /** The address on which only programs of this machine reach the emulator. */
  val Loopback = "127.0.0.1"
}
