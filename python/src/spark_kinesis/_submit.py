"""What spark-submit gives to a session, from its arguments, its defaults, or its running JVM."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

KEY = "spark.jars"


def property_of_submission(key: str, options: Mapping[str, str]) -> str | None:
    """Return the value that a property would have if the session's builder had these options without it."""
    if jvm_is_running(options):
        from pyspark import SparkConf, SparkContext

        SparkContext._ensure_initialized()
        return SparkConf().get(key)
    arguments = _Arguments(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    value = arguments.value_of(key)
    return value if value is not None else _defaults(arguments, key)


def add_to_driver(options: Mapping[str, str], jars: Sequence[str]) -> None:
    """Make the driver load these jars, which ``spark.jars`` in the builder's options does not ensure.

    A JVM that spark-submit has started loads them from now on, and the ``--jars`` of ``PYSPARK_SUBMIT_ARGS``, which
    take precedence over the builder's options, have them as well.
    """
    if jvm_is_running(options):
        _add_to_class_path(jars)
        return
    arguments = _Arguments(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    if arguments.value_of(KEY) is not None:
        os.environ["PYSPARK_SUBMIT_ARGS"] = arguments.with_jars(jars)


def is_remote(options: Mapping[str, str]) -> bool:
    """Return whether a session with these options uses a Spark Connect server."""
    return "spark.remote" in options or "SPARK_REMOTE" in os.environ


def jvm_is_running(options: Mapping[str, str]) -> bool:
    """Return whether a session with these options uses a JVM that has been started."""
    if is_remote(options):
        return False
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def split(text: str | None) -> list[str]:
    """Return the items of a list with commas."""
    return [item.strip() for item in (text or "").split(",") if item.strip()]


def _add_to_class_path(jars: Sequence[str]) -> None:
    """Add jars to the class loader of spark-submit, which has those of ``--jars``."""
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    if not hasattr(loader, "addURL"):
        return
    known = {str(url) for url in loader.getURLs()}
    for jar in jars:
        url = jvm.java.io.File(jar).toURI().toURL()
        if str(url.toString()) not in known:
            loader.addURL(url)


class _Arguments:
    """The arguments of spark-submit in ``PYSPARK_SUBMIT_ARGS``."""

    def __init__(self, text: str) -> None:
        # ``--name=value`` is two words to spark-submit as well.
        self._words: list[str] = []
        for word in shlex.split(text):
            name, equals, value = word.partition("=")
            self._words += [name, value] if equals and name.startswith("--") else [word]

    def value_of(self, key: str) -> str | None:
        """Return the value of a property that counts; None if the arguments do not set it."""
        found = self._places(key)
        return self._words[found[-1]].removeprefix(f"{key}=") if found else None

    def with_jars(self, jars: Sequence[str]) -> str:
        """Return the arguments with these jars instead of theirs."""
        words = list(self._words)
        for place in self._places(KEY):
            prefix = f"{KEY}=" if words[place].startswith(f"{KEY}=") else ""
            words[place] = prefix + ",".join(jars)
        return shlex.join(words)

    def value(self, name: str) -> str | None:
        """Return the word after ``name``."""
        places = [place for place in range(1, len(self._words)) if self._words[place - 1] == name]
        return self._words[places[-1]] if places else None

    def has(self, name: str) -> bool:
        """Return whether the arguments have this flag."""
        return name in self._words

    def _places(self, key: str) -> list[int]:
        """Return where values of a property are: those of ``--jars``, which take precedence, last."""
        pairs = [(self._words[place - 1], place) for place in range(1, len(self._words))]
        of_conf = [
            place for name, place in pairs if name in ("--conf", "-c") and self._words[place].startswith(f"{key}=")
        ]
        return of_conf + [place for name, place in pairs if name == "--jars" and key == KEY]


def _defaults(arguments: _Arguments, key: str) -> str | None:
    """Return a property from the properties file of the arguments, or from spark-defaults.conf."""
    named = arguments.value("--properties-file")
    if named is not None:
        value = _property(Path(named), key)
        if value is not None or not arguments.has("--load-spark-defaults"):
            return value
    folder = os.environ.get("SPARK_CONF_DIR")
    if folder is None:
        from pyspark.find_spark_home import _find_spark_home

        folder = str(Path(_find_spark_home()) / "conf")
    return _property(Path(folder) / "spark-defaults.conf", key)


def _property(file: Path, key: str) -> str | None:
    """Return the value of a key in a file of Java properties."""
    if not file.is_file():
        return None
    found = None
    for line in file.read_text(encoding="utf-8").replace("\\\n", "").splitlines():
        words = line.strip().replace("=", " ", 1).split(None, 1) if not line.lstrip().startswith(("#", "!")) else []
        if len(words) == 2 and words[0] == key:
            found = words[1].strip()
    return found
