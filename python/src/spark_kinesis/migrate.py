"""Print the ``initialPosition`` with which this connector goes on exactly where another reader stopped.

Stop the other reader first. Then run, for example::

    python -m spark_kinesis.migrate awslabs CHECKPOINT_FOLDER
    python -m spark_kinesis.migrate kcl LEASES.json --shards SHARDS.json
    python -m spark_kinesis.migrate databricks PROGRESS.json

``kcl`` reads the output of ``aws dynamodb scan`` of a lease table, which kinesis-asl has as well. ``--shards`` is the
output of ``aws kinesis list-shards``. It is needed if a shard was read to its end, to name the shards after it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    Position: TypeAlias = str | dict[str, Any]

_ENDED = "SHARD_END"


class MigrationError(Exception):
    """The position cannot be taken over exactly; the message says why, and what to do."""


@dataclass
class Positions:
    """Where a reader of one stream stopped."""

    shards: dict[str, Position] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def initial_position(self, listed: Iterable[Mapping[str, Any]] | None) -> dict[str, Position]:
        """Return the position of each shard, and those of the shards that follow the ended ones.

        ``listed`` has the members of ``Shards`` in the answers of ListShards.
        """
        found = dict(self.shards)
        if self.ended:
            if listed is None:
                some = ", ".join(sorted(self.ended)[:3])
                raise MigrationError(
                    f"{len(self.ended)} shards were read to their end ({some}), and the shards after them are unknown."
                    " Pass the output of 'aws kinesis list-shards --stream-name STREAM' with --shards."
                )
            shards = list(listed)
            for shard in shards:
                parents = {shard.get("ParentShardId"), shard.get("AdjacentParentShardId")} - {None}
                name = shard["ShardId"]
                if parents & self.ended and name not in self.ended:
                    found.setdefault(name, "trim_horizon")
            if not found:
                raise MigrationError("Every shard was read to its end, and no listed shard follows one of them.")
            # They are closed, so nothing follows their last records.
            found.update({name: "latest" for name in (shard["ShardId"] for shard in shards) if name in self.ended})
        if not found:
            raise MigrationError("There is no position of a shard.")
        return {**dict(sorted(found.items())), "*": "trim_horizon"}


def of_awslabs(checkpoint: Path, *, repeat_aggregates: bool = False) -> dict[str, Positions]:
    """Read the checkpoint of a query of awslabs' spark-sql-kinesis-connector whose metadata is in its folder.

    Where the last committed batch stopped is in the metadata of that batch; a shard that is not there has not been read
    since the start of the batch. A batch that was not committed runs again, so its metadata does not count.
    """
    batch = max(_numbers(checkpoint / "commits"), default=None)
    if batch is None:
        raise MigrationError(f"{checkpoint} has no committed batch. Start with the query's own starting position.")
    found: dict[str, Positions] = {}
    lines = (checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[2:]
    for source, line in enumerate(lines):
        offset = json.loads(line) if line.startswith("{") else {}
        if "metadata" not in offset:
            continue
        stream = offset.pop("metadata")
        folder = checkpoint / "sources" / str(source) / "shard-source" / stream["batchId"]
        if not folder.is_dir():
            raise MigrationError(
                f"{folder} is missing. If the query had the option metadataPath, copy its folder shard-source to"
                f" {folder.parent}; positions in DynamoDB are not supported."
            )
        entries = dict(offset)
        for file in folder.iterdir():
            if not file.name.startswith("."):
                entries[file.name] = json.loads(file.read_text(encoding="utf-8"))
        positions = found.setdefault(stream["streamName"], Positions())
        for shard, entry in entries.items():
            _add_awslabs(positions, shard, entry, repeat_aggregates)
    if not found:
        raise MigrationError(f"{checkpoint} has no source of awslabs' connector.")
    return found


def _add_awslabs(positions: Positions, shard: str, entry: Mapping[str, Any], repeat_aggregates: bool) -> None:
    kind, value = entry["iteratorType"], entry["iteratorPosition"]
    is_last = str(entry.get("isLast", "true")).lower() == "true"
    if kind == _ENDED:
        positions.ended.add(shard)
    elif kind == "AT_TIMESTAMP":
        positions.shards[shard] = {"at_timestamp": int(value)}
    elif kind == "TRIM_HORIZON":
        positions.shards[shard] = "trim_horizon"
    elif kind == "LATEST":
        raise MigrationError(f"{shard} has the position LATEST, which is another one at each start.")
    elif not is_last and not repeat_aggregates:
        raise MigrationError(
            f"The last batch ended within the aggregated record {value} of {shard}."
            " Let the other query run one more batch, or pass --repeat-aggregates to read this record again."
        )
    elif not is_last or kind == "AT_SEQUENCE_NUMBER":
        positions.shards[shard] = {"at_sequence_number": str(value)}
    else:
        positions.shards[shard] = {"after_sequence_number": str(value)}


def of_leases(export: str) -> dict[str, Positions]:
    """Read the lease table of an application of the KCL or of kinesis-asl, as ``aws dynamodb scan`` prints it.

    An export of DynamoDB with one item in each line works as well. The name is "" if the table is of one stream.
    """
    found: dict[str, Positions] = {}
    for item in _items(export):
        key, checkpoint = item.get("leaseKey"), item.get("checkpoint")
        if not key or not checkpoint:
            # KCL 3 may keep entries of other kinds.
            continue
        # The key of an application with several streams is ACCOUNT:STREAM:CREATION:SHARD.
        parts = str(key).split(":")
        stream, shard = ("", key) if len(parts) == 1 else (parts[1], parts[-1])
        positions = found.setdefault(stream, Positions())
        if checkpoint == _ENDED:
            positions.ended.add(shard)
        elif checkpoint == "TRIM_HORIZON":
            positions.shards[shard] = "trim_horizon"
        elif checkpoint in ("LATEST", "AT_TIMESTAMP"):
            raise MigrationError(
                f"{shard} has no checkpoint yet ({checkpoint}), and the table does not have the time of its start."
                " Let the application store a checkpoint of this shard first."
            )
        else:
            positions.shards[shard] = {"after_sequence_number": str(checkpoint)}
            if int(item.get("checkpointSubSequenceNumber") or 0) > 0:
                positions.notes.append(
                    f"{shard}: the checkpoint is at a record of an aggregate. It is exact if the application calls"
                    " checkpoint() for whole batches; otherwise the rest of this aggregate is not read."
                )
    if not found:
        raise MigrationError("The export has no lease of a shard.")
    return found


def of_databricks(progress: str) -> dict[str, Positions]:
    """Read the ``endOffset`` of a source of format ``kinesis`` on Databricks, or a progress of a query that has it."""
    document = json.loads(progress)
    sources = document.get("sources", [document]) if isinstance(document, dict) else [{"endOffset": document}]
    found: dict[str, Positions] = {}
    for source in sources:
        end = source.get("endOffset")
        for entry in end if isinstance(end, list) else []:
            stream, shard = entry["shard"]["stream"], entry["shard"]["shardId"]
            positions = found.setdefault(stream, Positions())
            last = entry.get("lastSeqNum")
            if str(entry.get("closed", "false")).lower() == "true":
                positions.ended.add(shard)
            elif last in (None, "null", ""):
                raise MigrationError(
                    f"{shard} of {stream} has no lastSeqNum yet, so it is unknown where it starts. Let the query read a"
                    " record of this shard first."
                )
            else:
                positions.shards[shard] = {"after_sequence_number": str(last)}
    if not found:
        raise MigrationError("The document has no endOffset of a Kinesis source.")
    return found


def _numbers(folder: Path) -> list[int]:
    return [int(file.name) for file in folder.iterdir() if file.name.isdigit()] if folder.is_dir() else []


def _items(export: str) -> list[dict[str, Any]]:
    """Return the items of a scan, or of an export with one item in each line, without the types of DynamoDB."""
    try:
        documents = [json.loads(export)]
    except json.JSONDecodeError:
        documents = [json.loads(line) for line in export.splitlines() if line.strip()]
    items: list[dict[str, Any]] = []
    for document in documents:
        items += document.get("Items", [document["Item"]] if "Item" in document else [])
    return [{name: _plain(value) for name, value in item.items()} for item in items]


def _plain(value: Any) -> Any:
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _listed(files: Sequence[Path] | None) -> list[Mapping[str, Any]] | None:
    if not files:
        return None
    return [shard for file in files for shard in json.loads(file.read_text(encoding="utf-8"))["Shards"]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the position in one line; notes and errors go to the standard error. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m spark_kinesis.migrate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("reader", choices=("awslabs", "kcl", "kinesis-asl", "databricks"))
    parser.add_argument("path", type=Path, help="folder of the checkpoint, or file in JSON")
    parser.add_argument("--shards", type=Path, action="append", help="output of aws kinesis list-shards")
    parser.add_argument(
        "--repeat-aggregates", action="store_true", help="read an aggregate again that was read in part"
    )
    given = parser.parse_args(arguments)
    try:
        if given.reader == "awslabs":
            found = of_awslabs(given.path, repeat_aggregates=given.repeat_aggregates)
        else:
            read = of_databricks if given.reader == "databricks" else of_leases
            found = read(given.path.read_text(encoding="utf-8"))
        listed = _listed(given.shards)
        positions = {stream: one.initial_position(listed) for stream, one in found.items()}
    except (MigrationError, OSError, ValueError, KeyError) as error:
        print(f"migrate: {error if isinstance(error, (MigrationError, OSError)) else repr(error)}", file=sys.stderr)
        return 1
    for note in [note for one in found.values() for note in one.notes]:
        print(f"migrate: {note}", file=sys.stderr)
    print(json.dumps(next(iter(positions.values())) if len(positions) == 1 else positions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
