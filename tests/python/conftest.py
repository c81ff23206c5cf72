"""Shared fixtures: one emulator, one classic session, and a stream per test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_kinesis import KinesisEmulator, configure_spark_with_kinesis

ROOT = Path(__file__).resolve().parents[2]
QUIET = ROOT / "python" / "examples" / "log4j2-quiet.properties"

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def kinesis() -> Iterator[KinesisEmulator]:
    with KinesisEmulator(quotas=False) as emulator:
        yield emulator


@pytest.fixture
def new_stream(kinesis: KinesisEmulator) -> Callable[..., str]:
    """Create a stream that no other test uses, and return its name."""

    def create(shards: int = 1) -> str:
        name = f"test-{next(_numbers)}"
        kinesis.create_stream(name, shards)
        return name

    return create


def quiet_session() -> SparkSession.Builder:
    """Return the builder of a local session without the connector's jar."""
    builder: SparkSession.Builder = SparkSession.builder
    return (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={QUIET.as_uri()}")
    )


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = configure_spark_with_kinesis(quiet_session()).config("spark.sql.warehouse.dir", str(warehouse))
    session = builder.getOrCreate()
    yield session
    session.stop()
