"""One emulator in a separate process for the clients of other projects, and the check of the operations that tests
call.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spark_kinesis import KinesisEmulator


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exercises(*operations): operations that the test must call")


@pytest.fixture(scope="session")
def kinesis() -> Iterator[KinesisEmulator]:
    with KinesisEmulator() as emulator:
        yield emulator


@pytest.fixture
def calls_what_it_says(request: pytest.FixtureRequest, called: set[str]) -> Iterator[None]:
    """Fail a test that did not call the operations of its `exercises` mark; the client's module supplies `called`."""
    called.clear()
    yield
    said = {operation for mark in request.node.iter_markers("exercises") for operation in mark.args}
    assert said - called == set()
