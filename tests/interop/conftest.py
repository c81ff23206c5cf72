"""One emulator, in a process of its own, for the clients of other projects; and what each test says that it calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spark_kinesis import KinesisEmulator


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exercises(*operations): what the test has to call, which is checked")


@pytest.fixture(scope="session")
def kinesis() -> Iterator[KinesisEmulator]:
    with KinesisEmulator() as emulator:
        yield emulator


@pytest.fixture
def calls_what_it_says(request: pytest.FixtureRequest, called: set[str]) -> Iterator[None]:
    """Fails a test that did not call what its `exercises` mark names; the client's module gives `called`."""
    called.clear()
    yield
    said = {operation for mark in request.node.iter_markers("exercises") for operation in mark.args}
    assert said - called == set()
