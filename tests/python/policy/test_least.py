"""Each policy suffices for its use on an emulator that evaluates it, and without any one of its actions it does not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import programs
from spark_kinesis import FirehoseSink, KinesisEmulator, KinesisSink, KinesisSource
from spark_kinesis.policy import Use, actions_of, assume_role, policy, without

ACCOUNT = "123456789012"
REGION = "us-east-1"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/least"
ROWS = 4


@dataclass(frozen=True)
class Run:
    """One run of a use, with streams of its own."""

    spark: SparkSession
    kinesis: KinesisEmulator
    stream: str
    folder: Path

    def source(self, stream: str | None = None, **options: Any) -> KinesisSource:
        source = KinesisSource(stream, initial_position="TRIM_HORIZON", **options)
        return source.on_emulator(self.kinesis)

    def sink(self, **options: Any) -> KinesisSink:
        return KinesisSink(self.stream, **options).on_emulator(self.kinesis)

    def rows(self, key: str = "CAST(id AS STRING)") -> DataFrame:
        return self.spark.range(ROWS).selectExpr(f"{key} AS partitionKey", "CAST(id AS STRING) AS data")

    def drain(self, frame: DataFrame, *, fails: bool = False) -> None:
        """Read what is there in one batch, which fails at its end if it shall."""

        def handle(batch: DataFrame, _: int) -> None:
            assert batch.count() == ROWS
            if fails:
                raise RuntimeError("the batch shall not be committed")

        writer = frame.writeStream.foreachBatch(handle).option("checkpointLocation", str(self.folder))
        query = writer.trigger(availableNow=True).start()
        try:
            query.awaitTermination(60)
        finally:
            query.stop()


@dataclass(frozen=True)
class Case:
    """A use of the connector, and how it is run.

    ``lacks`` are actions without which the use succeeds, but not as it should: what it then does, and whether it did.
    """

    name: str
    use: Callable[[str], Use]
    run: Callable[[Run], None]
    lacks: Mapping[str, tuple[str, Callable[[Run], bool]]] = field(default_factory=dict)


def poll(run: Run) -> None:
    run.drain(run.source(run.stream).read_stream(run.spark))


def fan_out(run: Run, **consumer: str) -> None:
    """Read by fan-out. Then read the batch again by polling, as after the loss of an executor or a restart."""
    source = run.source(run.stream, consumer_mode="efo", **(consumer or {"consumer_name": "least"}))
    try:
        run.drain(source.read_stream(run.spark), fails=True)
    except Exception as error:
        if "the batch shall not be committed" not in str(error):
            raise
    # A consumer's next subscription to a shard is refused within five seconds after the last one.
    run.kinesis.control.advance_clock(timedelta(seconds=6))
    run.drain(source.read_stream(run.spark))


def has_consumer(run: Run) -> bool:
    consumers = run.kinesis.client.call("ListStreamConsumers", StreamARN=arn_of(run.stream))["Consumers"]
    return any(consumer["ConsumerStatus"] != "DELETING" for consumer in consumers)


def has_no_limits(run: Run) -> bool:
    calls = run.kinesis.control.calls()
    return ("ListShards", run.stream, "AccessDeniedException") in {(c.operation, c.stream, c.result) for c in calls}


def arn_of(stream: str) -> str:
    return f"arn:aws:kinesis:{REGION}:{ACCOUNT}:stream/{stream}"


def registered_fan_out(run: Run) -> None:
    """Read by fan-out twice, as above, with a consumer that an operator has registered."""
    made = run.kinesis.client.call("RegisterStreamConsumer", StreamARN=arn_of(run.stream), ConsumerName="least")
    consumer = made["Consumer"]["ConsumerARN"]
    fan_out(run, consumer_arn=consumer, registration="none")


def batch(run: Run) -> None:
    assert run.source(run.stream).read(run.spark).count() == ROWS


def pattern(run: Run) -> None:
    # It is how long a query waits for the streams of a pattern, also if a call is refused.
    source = run.source(stream_pattern=f"{run.stream}.*", metadata_start_timeout="4s")
    run.drain(source.read_stream(run.spark))


def write(run: Run) -> None:
    run.sink().write(run.rows()).mode("append").save()


def write_aggregated(run: Run) -> None:
    run.sink(aggregation=True).write(run.rows()).mode("append").save()


def write_without_limits(run: Run) -> None:
    run.sink(shard_limits=False).write(run.rows()).mode("append").save()


def dead_letters(run: Run) -> None:
    """Write rows with keys that are too long, all of which go to the other stream."""
    sink = run.sink(on_invalid_record="deadLetter", dead_letter_stream=f"{run.stream}-dead")
    sink.write(run.rows("IF(id = 0, 'key', REPEAT('k', 300))")).mode("append").save()
    assert len(run.kinesis.records(f"{run.stream}-dead")) == ROWS - 1


def firehose(run: Run) -> None:
    FirehoseSink(run.stream).on_emulator(run.kinesis).write(run.rows().select("data")).mode("append").save()


def of_stream(**more: Any) -> Callable[[str], Use]:
    return lambda stream: Use(streams=[stream], account=ACCOUNT, region=REGION, **more)


def of_dead_letters(stream: str) -> Use:
    return of_stream(writes=True, reads=False, dead_letters=[f"{stream}-dead"])(stream)


def of_pattern(stream: str) -> Use:
    return Use(patterns=[f"{stream}.*"], account=ACCOUNT, region=REGION)


def of_firehose(stream: str) -> Use:
    return Use(firehose=[stream], account=ACCOUNT, region=REGION)


NO_LIMITS = {"kinesis:ListShards": ("it writes without shard limits, and warns", has_no_limits)}

CASES: list[Case] = [
    Case("read by polling", of_stream(), poll),
    Case(
        "read by fan-out",
        of_stream(consumers=["least"]),
        fan_out,
        {"kinesis:DeregisterStreamConsumer": ("it leaves its consumer behind", has_consumer)},
    ),
    Case("read by fan-out, registered", of_stream(consumers=["least"], registers=False), registered_fan_out),
    Case("read in a batch", of_stream(), batch),
    Case("read a pattern", of_pattern, pattern),
    Case("write", of_stream(writes=True, reads=False), write, NO_LIMITS),
    Case("write aggregates", of_stream(writes=True, reads=False), write_aggregated),
    Case("write without limits", of_stream(writes=True, reads=False, shard_limits=False), write_without_limits),
    Case("write dead letters", of_dead_letters, dead_letters, NO_LIMITS),
    Case("write to Firehose", of_firehose, firehose),
]

ACTIONS = {case.name: actions_of(policy(case.use("any"))) for case in CASES}


@pytest.fixture(scope="module")
def emulator() -> Iterator[KinesisEmulator]:
    with KinesisEmulator(quotas=False, arguments=["--role", ROLE]) as started:
        yield started


@pytest.fixture
def run(
    spark: SparkSession, emulator: KinesisEmulator, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Run]:
    made = Run(spark, emulator, f"least-{abs(hash(request.node.name))}", tmp_path / "checkpoint")
    emulator.control.create_stream(made.stream, 1)
    emulator.control.create_stream(f"{made.stream}-dead", 1)
    emulator.control.create_delivery_stream(made.stream)
    emulator.put_records(made.stream, [(str(i), str(i)) for i in range(ROWS)])
    yield made
    emulator.set_policy()
    emulator.set_policy(role=ROLE)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_policy_of_a_use_suffices(case: Case, run: Run) -> None:
    run.kinesis.set_policy(policy(case.use(run.stream)))
    case.run(run)
    assert not any(lacks(run) for _, lacks in case.lacks.values())


@pytest.mark.parametrize(
    ("case", "action"),
    [pytest.param(case, action, id=f"{case.name} without {action}") for case in CASES for action in ACTIONS[case.name]],
)
def test_without_any_one_of_its_actions_a_use_fails_and_names_it(case: Case, action: str, run: Run) -> None:
    run.kinesis.set_policy(without(policy(case.use(run.stream)), action))
    if action in case.lacks:
        outcome, lacks = case.lacks[action]
        case.run(run)
        assert lacks(run)
    else:
        with pytest.raises(Exception, match="KINESIS_ACCESS_DENIED") as failure:
            case.run(run)
        assert f"Fix: Allow {action} on " in str(failure.value)
        outcome = "KINESIS_ACCESS_DENIED"
    print(f"{case.name:32} without {action:36} {outcome}")


def test_a_role_needs_its_policy_and_its_caller_needs_to_assume_it(run: Run) -> None:
    source = run.source(run.stream, role_arn=ROLE, sts_endpoint=run.kinesis.endpoint)
    run.kinesis.set_policy(assume_role([ROLE]))
    run.kinesis.set_policy(policy(of_stream()(run.stream)), role=ROLE)
    assert source.read(run.spark).count() == ROWS


LOSS = """
import os, signal, sys
from pathlib import Path
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from spark_kinesis import KinesisSource, configure_spark_with_kinesis
from spark_kinesis.emulator.control import EmulatorControl

