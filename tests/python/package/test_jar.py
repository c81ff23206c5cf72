from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from programs import SPARK_HOME, run
from spark_kinesis import KinesisConnectorError, __version__, jar_path, session
from spark_kinesis.emulator.java import emulator_jar, java_command

# The connector's own classes take half of it.
MOST_BYTES = 13 * 1024 * 1024

JARS = pytest.mark.parametrize("jar", [jar_path(), emulator_jar()], ids=["connector", "emulator"])


def _names(jar: Path) -> list[str]:
    with zipfile.ZipFile(jar) as file:
        return [entry for entry in file.namelist() if not entry.endswith("/")]


# The packages of this project.
OWN = ("org/sparkkinesis/", "org/apache/spark/sparkkinesis/", "org/apache/spark/sql/sparkkinesis/")


@pytest.fixture(scope="module")
def names() -> list[str]:
    return _names(jar_path())


def _read(jar: Path, name: str) -> str:
    with zipfile.ZipFile(jar) as file:
        return file.read(name).decode()


@JARS
def test_every_class_is_below_the_projects_own_packages(jar: Path) -> None:
    assert [name for name in _names(jar) if name.endswith(".class") and not name.startswith(OWN)] == []


def test_the_connectors_jar_has_no_emulator_and_the_two_jars_share_no_library(names: list[str]) -> None:
    assert [name for name in names if name.startswith("org/sparkkinesis/emulator/")] == []
    libraries = {name for name in names if "/shaded/" in name}
    assert libraries
    assert libraries & set(_names(emulator_jar())) == set()


@JARS
def test_other_files_are_only_services_licenses_and_the_manifest(jar: Path) -> None:
    names = _names(jar)
    rest = {name for name in names if not name.startswith(OWN)}
    known = {name for name in rest if name.startswith(("META-INF/services/", "META-INF/licenses/"))}
    single = {"META-INF/MANIFEST.MF", "META-INF/LICENSE", "META-INF/NOTICE", _bill_of(jar)}
    assert rest - known == single
    assert not any(name.startswith("META-INF/versions") or "module-info" in name for name in names)


@JARS
def test_the_jar_has_the_license_and_notice_of_the_project(jar: Path, root: Path) -> None:
    for name in ("LICENSE", "NOTICE"):
        assert _read(jar, f"META-INF/{name}") == (root / name).read_text()


JACKSON = {"LICENSE": "Apache License", "NOTICE": "Tatu Saloranta"}
NETTY = {
    "LICENSE.txt": "Apache License",
    "NOTICE.txt": "The Netty Project",
    "LICENSE-third-party.txt": "Copyright (c) 2003-2008 Yuta Mori",
}


@pytest.mark.parametrize(
    ("jar", "organization", "files"),
    [
        (
            jar_path(),
            "software.amazon.awssdk",
            {"LICENSE.txt": "Apache License", "NOTICE.txt": "AWS SDK for Java"},
        ),
        (jar_path(), "io.netty", NETTY),
        (jar_path(), "org.reactivestreams", {"LICENSE.txt": "MIT No Attribution"}),
        (jar_path(), "com.fasterxml.jackson.core", JACKSON),
        (emulator_jar(), "software.amazon.eventstream", {"LICENSE.txt": "Apache License"}),
        (emulator_jar(), "io.netty", NETTY),
        (emulator_jar(), "com.fasterxml.jackson.core", JACKSON),
        (
            emulator_jar(),
            "com.fasterxml.jackson.dataformat",
            {"LICENSE": "Apache (Software) License", "NOTICE": "Tatu Saloranta"},
        ),
    ],
)
def test_the_jar_has_the_license_and_notice_of_every_library(
    jar: Path, organization: str, files: dict[str, str]
) -> None:
    for name, text in files.items():
        assert text in _read(jar, f"META-INF/licenses/{organization}/{name}")


def _bill_of(jar: Path) -> str:
    return f"META-INF/sbom/{jar.name.split('_')[0]}.cdx.json"


@JARS
def test_every_relocated_library_is_in_the_bill_of_materials_and_has_a_license(jar: Path) -> None:
    names = _names(jar)
    bill = json.loads(_read(jar, _bill_of(jar)))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["version"] == __version__
    organizations = {component["group"] for component in bill["components"]} - {"org.scala-lang", "org.sparkkinesis"}
    assert organizations == {name.split("/")[2] for name in names if name.startswith("META-INF/licenses/")}
    assert all(c["hashes"] and c["licenses"] for c in bill["components"] if c["group"] in organizations)


@JARS
def test_service_files_name_existing_classes(jar: Path) -> None:
    names = _names(jar)
    for service in [name for name in names if name.startswith("META-INF/services/")]:
        lines = [line.split("#")[0].strip() for line in _read(jar, service).splitlines()]
        providers = [line for line in lines if line]
        assert providers, service
        for provider in providers:
            assert provider.replace(".", "/") + ".class" in names, f"{service}: {provider}"
        assert providers == list(dict.fromkeys(providers)), service


SDK = "org.sparkkinesis.shaded.software.amazon.awssdk"

# What the AWS SDK loads by name. The build removes unused classes, and sees no use of these.
LOADED_BY_NAME = [
    f"{SDK}.services.sts.internal.StsProfileCredentialsProviderFactory",
    f"{SDK}.services.sts.internal.StsWebIdentityCredentialsProviderFactory",
    f"{SDK}.services.sso.auth.SsoProfileCredentialsProviderFactory",
    f"{SDK}.services.ssooidc.SsoOidcProfileTokenProviderFactory",
    f"{SDK}.services.signin.auth.LoginProfileCredentialsProviderFactory",
    f"{SDK}.http.nio.netty.NettySdkAsyncHttpService",
]

CREATE = """
public class Create {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class<?> found = Class.forName(name);
            found.getConstructor().newInstance();
            for (var method : found.getMethods()) method.toGenericString();
            System.out.println(name);
        }
    }
}
"""


def test_the_jar_has_what_the_sdk_loads_by_name(tmp_path: Path) -> None:
    program = tmp_path / "Create.java"
    program.write_text(CREATE)
    classes = f"{jar_path()}:{SPARK_HOME}/jars/*"
    done = run([java_command("1g", [])[0], "-cp", classes, program, *LOADED_BY_NAME])
    assert done.stdout.split() == LOADED_BY_NAME


def test_no_class_of_the_sdk_names_a_class_that_the_jar_lost_to_the_build(names: list[str]) -> None:
    """Every class name in the SDK's constants is of another module, or of a class in the jar."""
    with zipfile.ZipFile(jar_path()) as jar:
        contents = [jar.read(name) for name in names if name.startswith(SDK.replace(".", "/"))]
    constant = re.compile(rb"org\.sparkkinesis\.shaded(?:\.\w+)+\.services(?:\.\w+)+Factory")
    named = {found.decode() for content in contents for found in constant.findall(content)}
    assert named == {name for name in LOADED_BY_NAME if name.endswith("Factory")}


def test_the_jar_is_below_its_size_limit() -> None:
    assert jar_path().stat().st_size <= MOST_BYTES


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
