package org.sparkkinesis.bench.emulator

import java.lang.management.ManagementFactory

import scala.concurrent.duration._

import org.sparkkinesis.bench.emulator.Load._
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.Arguments

/**
 * Measures the emulator in this process with quotas off: throughput in MB/s (10^6 bytes of payload) of 1 KiB records
 * over 4 shards, and the 99th percentile from put to push in milliseconds. `put_mb_s` and similar fields are measured
 * over bare connections, so that they show the emulator alone; `sdk_put_mb_s` and similar fields through the AWS SDK,
 * which shares the processors with it. `…_emulator_cpu_ms_mb` is the CPU time of the emulator's own threads per MB.
 * `--seconds` (60) limits the whole run.
 */
object EmulatorBenchmark {
  private val StoredBytes = 64L * 1000 * 1000
  private val CapBytes = 512L * 1024 * 1024
  private val CloseTime = 3.seconds
  private val PhasesOfLoad = 4

  def main(args: Array[String]): Unit = {
    val deadline = Arguments(args).seconds(60).seconds.fromNow
    val emulator =
      KinesisEmulator.start(EmulatorConfig(quotas = false, memoryCapBytes = CapBytes, changeDelay = 0.seconds))
    try {
      val raw = measure("", new RawLoad(emulator.port), emulator, deadline, loadsLeft = 2)
      val sdk = measure("sdk_", new SdkLoad(emulator.endpoint), emulator, deadline, loadsLeft = 1)
      println((raw ++ sdk).map { case (name, figure) => f""""$name":$figure%.2f""" }.mkString("{", ",", "}"))
    } finally emulator.close()
  }

  private def measure(
      prefix: String,
      load: Load,
      emulator: KinesisEmulator,
      deadline: Deadline,
      loadsLeft: Int
  ): Seq[(String, Double)] =
    try {
      val phase = (deadline.timeLeft - CloseTime) / (loadsLeft * PhasesOfLoad).toLong
      require(phase > 300.millis, "--seconds is too short for eight measurements")
      newStream(emulator)
      val put = rate(prefix + "put", phase)(load.put)
      newStream(emulator)
      fill(emulator)
      val get = rate(prefix + "get", phase)(load.get)
      val push = rate(prefix + "push", phase)(load.push)
      val latencies = load.latencies(phase)
      put ++ get ++ push ++ Seq(
        s"${prefix}push_p50_ms" -> percentile(latencies, 0.5),
        s"${prefix}push_p99_ms" -> percentile(latencies, 0.99)
      )
    } finally load.close()

  private def newStream(emulator: KinesisEmulator): Unit = {
    if (emulator.admin.streamNames.contains(Stream)) emulator.admin.deleteStream(Stream)
    emulator.admin.createStream(Stream, Shards)
    ()
  }

  /** Fills the shards with records to read, far below the memory cap. */
  private def fill(emulator: KinesisEmulator): Unit = {
    val payload = Array.tabulate[Byte](RecordBytes)(i => (i * 31).toByte)
    (0L until StoredBytes / RecordBytes).foreach(i => emulator.admin.putRecord(Stream, s"key-$i", payload.clone()))
  }

  /** Warms up for a third of the time and measures the rest. */
  private def rate(name: String, time: FiniteDuration)(work: FiniteDuration => Long): Seq[(String, Double)] = {
    val warm = warmUp(time)
    work(warm)
    val (cpu, emulatorCpu, start) = (processCpu(), emulatorThreadsCpu(), System.nanoTime())
    val megabytes = work(time - warm) / 1e6
    Seq(
      s"${name}_mb_s" -> megabytes / ((System.nanoTime() - start) / 1e9),
      s"${name}_cpu_ms_mb" -> (processCpu() - cpu) / 1e6 / megabytes,
      s"${name}_emulator_cpu_ms_mb" -> (emulatorThreadsCpu() - emulatorCpu) / 1e6 / megabytes
    )
  }

  private def processCpu(): Long =
    ManagementFactory.getPlatformMXBean(classOf[com.sun.management.OperatingSystemMXBean]).getProcessCpuTime

  private def emulatorThreadsCpu(): Long = {
    val threads = ManagementFactory.getThreadMXBean
    threads
      .getThreadInfo(threads.getAllThreadIds)
      .toSeq
      .filter(info => info != null && info.getThreadName.startsWith("kinesis-emulator"))
      .map(info => math.max(0, threads.getThreadCpuTime(info.getThreadId)))
      .sum
  }
}