endpoint, stream, folder, *keys = sys.argv[1:]
settings = {"executor.memory": "512m", "driver.memory": "512m", "ui.enabled": "false", "driver.host": "127.0.0.1"}
builder = SparkSession.builder.master("local-cluster[2,1,512]")
for name, value in settings.items():
    builder = builder.config(f"spark.{name}", value)
spark = configure_spark_with_kinesis(builder).getOrCreate()

def end_executor():
    'Ends the executor of this process, and this process. The next task cannot subscribe, so it polls.'
    EmulatorControl(endpoint).add_fault("throttle", operation="SubscribeToShard", stream=stream)
    pid = Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1].split()[1]
    assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    os.kill(int(pid), signal.SIGKILL)
    # Without its executor this process would go on with the next record.
    os._exit(1)

for key in keys:
    marker = f"{folder}/{key}.killed"

    @udf("string")
    def passed(data):
        'Ends its executor when the first record of the batch arrives, once.'
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            # The records were read again.
            EmulatorControl(endpoint).clear_faults()
            return data
        end_executor()

    source = KinesisSource(
        stream, consumer_mode="efo", consumer_name="least", initial_position="trim_horizon",
        endpoint=endpoint, region="us-east-1", aws_access_key=key, aws_secret_key="secret",
    )
    rows = source.read_stream(spark).selectExpr("CAST(data AS STRING) AS data").select(passed("data").alias("data"))
    writer = rows.writeStream.format("parquet").option("checkpointLocation", f"{folder}/{key}.checkpoint")
    query = writer.trigger(availableNow=True).start(f"{folder}/{key}")
    try:
        query.awaitTermination()
        outcome = sorted(row.data for row in spark.read.parquet(f"{folder}/{key}").collect())
    except Exception as error:
        outcome = str(error)
    EmulatorControl(endpoint).clear_faults()
    assert Path(marker).exists()
    print(f"{key}: {outcome}")
"""


def test_fan_out_reads_again_after_the_loss_of_an_executor_with_its_policy_and_not_with_less(
    emulator: KinesisEmulator, tmp_path: Path
) -> None:
    stream = "least-loss"
    emulator.create_stream(stream)
    emulator.put_records(stream, [(str(i), str(i)) for i in range(ROWS)])
    least = policy(of_stream(consumers=["least"])(stream))
    emulator.control.set_policies("sufficient", [least])
    emulator.control.set_policies("insufficient", [without(least, "kinesis:GetRecords")])
    arguments = (programs.program(tmp_path, LOSS), emulator.endpoint, stream, tmp_path, "sufficient", "insufficient")
    sufficient, insufficient = programs.run([sys.executable, *arguments]).stdout.strip().split("\n", 1)
    assert sufficient == f"sufficient: {[str(i) for i in range(ROWS)]}"
    assert "KINESIS_ACCESS_DENIED" in insufficient
    assert "Fix: Allow kinesis:GetRecords on " in insufficient
