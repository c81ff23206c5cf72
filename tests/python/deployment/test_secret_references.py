"""Test that references keep secrets out of all that Spark writes and shows, and that literal secrets cause a warning
where Spark would show them, in classic sessions and through Spark Connect.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programs import TRACE_TO_FILE, program, run
from spark_kinesis import KinesisEmulator
from spark_kinesis._redaction import SENSITIVE, SENSITIVE_PREFIXES

# It reads and writes with references, looks at everything that shows options, and fails once.
PROGRAM = """
import json, re, sys, urllib.request, warnings
from pathlib import Path
from typing import Any
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSink, KinesisSource, configure_spark_with_kinesis

way, endpoint, read, written, folder, options = *sys.argv[1:6], json.loads(sys.argv[6])
confs = {
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.dir": f"file://{folder}/events",
    "spark.sql.warehouse.dir": f"{folder}/warehouse",
    "spark.kinesis.test.secret": Path(folder, "given").read_text(),
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{folder}/log4j2.properties "
    f"-Dtrace.file={folder}/trace.log -Dderby.system.home={folder}/derby",
}
builder = SparkSession.builder
builder = builder.remote("local[2]") if way == "connect" else builder.master("local[2]")
for key, value in confs.items():
    builder = builder.config(key, value)
spark = configure_spark_with_kinesis(builder).getOrCreate()
here = dict(endpoint=endpoint, region="us-east-1", stream_name=read)
source = KinesisSource(**here)
for key, value in options.items():
    source = source.option(key, value)
sink = KinesisSink(endpoint=endpoint, region="us-east-1", stream_name=written)
for key in ("awsAccessKey", "awsSecretKey", "sessionToken"):
    sink = sink.option(key, options[key])
print(source, sink)
rows = source.initial_position("trim_horizon").read_stream(spark).selectExpr("partitionKey", "data")
query = sink.write_stream(rows).option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
query.awaitTermination()
assert query.exception() is None, query.exception()
print([progress.json for progress in query.recentProgress])
batch = source.read(spark)
batch.explain("extended")
print("rows:", batch.count())
of_table = {**options, "endpoint": endpoint, "region": "us-east-1", "streamName": read}
text = ", ".join(f"`{key}` '{value}'" for key, value in of_table.items())
spark.sql(f"CREATE TABLE events USING kinesis OPTIONS ({text})")
for statement in ("DESCRIBE EXTENDED events", "SHOW CREATE TABLE events", "EXPLAIN EXTENDED SELECT * FROM events"):
    print(spark.sql(statement).collect())
print("rows of the table:", spark.table("events").count())
try:
    source.option("awsSecretKey", "env:NO_SUCH_VARIABLE").read(spark)
except Exception as error:
    print(error)
port = re.findall("Successfully started service 'SparkUI' on port ([0-9]+)", Path(folder, "trace.log").read_text())[-1]
ui = f"http://127.0.0.1:{port}"
app = f"{ui}/api/v1/applications/{json.load(urllib.request.urlopen(f'{ui}/api/v1/applications'))[0]['id']}"
paths = ["/SQL/", "/StreamingQuery/", "/environment/", "/jobs/"]
paths += ["/connect/"] if way == "connect" else []
paths += [f"/SQL/execution/?id={one['id']}" for one in json.load(urllib.request.urlopen(f"{app}/sql?length=1000"))]
for address in [f"{ui}{path}" for path in paths] + [f"{app}/sql?details=true&length=1000", f"{app}/environment"]:
    print(urllib.request.urlopen(address).read().decode())
print("pages:", len(paths))
spark.stop()
"""

WARNED = """
import sys, warnings
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSource, configure_spark_with_kinesis

builder = SparkSession.builder.config("spark.ui.enabled", "false")
builder = builder.remote("local[1]") if sys.argv[1] == "connect" else builder.master("local[1]")
spark = configure_spark_with_kinesis(builder).getOrCreate()
for key, secret in [("k", "s"), ("env:A_KEY", "file:/run/secrets/key")]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            KinesisSource("orders", region="us-east-1", aws_access_key=key, aws_secret_key=secret).read_stream(spark)
        except Exception as error:
            print(error)
    print("warnings:", *[warning.message for warning in caught if "clear text" in str(warning.message)])
spark.stop()
"""


@pytest.mark.parametrize("way", ["classic", "connect"])
def test_references_keep_secrets_out_of_all_that_spark_writes_and_shows(
    way: str, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    read, written = new_stream(), new_stream()
    kinesis.put_records(read, [(f"key-{i % 3}", f"value {i}") for i in range(30)])
    (tmp_path / "events").mkdir()
    (tmp_path / "log4j2.properties").write_text(TRACE_TO_FILE)
    (tmp_path / "given").write_text("planted-of-property-7")
    secrets: dict[str, str] = {}
    options: dict[str, str] = {}
    outside = tmp_path.parent / f"{tmp_path.name}-secrets"
    outside.mkdir()
    names = {name for name in SENSITIVE if not name.startswith(("kinesis.", "proxy")) and not name.endswith("*")}
    names -= {"awsaccesskeyid"}
    declared = {"awsaccesskey": "awsAccessKey", "awssecretkey": "awsSecretKey", "sessiontoken": "sessionToken"}
    assert set(declared) <= names
    # Without a role or a metadata service, the others have no effect; their values must not be shown either.
    # The options of a class of credentials need the class, which replaces the keys of this test.
    prefixes = [prefix for prefix in SENSITIVE_PREFIXES if prefix != "credentialsprovider."]
    for number, name in enumerate([*sorted(names - {"metadatatoken"}), *(f"{prefix}{read}" for prefix in prefixes)]):
        secret = f"planted-secret-{number}-of-the-test"
        key = declared.get(name, name)
        if number % 2:
            secrets[f"PLANTED_{number}"] = secret
            options[key] = f"env:PLANTED_{number}"
        else:
            (outside / str(number)).write_text(secret + "\n")
            options[key] = f"file:{outside / str(number)}"
    # The role's external id comes from a property of the session.
    options["roleexternalid"] = "conf:spark.kinesis.test.secret"
    arguments: list[str | Path] = [way, kinesis.endpoint, read, written, tmp_path, json.dumps(options)]
    environment: dict[str, Any] = dict(secrets)
    done = run([sys.executable, program(tmp_path, PROGRAM), *arguments], **environment)
    said = done.stdout + done.stderr
    assert "rows: 30" in said
    assert "rows of the table: 30" in said
    assert "[KINESIS_SECRET_UNRESOLVED]" in said
    assert "env:PLANTED_1" in said
    assert "pages:" in said
    assert "planted-secret" not in said
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file.name not in ("given", "program.py")]
    assert {"events", "checkpoint"} <= {file.relative_to(tmp_path).parts[0] for file in files}
    # A classic session has no message with options in its event log, and its plans hide them.
    shown = {"classic": read, "connect": "env:PLANTED_1"}[way].encode()
    assert any(shown in file.read_bytes() for file in files if "events" in file.parts)
    assert [file for file in files if b"planted-secret" in file.read_bytes()] == []


@pytest.mark.parametrize("way", ["classic", "connect"])
def test_literal_secrets_through_connect_cause_a_warning_that_names_references(way: str, tmp_path: Path) -> None:
    done = run([sys.executable, program(tmp_path, WARNED), way], A_KEY="k")
    literal, missing, reference = done.stdout.splitlines()[-3:]
    named = "'awsAccessKey', 'awsSecretKey'" in literal and "env:NAME" in literal
    assert named == (way == "connect"), literal
    assert "file:/run/secrets/key" in missing
    assert reference == "warnings:"
