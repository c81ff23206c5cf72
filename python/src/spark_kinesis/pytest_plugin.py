"""Fixtures for tests of jobs: an emulator, a stream for each test, and a session with the connector.

pytest finds this module by the entry point of the package.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from spark_kinesis.emulator import KinesisEmulator
from spark_kinesis.session import configure_spark_with_kinesis

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def kinesis_emulator() -> Iterator[KinesisEmulator]:
    """An emulator without quotas for all tests. Tests of quotas start one of their own."""
    with KinesisEmulator(quotas=False) as emulator:
        yield emulator


@pytest.fixture
def kinesis_stream(kinesis_emulator: KinesisEmulator) -> str:
    """The name of a new stream with two shards, which only this test uses."""
    name = f"test-stream-{next(_numbers)}"
    kinesis_emulator.create_stream(name, shards=2)
    return name


@pytest.fixture(scope="session")
def spark_kinesis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local session with the connector for all tests."""
    from pyspark.sql import SparkSession

    builder: SparkSession.Builder = SparkSession.builder
    builder = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    session = configure_spark_with_kinesis(builder).getOrCreate()
    yield session
    session.stop()
