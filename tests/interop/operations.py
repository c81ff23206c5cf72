"""Which operations of the API the clients are put through: every one of the client's own model, or a reason."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

CHANNELS = "delivers a stream to tables elsewhere; not a call that reads or writes a stream's records"
QUEUES = "another kind of resource, with messages that are acknowledged one by one; not a data stream"

# What the emulator leaves out, so that a newer client with a new operation fails until it is here or there.
LEFT_OUT = {
    **dict.fromkeys(("CreateChannel", "DeleteChannel", "DescribeChannel", "ListChannels", "UpdateChannel"), CHANNELS),
    **dict.fromkeys(("CreateQueue", "DeleteQueue", "DescribeQueue", "ListQueues", "UpdateQueue"), QUEUES),
    **dict.fromkeys(("AcknowledgeQueueRecords", "ReceiveQueueRecords", "UpdateQueueRecordsVisibility"), QUEUES),
    **dict.fromkeys(("AcknowledgeDeadLetterQueueRecords", "ReceiveDeadLetterQueueRecords"), QUEUES),
    **dict.fromkeys(("RestoreDeadLetterQueueRecords", "UpdateDeadLetterQueueRecordsVisibility"), QUEUES),
}


def exercised(module: ModuleType) -> set[str]:
    """What the tests of a module say that they call; `calls_what_it_says` holds them to it."""
    return {
        operation
        for test in vars(module).values()
        for mark in getattr(test, "pytestmark", [])
        if mark.name == "exercises"
        for operation in mark.args
    }


def missing(module: ModuleType, operations: Iterable[str], left_out: Iterable[str]) -> set[str]:
    """Operations of a client's model that are neither exercised nor listed with a reason."""
    return set(operations) - exercised(module) - set(left_out)
