from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from spark_kinesis import KinesisConnectorError, jar_path, session

MOST_BYTES = 15_000_000


@pytest.fixture(scope="module")
def names() -> list[str]:
    with zipfile.ZipFile(jar_path()) as jar:
        return [entry for entry in jar.namelist() if not entry.endswith("/")]


def test_every_class_is_below_the_projects_own_packages(names: list[str]) -> None:
    own = ("org/sparkkinesis/", "org/apache/spark/sparkkinesis/")
    assert [name for name in names if name.endswith(".class") and not name.startswith(own)] == []


def test_outside_of_them_there_are_only_services_licences_and_the_manifest(names: list[str]) -> None:
    rest = [name for name in names if not name.startswith(("org/sparkkinesis/", "org/apache/spark/sparkkinesis/"))]
    legal = ("LICENSE", "NOTICE", "Schubfach-LICENSE", "thirdparty-LICENSE", "FastDoubleParser-")
    known = [n for n in rest if n.startswith(("META-INF/services/", *(f"META-INF/{word}" for word in legal)))]
    assert set(rest) - set(known) == {"META-INF/MANIFEST.MF"}
    assert not any(name.startswith("META-INF/versions") or "module-info" in name for name in names)


def test_licences_and_notices_of_what_it_holds_are_kept(names: list[str]) -> None:
    for library in ("spark-kinesis_2.13-", "kinesis-2.", "netty-nio-client-", "jackson-core-"):
        for kind in ("LICENSE", "NOTICE"):
            assert any(name.startswith(f"META-INF/{kind}_{library}") for name in names), f"{kind} of {library}"


def test_service_files_name_classes_that_are_there(names: list[str]) -> None:
    with zipfile.ZipFile(jar_path()) as jar:
        for service in [name for name in names if name.startswith("META-INF/services/")]:
            lines = [line.split("#")[0].strip() for line in jar.read(service).decode().splitlines()]
            providers = [line for line in lines if line]
            assert providers, service
            for provider in providers:
                assert provider.replace(".", "/") + ".class" in names, f"{service}: {provider}"
            assert providers == list(dict.fromkeys(providers)), service


def test_it_stays_small() -> None:
    assert jar_path().stat().st_size < MOST_BYTES


def test_a_missing_jar_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "__file__", str(tmp_path / "session.py"))
    with pytest.raises(KinesisConnectorError, match=r"run \./dev jar") as caught:
        jar_path()
    assert caught.value.condition == "KINESIS_JAR_MISSING"
