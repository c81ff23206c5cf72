"""The connector's jar, and functions that add it to a Spark session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._line import ending, installed
from spark_kinesis._submit import KEY, add_to_driver, is_remote, property_of_submission, split
from spark_kinesis._version import __version__
from spark_kinesis.errors import KinesisConnectorError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


_EXTENSIONS = "spark.sql.extensions"
_OF_CONNECTOR = "org.apache.spark.sparkkinesis.ConnectorExtensions"


def jar_path(spark_version: str | None = None) -> Path:
    """Return the jar of this package for a version of Spark; without one, for the Spark that this process uses.

    That is the Spark of ``SPARK_HOME``, or of the package pyspark. It is an error if the package has no jar for it,
    which Spark would only log.
    """
    return packaged_jar("spark-kinesis", spark_version)


def packaged_jar(name: str, spark_version: str | None = None) -> Path:
    """Return one of the jars in this package, for a version of Spark or the Spark that this process uses."""
    folder = Path(__file__).parent / "jars"
    jar = folder / f"{name}{ending(spark_version)}-{__version__}.jar"
    if not jar.is_file():
        others = ", ".join(sorted(file.name for file in folder.glob(f"{name}*.jar")))
        raise KinesisConnectorError.of(
            "KINESIS_JAR_MISSING",
            where=str(jar),
            reason="The package was not built, only a part of it was, or it has no jar for this version of Spark"
            f" (it has: {others or 'none'}).",
            fix="In a checkout run ./dev jar; elsewhere install the package spark-kinesis again,"
            " beside Spark 3.5 with Scala 2.12, or Spark 4.",
        )
    return jar


def configure_spark_with_kinesis(
    builder: SparkSession.Builder, extra_jars: Sequence[str | Path] = ()
) -> SparkSession.Builder:
    """Add the connector's jar and ``extra_jars`` to a session that has not been created yet.

    The session also keeps the jars of ``spark.jars`` in the builder, in the arguments of spark-submit (``--jars``,
    ``--conf``, ``PYSPARK_SUBMIT_ARGS``) and in ``spark-defaults.conf``, of which Spark alone would use one.

    With Spark 3.5, it also adds the connector's session extension to ``spark.sql.extensions``, because a session that
    Python starts does not find it there, as it does with Spark 4.

    ``getOrCreate`` does not add them to a session that is already running; use ``add_kinesis_to`` for that.
    """
    options: dict[str, str] = dict(builder._options)
    own = [str(jar) for jar in (jar_path(), *extra_jars)]
    jars = list(dict.fromkeys(split(options.get(KEY)) + split(property_of_submission(KEY, options)) + own))
    extensions = _extensions(options)
    add_to_driver(options, jars)
    if extensions is not None:
        builder = builder.config(_EXTENSIONS, extensions)
    return builder.config(KEY, ",".join(jars))


def _extensions(options: Mapping[str, str]) -> str | None:
    """Return what ``spark.sql.extensions`` must be set to; None if the session finds the connector's by itself."""
    version, _ = installed()
    if not version.startswith("3.") or is_remote(options):
        return None
    # Spark uses the builder's value, or else that of the submission.
    named = options.get(_EXTENSIONS)
    own = split(named if named is not None else property_of_submission(_EXTENSIONS, options))
    return ",".join(dict.fromkeys([*own, _OF_CONNECTOR]))


def add_kinesis_to(spark: SparkSession) -> SparkSession:
    """Add the connector's jar to a session that is already running, classic or Spark Connect."""
    if is_connect(spark):
        spark.addArtifacts(str(jar_path(spark.version)))
    else:
        quoted = str(jar_path()).replace("'", "\\'")
        spark.sql(f"ADD JAR '{quoted}'")
    return spark


def is_connect(spark: SparkSession) -> bool:
    """Return whether the session uses a Spark Connect server, so that this process has no JVM."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def stop_gracefully(query: StreamingQuery, timeout_seconds: float = 60) -> bool:
    """Stop a query in real-time mode so that its next run repeats no record.

    The running batch ends and is committed before the query stops; ``query.stop()`` alone repeats the records of that
    batch. Returns whether the batch was committed: False after ``timeout_seconds``, or if the query has failed. The
    query is stopped in any case. A query with another trigger stops at once, because its next run repeats a batch
    exactly. It is an error with Spark Connect, or if the connector was added to a running session.
    """
    running = getattr(query, "_jsq", None)
    stopper = jvm_member(
        _jvm() if running is not None else None,
        "org.sparkkinesis.KinesisQueries",
        "stopGracefully",
        setting="stop_gracefully",
        fix="Use query.stop(), or a classic session that was started with configure_spark_with_kinesis().",
    )
    return bool(stopper(running, int(timeout_seconds * 1000)))


def jvm_member(
    jvm: Any,
    owner: str,
    name: str,
    *,
    setting: str,
    fix: str,
    reason: str = "It calls the connector in the driver's JVM, which this process cannot do.",
) -> Any:
    """Return a static member of a class in the driver's JVM.

    ``jvm`` is py4j's view of it, or None without one. Raise KINESIS_REAL_TIME_UNSUPPORTED with the other arguments if
    there is no JVM, or if its application class loader does not have the class or the member.
    """
    missing = KinesisConnectorError.of("KINESIS_REAL_TIME_UNSUPPORTED", setting=setting, reason=reason, fix=fix)
    if jvm is None:
        raise missing
    # A caller with a JVM has py4j; a client of Spark Connect may not have it.
    from py4j.java_gateway import JavaPackage
    from py4j.protocol import Py4JError, Py4JNetworkError

    member = jvm
    try:
        for part in (*owner.split("."), name):
            member = getattr(member, part)
    except Py4JNetworkError:
        # The driver's JVM has ended.
        raise
    except Py4JError as error:
        raise missing from error
    # To py4j, the name of an unknown class is the name of a package.
    if isinstance(member, JavaPackage):
        raise missing
    return member


def _jvm() -> Any:
    """Return py4j's view of the driver's JVM; None without one."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return context._jvm if context is not None else None
