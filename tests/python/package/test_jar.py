from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from spark_kinesis import KinesisConnectorError, __version__, jar_path, session

# The libraries take 13 MB. The connector and the emulator take the rest.
MOST_BYTES = 19_000_000


@pytest.fixture(scope="module")
def names() -> list[str]:
    with zipfile.ZipFile(jar_path()) as jar:
        return [entry for entry in jar.namelist() if not entry.endswith("/")]


def _read(name: str) -> str:
    with zipfile.ZipFile(jar_path()) as jar:
        return jar.read(name).decode()


def test_every_class_is_below_the_projects_own_packages(names: list[str]) -> None:
    own = ("org/sparkkinesis/", "org/apache/spark/sparkkinesis/")
    assert [name for name in names if name.endswith(".class") and not name.startswith(own)] == []


def test_other_files_are_only_services_licenses_and_the_manifest(names: list[str]) -> None:
    rest = {name for name in names if not name.startswith(("org/sparkkinesis/", "org/apache/spark/sparkkinesis/"))}
    known = {name for name in rest if name.startswith(("META-INF/services/", "META-INF/licenses/"))}
    single = {"META-INF/MANIFEST.MF", "META-INF/LICENSE", "META-INF/NOTICE", "META-INF/sbom/spark-kinesis.cdx.json"}
    assert rest - known == single
    assert not any(name.startswith("META-INF/versions") or "module-info" in name for name in names)


def test_the_jar_has_the_license_and_notice_of_the_project(root: Path) -> None:
    for name in ("LICENSE", "NOTICE"):
        assert _read(f"META-INF/{name}") == (root / name).read_text()


@pytest.mark.parametrize(
    ("organization", "files"),
    [
        ("software.amazon.awssdk", {"LICENSE.txt": "Apache License", "NOTICE.txt": "AWS SDK for Java"}),
        ("software.amazon.eventstream", {"LICENSE.txt": "Apache License"}),
        (
            "io.netty",
            {
                "LICENSE.txt": "Apache License",
                "NOTICE.txt": "The Netty Project",
                "LICENSE-third-party.txt": "Copyright (c) 2003-2008 Yuta Mori",
            },
        ),
        ("org.reactivestreams", {"LICENSE.txt": "MIT No Attribution"}),
        ("com.fasterxml.jackson.core", {"LICENSE": "Apache License", "NOTICE": "Tatu Saloranta"}),
        ("com.fasterxml.jackson.dataformat", {"LICENSE": "Apache (Software) License", "NOTICE": "Tatu Saloranta"}),
    ],
)
def test_the_jar_has_the_license_and_notice_of_every_library(organization: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        assert text in _read(f"META-INF/licenses/{organization}/{name}")


def test_every_relocated_library_is_in_the_bill_of_materials_and_has_a_license(names: list[str]) -> None:
    bill = json.loads(_read("META-INF/sbom/spark-kinesis.cdx.json"))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["version"] == __version__
    organizations = {component["group"] for component in bill["components"]} - {"org.scala-lang", "org.sparkkinesis"}
    assert organizations == {name.split("/")[2] for name in names if name.startswith("META-INF/licenses/")}
    assert all(c["hashes"] and c["licenses"] for c in bill["components"] if c["group"] in organizations)


def test_service_files_name_existing_classes(names: list[str]) -> None:
    with zipfile.ZipFile(jar_path()) as jar:
        for service in [name for name in names if name.startswith("META-INF/services/")]:
            lines = [line.split("#")[0].strip() for line in jar.read(service).decode().splitlines()]
            providers = [line for line in lines if line]
            assert providers, service
            for provider in providers:
                assert provider.replace(".", "/") + ".class" in names, f"{service}: {provider}"
            assert providers == list(dict.fromkeys(providers)), service


def test_the_jar_is_below_its_size_limit() -> None:
    assert jar_path().stat().st_size < MOST_BYTES


def test_a_missing_jar_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "__file__", str(tmp_path / "session.py"))
    with pytest.raises(KinesisConnectorError, match=r"run \./dev jar") as caught:
        jar_path()
    assert caught.value.condition == "KINESIS_JAR_MISSING"


def test_no_library_in_it_writes_to_a_logger_that_is_not_quiet(names: list[str]) -> None:
    """Below INFO, the loggers of the AWS SDK and its HTTP clients write headers with session tokens."""
    with zipfile.ZipFile(jar_path()) as jar:
        shaded = [name for name in names if name.startswith("org/sparkkinesis/shaded/") and name.endswith(".class")]
        contents = {name: jar.read(name) for name in shaded}
    assert [name for name, content in contents.items() if b"org/slf4j/LoggerFactory" in content] == []
    quiet = [
        name for name, content in contents.items() if b"org/sparkkinesis/aws/logging/QuietLoggerFactory" in content
    ]
    assert any(name.startswith("org/sparkkinesis/shaded/software/amazon/awssdk/") for name in quiet)
    assert any(name.startswith("org/sparkkinesis/shaded/io/netty/") for name in quiet)
