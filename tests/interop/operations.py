"""The operations of the API that clients are tested with: every one of the client's model, or a reason."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

CHANNELS = "delivers a stream to tables elsewhere; not a call that reads or writes a stream's records"
QUEUES = "another kind of resource, with messages that are acknowledged one by one; not a data stream"

# Operations that the emulator does not support. A new operation of a newer client fails the tests until it is
# tested or listed here.
LEFT_OUT = {
    **dict.fromkeys(("CreateChannel", "DeleteChannel", "DescribeChannel", "ListChannels", "UpdateChannel"), CHANNELS),
    **dict.fromkeys(("CreateQueue", "DeleteQueue", "DescribeQueue", "ListQueues", "UpdateQueue"), QUEUES),
    **dict.fromkeys(("AcknowledgeQueueRecords", "ReceiveQueueRecords", "UpdateQueueRecordsVisibility"), QUEUES),
    **dict.fromkeys(("AcknowledgeDeadLetterQueueRecords", "ReceiveDeadLetterQueueRecords"), QUEUES),
    **dict.fromkeys(("RestoreDeadLetterQueueRecords", "UpdateDeadLetterQueueRecordsVisibility"), QUEUES),
}


def exercised(module: ModuleType) -> set[str]:
    """Return the operations that the tests of a module declare; `calls_what_it_says` checks them."""
    return {
        operation
        for test in vars(module).values()
        for mark in getattr(test, "pytestmark", [])
        if mark.name == "exercises"
        for operation in mark.args
    }


def missing(module: ModuleType, operations: Iterable[str], left_out: Iterable[str]) -> set[str]:
    """Return the operations of a client's model that are neither tested nor listed with a reason."""
    return set(operations) - exercised(module) - set(left_out)
