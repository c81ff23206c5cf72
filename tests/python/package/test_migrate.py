"""The positions that other readers leave, in files of their formats, and the records that are read after them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_kinesis import KinesisEmulator, KinesisSource, migrate

FIRST, SECOND, THIRD, FOURTH = (f"shardId-{number:012}" for number in range(4))
NUMBER = "49605240428222307037115827613554798409561082419642105874"


def lease(shard: str, checkpoint: str, sub: int = 0, **more: Any) -> dict[str, Any]:
    """Return an item of a lease table as DynamoDB's API has it."""
    return {
        "leaseKey": {"S": shard},
        "checkpoint": {"S": checkpoint},
        "checkpointSubSequenceNumber": {"N": str(sub)},
        "leaseOwner": {"S": "worker-1"},
        "leaseCounter": {"N": "249"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        **more,
    }


def scan(*items: dict[str, Any]) -> str:
    return json.dumps({"Items": items, "Count": len(items), "ScannedCount": len(items), "ConsumedCapacity": None})


def listing(**parents: str) -> list[dict[str, Any]]:
    return [{"ShardId": shard.replace("_", "-"), "ParentShardId": parent} for shard, parent in parents.items()]


def awslabs(folder: Path, offset: dict[str, Any], ends: dict[str, dict[str, Any]], committed: int = 7) -> Path:
    """Write the files of a query of awslabs' connector whose batch 7 is planned."""
    for name in ("offsets", "commits", "sources/0/shard-source/7"):
        (folder / name).mkdir(parents=True)
    line = json.dumps({"metadata": {"streamName": "orders", "batchId": "7"}, **offset})
    (folder / "offsets" / "7").write_text(f'v1\n{{"batchWatermarkMs":0,"conf":{{}}}}\n{line}')
    (folder / "commits" / str(committed)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    for shard, end in ends.items():
        (folder / "sources/0/shard-source/7" / shard).write_text(json.dumps({"shardId": shard, **end}))
        (folder / "sources/0/shard-source/7" / f".{shard}.crc").write_text("x")
    return folder


def start(kind: str, value: str = "") -> dict[str, str]:
    return {"iteratorType": kind, "iteratorPosition": value, "subSequenceNumber": "-1", "isLast": "true"}


def end(kind: str, value: str = "", sub: int = -1, is_last: bool = True) -> dict[str, Any]:
    return {"iteratorType": kind, "iteratorPosition": value, "subSequenceNumber": sub, "isLast": is_last}


def test_leases_of_the_kcl_become_positions_after_their_checkpoints() -> None:
    found = migrate.of_leases(scan(lease(FIRST, NUMBER), lease(SECOND, "TRIM_HORIZON"), {"entityType": {"S": "x"}}))
    assert found[""].initial_position(None) == {
        FIRST: {"after_sequence_number": NUMBER},
        SECOND: "trim_horizon",
        "*": "trim_horizon",
    }


def test_an_export_with_one_item_in_each_line_and_several_streams() -> None:
    keys = [f"123456789012:orders:1700000000:{FIRST}", f"123456789012:clicks:1700000001:{FIRST}"]
    found = migrate.of_leases("\n".join(json.dumps({"Item": lease(key, NUMBER)}) for key in keys))
    assert sorted(found) == ["clicks", "orders"]


def test_the_shards_after_an_ended_one_are_read_from_their_start() -> None:
    found = migrate.of_leases(scan(lease(FIRST, "SHARD_END"), lease(THIRD, NUMBER)))[""]
    shards = listing(**{SECOND.replace("-", "_"): FIRST, THIRD.replace("-", "_"): FIRST})
    assert found.initial_position(shards) == {
        SECOND: "trim_horizon",
        THIRD: {"after_sequence_number": NUMBER},
        "*": "trim_horizon",
    }
    with pytest.raises(migrate.MigrationError, match="Pass the output of 'aws kinesis list-shards"):
        found.initial_position(None)


@pytest.mark.parametrize("checkpoint", ["LATEST", "AT_TIMESTAMP"])
def test_a_lease_without_a_checkpoint_is_refused(checkpoint: str) -> None:
    with pytest.raises(migrate.MigrationError, match=f"{FIRST} has no checkpoint yet"):
        migrate.of_leases(scan(lease(FIRST, checkpoint)))


def test_a_checkpoint_within_an_aggregate_has_a_note() -> None:
    assert "whole batches" in migrate.of_leases(scan(lease(FIRST, NUMBER, sub=3)))[""].notes[0]


def test_awslabs_metadata_of_the_last_committed_batch_count(tmp_path: Path) -> None:
    offset = {FIRST: start("TRIM_HORIZON"), SECOND: start("AT_TIMESTAMP", "1700000000000"), THIRD: start("LATEST")}
    ends = {FIRST: end("AFTER_SEQUENCE_NUMBER", NUMBER), THIRD: end("AT_SEQUENCE_NUMBER", NUMBER)}
    found = migrate.of_awslabs(awslabs(tmp_path, offset, ends))
    assert found["orders"].initial_position(None) == {
        FIRST: {"after_sequence_number": NUMBER},
        SECOND: {"at_timestamp": 1700000000000},
        THIRD: {"at_sequence_number": NUMBER},
        "*": "trim_horizon",
    }


def test_awslabs_metadata_within_an_aggregate_are_refused_unless_it_may_be_repeated(tmp_path: Path) -> None:
    ends = {FIRST: end("AFTER_SEQUENCE_NUMBER", NUMBER, sub=1, is_last=False)}
    folder = awslabs(tmp_path, {FIRST: start("TRIM_HORIZON")}, ends)
    with pytest.raises(migrate.MigrationError, match="within the aggregated record"):
        migrate.of_awslabs(folder)
    found = migrate.of_awslabs(folder, repeat_aggregates=True)
    assert found["orders"].shards == {FIRST: {"at_sequence_number": NUMBER}}


def test_an_ended_shard_of_awslabs_needs_the_list_of_shards(tmp_path: Path) -> None:
    folder = awslabs(tmp_path, {FIRST: start("TRIM_HORIZON")}, {FIRST: end("SHARD_END")})
    assert migrate.of_awslabs(folder)["orders"].ended == {FIRST}


def test_the_end_offset_of_databricks() -> None:
    shard = {"shard": {"stream": "orders", "shardId": FIRST}, "firstSeqNum": None, "lastSeqNum": NUMBER}
    expected = {FIRST: {"after_sequence_number": NUMBER}, "*": "trim_horizon"}
    for document in ([shard], {"endOffset": [shard]}, {"sources": [{"endOffset": [shard]}]}):
        assert migrate.of_databricks(json.dumps(document))["orders"].initial_position(None) == expected
    with pytest.raises(migrate.MigrationError, match="no lastSeqNum yet"):
        migrate.of_databricks(json.dumps([{**shard, "lastSeqNum": None}]))


def test_the_command_prints_one_position_or_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leases, shards = tmp_path / "leases.json", tmp_path / "shards.json"
    leases.write_text(scan(lease(FIRST, "SHARD_END")))
    assert migrate.main(["kcl", str(leases)]) == 1
    assert "--shards" in capsys.readouterr().err
    shards.write_text(json.dumps({"Shards": listing(**{SECOND.replace("-", "_"): FIRST})}))
    assert migrate.main(["kcl", str(leases), "--shards", str(shards)]) == 0
    assert json.loads(capsys.readouterr().out) == {SECOND: "trim_horizon", "*": "trim_horizon"}
    assert migrate.main(["awslabs", str(tmp_path / "none")]) == 1
    assert "no committed batch" in capsys.readouterr().err


def test_the_rest_of_a_resharded_stream_is_read_once(
    spark: SparkSession, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    stream = new_stream(2)
    kinesis.put_records(stream, [(f"k{n}", str(n)) for n in range(100)])
    before = {record.shard_id: record.sequence_number for record in kinesis.records(stream)}
    parent, other = sorted(before)
    middle = int(kinesis.client.shards(stream)[0]["HashKeyRange"]["EndingHashKey"]) // 2
    kinesis.client.call("SplitShard", StreamName=stream, ShardToSplit=parent, NewStartingHashKey=str(middle))
    kinesis.client.wait_until_active(stream)
    kinesis.put_records(stream, [(f"k{n}", str(n)) for n in range(100, 200)])
    leases, shards = tmp_path / "leases.json", tmp_path / "shards.json"
    leases.write_text(scan(lease(parent, "SHARD_END"), lease(other, before[other])))
    shards.write_text(json.dumps({"Shards": kinesis.client.shards(stream)}))
    listed = json.loads(shards.read_text())["Shards"]
    position = migrate.of_leases(leases.read_text())[""].initial_position(listed)
    rows = KinesisSource(stream, initial_position=position).on_emulator(kinesis).read(spark).collect()
    assert sorted(int(row.data) for row in rows) == list(range(100, 200))
