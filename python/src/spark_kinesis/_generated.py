# Made from the declarations in connector-scala/core; renew with: ./dev generate
"""Every option as a keyword and as a method. Not meant to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from spark_kinesis._builder import Builder

if TYPE_CHECKING:
    from typing_extensions import Self

PhysicalStreamState = Literal["active", "draining", "standby"]

RetriedBySource = Literal[
    "DescribeStreamSummary",
    "ListShards",
    "ListStreams",
    "RegisterStreamConsumer",
    "DeregisterStreamConsumer",
    "ListStreamConsumers",
    "SubscribeToShard",
    "GetRecords",
    "GetShardIterator",
]

RetriedBySink = Literal[
    "DescribeStreamSummary",
    "ListShards",
    "PutRecords",
]

RetriedByFirehose = Literal[
    "PutRecordBatch",
]


class ConnectionKeywords(TypedDict, total=False):
    """Keywords: stream, credentials and network."""

    region: str | None
    endpoint: str | None
    allow_insecure_endpoint: bool | None
    aws_access_key: str | None
    aws_secret_key: str | None
    session_token: str | None
    profile: str | None
    role_arn: str | Sequence[str] | None
    role_external_id: str | None
    role_session_name: str | None
    sts_endpoint: str | None
    credentials_provider: str | None
    proxy: str | None
    proxy_user: str | None
    proxy_password: str | None
    non_proxy_hosts: str | None
    max_connections: int | None
    connect_timeout: str | int | timedelta | None
    request_timeout: str | int | timedelta | None
    ca_file: str | None
    transport: Literal["native", "sdk"] | None
    metadata_service: str | None
    metadata_token: str | None
    metadata_refresh_interval: str | int | timedelta | None
    metadata_start_timeout: str | int | timedelta | None
    metadata_max_age: str | int | timedelta | None
    metadata_allow_rollback: bool | None
    metadata_allowed_accounts: str | Sequence[str] | None
    metadata_allowed_regions: str | Sequence[str] | None
    metadata_allowed_roles: str | Sequence[str] | None
    metadata_allowed_endpoints: str | Sequence[str] | None
    on_forbidden: Literal["skip", "fail"] | None
    retry_recoverable_errors: str | Sequence[str] | None


class SourceKeywords(ConnectionKeywords, total=False):
    """Keywords: reading."""

    stream_name: str | Sequence[str] | None
    stream_arn: str | Sequence[str] | None
    stream_id: str | Sequence[str] | None
    stream_pattern: str | None
    initial_position: str | int | datetime | Mapping[str, Any] | None
    ending_position: str | int | datetime | Mapping[str, Any] | None
    consumer_mode: Literal["polling", "efo"] | None
    consumer_name: str | None
    consumer_name_prefix: str | None
    consumer_arn: str | None
    registration: Literal["lazy", "none"] | None
    require_consumer_deregistration: bool | None
    max_records_per_trigger: int | None
    max_bytes_per_trigger: str | int | None
    min_records_per_trigger: int | None
    max_trigger_delay: str | int | timedelta | None
    align_shards: str | int | timedelta | None
    max_records_per_fetch: int | None
    min_fetch_period: str | int | timedelta | None
    max_fetches_per_second: float | None
    fetch_buffer_size: str | int | None
    fetch_disk_size: str | int | None
    shard_fetch_interval: str | int | timedelta | None
    shards_per_task: int | None
    end_batch_early: bool | None
    fail_on_data_loss: bool | None
    deaggregation: bool | None
    deaggregation_hash_range_filter: bool | None
    partition_key_pruning: bool | None
    stream_id_pattern: str | None
    new_stream_position: str | datetime | Mapping[str, Any] | None
    on_stream_removed: Literal["drain", "park", "fail"] | None
    drain_grace: str | int | timedelta | None
    drain_timeout: str | int | timedelta | None
    removed_stream_retention: str | int | timedelta | None
    removal_confirmations: int | None


class SinkKeywords(ConnectionKeywords, total=False):
    """Keywords: writing."""

    stream_name: str | None
    stream_arn: str | None
    stream_id: str | Sequence[str] | None
    partition_key: str | None
    stream_column: str | None
    router: str | None
    metadata_cache: str | None
    max_batch_size: int | None
    max_batch_bytes: str | int | None
    max_time_in_buffer: str | int | timedelta | None
    send_when_idle: bool | None
    max_in_flight_requests: int | None
    max_buffered_records: int | None
    max_buffered_bytes: str | int | None
    rate_limiting: str | None
    shard_limits: bool | None
    ordering: Literal["none", "bestEffort", "key"] | None
    distribute_by_key: bool | None
    order_by: str | Sequence[str] | None
    aggregation: bool | None
    on_invalid_record: Literal["fail", "deadLetter", "drop"] | None
    dead_letter_stream: str | None
    dead_letter_table: str | None
    delivery_timeout: str | int | timedelta | None
    rate_limiting_aimd_increase: int | None
    rate_limiting_aimd_decrease: float | None
    rate_limiting_aimd_min: int | None
    rate_limiting_aimd_max: int | None
    rate_limiting_batch_and_delay_min_delay: str | int | timedelta | None
    rate_limiting_batch_and_delay_max_delay: str | int | timedelta | None
    rate_limiting_batch_and_delay_growth: float | None
    rate_limiting_batch_and_delay_recovery: float | None
    rate_limiting_batch_and_delay_quiet_time: str | int | timedelta | None


class FirehoseKeywords(TypedDict, total=False):
    """Keywords: writing to Amazon Data Firehose."""

    delivery_stream_name: str | None
    region: str | None
    endpoint: str | None
    allow_insecure_endpoint: bool | None
    aws_access_key: str | None
    aws_secret_key: str | None
    session_token: str | None
    profile: str | None
    role_arn: str | Sequence[str] | None
    role_external_id: str | None
    role_session_name: str | None
    sts_endpoint: str | None
    credentials_provider: str | None
    proxy: str | None
    proxy_user: str | None
    proxy_password: str | None
    non_proxy_hosts: str | None
    max_connections: int | None
    connect_timeout: str | int | timedelta | None
    request_timeout: str | int | timedelta | None
    ca_file: str | None
    max_batch_size: int | None
    max_batch_bytes: str | int | None
    max_time_in_buffer: str | int | timedelta | None
    send_when_idle: bool | None
    max_in_flight_requests: int | None
    max_buffered_records: int | None
    max_buffered_bytes: str | int | None
    rate_limiting: str | None
    on_invalid_record: Literal["fail", "deadLetter", "drop"] | None
    dead_letter_table: str | None
    delivery_timeout: str | int | timedelta | None
    rate_limiting_aimd_increase: int | None
    rate_limiting_aimd_decrease: float | None
    rate_limiting_aimd_min: int | None
    rate_limiting_aimd_max: int | None
    rate_limiting_batch_and_delay_min_delay: str | int | timedelta | None
    rate_limiting_batch_and_delay_max_delay: str | int | timedelta | None
    rate_limiting_batch_and_delay_growth: float | None
    rate_limiting_batch_and_delay_recovery: float | None
    rate_limiting_batch_and_delay_quiet_time: str | int | timedelta | None
    retry_recoverable_errors: str | Sequence[str] | None


class ConnectionMethods(Builder):
    """Methods: stream, credentials and network."""

    _of_streams = frozenset(
        {
            "consumerarn.",
            "endpoint.",
            "region.",
            "rolearn.",
            "roleexternalid.",
        }
    )

    def region(self, value: str | None) -> Self:
        """AWS region of the stream.

        Takes the name of an AWS region such as eu-central-1.

        Default: the region of the ARN, otherwise of the AWS default chain.
        """
        return self._with_kind("region", value, str)

    def endpoint(self, value: str | None) -> Self:
        """Address of the service. Plain `http` is accepted for loopback addresses only, unless
        `allow_insecure_endpoint` is set.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.
        """
        return self._with_kind("endpoint", value, str)

    def allow_insecure_endpoint(self, value: bool | None) -> Self:
        """Accept an `http` endpoint that is not a loopback address. Records and request signatures are then sent
        without encryption.

        Takes true or false.

        Default: ``false``.

        Applies with `endpoint` or `endpoint_of` or `sts_endpoint` or `metadata_service`.
        """
        return self._with_kind("allowInsecureEndpoint", value, bool)

    def aws_access_key(self, value: str | None) -> Self:
        """Access key id of static credentials. It requires `aws_secret_key`.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.

        Default: the AWS default provider chain.
        """
        return self._with_kind("awsAccessKey", value, str)

    def aws_secret_key(self, value: str | None) -> Self:
        """Secret key of static credentials. It requires `aws_access_key`.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("awsSecretKey", value, str)

    def session_token(self, value: str | None) -> Self:
        """Session token of temporary static credentials.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("sessionToken", value, str)

    def profile(self, value: str | None) -> Self:
        """Profile in the shared AWS configuration files. Every executor must have these files.

        Takes a string.
        """
        return self._with_kind("profile", value, str)

    def role_arn(self, value: str | Sequence[str] | None) -> Self:
        """ARN of the role to assume with the other credentials. Of several roles, each is assumed with the
        credentials of the one before it, and `role_external_id` is for the last one.

        Takes the ARN of a role such as arn:aws:iam::123456789012:role/reader, or several separated by commas.
        """
        return self._with_kind("roleArn", value, str, Sequence)

    def role_external_id(self, value: str | None) -> Self:
        """External id that the trust policy of the role requires.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.

        Applies with `role_arn` or `role_arn_of`.
        """
        return self._with_kind("roleExternalId", value, str)

    def role_session_name(self, value: str | None) -> Self:
        """Session name of the assumed role. CloudTrail shows it with each call.

        Takes 2 to 64 characters of a-z, A-Z, 0-9 and _+=,.@-.

        Default: `spark-kinesis-` and the id of the Spark application.

        Applies with `role_arn` or `role_arn_of` or `metadata_allowed_roles`.
        """
        return self._with_kind("roleSessionName", value, str)

    def sts_endpoint(self, value: str | None) -> Self:
        """Address of the Security Token Service that assumes the role. Plain `http` is accepted as for `endpoint`.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.

        Applies with `role_arn` or `role_arn_of` or `metadata_allowed_roles`.
        """
        return self._with_kind("stsEndpoint", value, str)

    def credentials_provider(self, value: str | None) -> Self:
        """Class that provides credentials: a `java.util.function.Supplier<Map<String, String>>` with a constructor
        without parameters. The map has `accessKeyId`, `secretAccessKey` and, for temporary credentials,
        `session_token`. A class with options of its own is a `java.util.function.Function` from the map of its
        options to this map.

        Takes the name of a class.
        """
        return self._with_kind("credentialsProvider", value, str)

    def credentials_provider_of(self, name: str, value: str | None) -> Self:
        """Option of the class that `credentials_provider` names: `credentials_provider_of("path", …)` is `path` in
        the map that the class gets. The map ignores the case of names.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.

        Applies with `credentials_provider`.
        """
        return self._with_of("credentialsProvider", name, value, str)

    def proxy(self, value: str | None) -> Self:
        """HTTP proxy of all calls, also of those to loopback addresses; `none` for no proxy. Environment variables
        and system properties for proxies then have no effect.

        Takes the address of an HTTP proxy such as http://proxy.example.com:3128, or none.

        Default: `https.proxyHost`, then `HTTPS_PROXY`, of the process that makes the call.
        """
        return self._with_kind("proxy", value, str)

    def proxy_user(self, value: str | None) -> Self:
        """User name for the proxy (Basic authentication). It replaces the user name and password of a proxy from
        the environment.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("proxyUser", value, str)

    def proxy_password(self, value: str | None) -> Self:
        """Password for the proxy. It requires `proxy_user`.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("proxyPassword", value, str)

    def non_proxy_hosts(self, value: str | None) -> Self:
        """Hosts that are reached without the proxy, in the form of `NO_PROXY`: a domain and all names below it, an
        address, a network as `10.0.0.0/8`, `*` for any text, each with or without a port.

        Takes hosts separated by commas, such as .internal.example.com,10.0.0.0/8,127.0.0.1:4567.

        Default: `http.nonProxyHosts` or `NO_PROXY`; none with `proxy`.
        """
        return self._with_kind("nonProxyHosts", value, str)

    def max_connections(self, value: int | None) -> Self:
        """Maximum number of connections of a client for requests. Tasks and queries of one process share a client
        if their options for stream, credentials and network are equal. Enhanced fan-out has further connections.

        Takes a whole number from 1 to 100000.

        Default: ``256``.
        """
        return self._with_kind("maxConnections", value, int)

    def connect_timeout(self, value: str | int | timedelta | None) -> Self:
        """Maximum duration of opening a connection.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 5m.

        Default: ``5s``.
        """
        return self._with_kind("connectTimeout", value, str, int, timedelta)

    def request_timeout(self, value: str | int | timedelta | None) -> Self:
        """Maximum duration of a request. After that, the request is sent again.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 10m.

        Default: ``30s``.
        """
        return self._with_kind("requestTimeout", value, str, int, timedelta)

    def ca_file(self, value: str | None) -> Self:
        """PEM file with the certificates of the authorities that may sign for services and proxies, for example of
        a proxy that decrypts TLS. The driver and every executor must have it.

        Takes a string.

        Default: `AWS_CA_BUNDLE`, else the authorities that the JVM trusts.
        """
        return self._with_kind("caFile", value, str)

    def transport(self, value: Literal["native", "sdk"] | None) -> Self:
        """What sends GetRecords, PutRecords and SubscribeToShard: `native` for the connector's own requests, `sdk`
        for the clients of the AWS SDK, which need more CPU time and memory. Set `sdk` if the service refuses the
        connector's own requests, for example after a change on its side.

        Takes one of 'native', 'sdk'.

        Default: ``native``.
        """
        return self._with_kind("transport", value, str)

    def region_of(self, stream: str, value: str | None) -> Self:
        """Region of one of several streams: `region_of("orders", …)` for stream `orders`. Each option for one of
        several streams also accepts the ARN of the stream instead of its name.

        Takes the name of an AWS region such as eu-central-1.
        """
        return self._with_of("region", stream, value, str)

    def endpoint_of(self, stream: str, value: str | None) -> Self:
        """Address of the service for one of several streams: `endpoint_of("orders", …)`.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.
        """
        return self._with_of("endpoint", stream, value, str)

    def role_arn_of(self, stream: str, value: str | Sequence[str] | None) -> Self:
        """ARN of the role to assume for one of several streams: `role_arn_of("orders", …)`.

        Takes the ARN of a role such as arn:aws:iam::123456789012:role/reader, or several separated by commas.
        """
        return self._with_of("roleArn", stream, value, str, Sequence)

    def role_external_id_of(self, stream: str, value: str | None) -> Self:
        """External id for the role of one of several streams: `role_external_id_of("orders", …)`.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_of("roleExternalId", stream, value, str)

    def metadata_service(self, value: str | None) -> Self:
        """Service that names the physical streams of a logical stream: `file:` and a path of any file system of
        Spark, an `https://` address, or `class:` and the name of a
        `java.util.function.Function<Collection<String>, String>` from ids to the text of the document, with a
        constructor without parameters.

        Takes file: and a path, an https:// address (http:// for loopback addresses only), or class: and the name
        of a class.

        Default: required with `stream_id` and `stream_id_pattern`.

        Applies with a logical stream.
        """
        return self._with_kind("metadataService", value, str)

    def metadata_token(self, value: str | None) -> Self:
        """Bearer token for the requests to an `https://` metadata service.

        Takes a bearer token, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or
        class:NAME of a java.util.function.Supplier<String>.

        Default: no authentication.

        Applies with a logical stream.
        """
        return self._with_kind("metadataToken", value, str)

    def metadata_refresh_interval(self, value: str | int | timedelta | None) -> Self:
        """Time between two requests to the metadata service, or two listings of the names for `stream_pattern`,
        which varies by up to 10 %.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d.

        Default: ``60s``.

        Query type: streaming. Applies with a pattern or a logical stream.
        """
        return self._with_kind("metadataRefreshInterval", value, str, int, timedelta)

    def metadata_start_timeout(self, value: str | int | timedelta | None) -> Self:
        """Time for which the first start of a query waits for the metadata service, or for the streams of
        `stream_pattern`. A query with a checkpoint does not wait.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1h.

        Default: ``30s``.

        Applies with a pattern or a logical stream.
        """
        return self._with_kind("metadataStartTimeout", value, str, int, timedelta)

    def metadata_max_age(self, value: str | int | timedelta | None) -> Self:
        """Maximum age of the last valid answer of the metadata service, or of the last listing of the streams of
        `stream_pattern`. An older one fails the query.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 365d.

        Default: no maximum: an outage of the metadata service never fails a running query.

        Query type: streaming. Applies with a pattern or a logical stream.
        """
        return self._with_kind("metadataMaxAge", value, str, int, timedelta)

    def metadata_allow_rollback(self, value: bool | None) -> Self:
        """Accept a document with a lower version than the last one.

        Takes true or false.

        Default: ``false``.

        Query type: streaming. Applies with a logical stream.
        """
        return self._with_kind("metadataAllowRollback", value, bool)

    def metadata_allowed_accounts(self, value: str | Sequence[str] | None) -> Self:
        """Accounts of the streams that the metadata service may name. The accounts of `role_arn` and
        `metadata_allowed_roles` are added.

        Takes an account id of 12 digits, or several separated by commas.

        Default: the account of the query's own credentials.

        Applies with a logical stream.
        """
        return self._with_kind("metadataAllowedAccounts", value, str, Sequence)

    def metadata_allowed_regions(self, value: str | Sequence[str] | None) -> Self:
        """Regions of the streams that the metadata service may name.

        Takes the name of an AWS region, or several separated by commas.

        Default: any region.

        Applies with a logical stream.
        """
        return self._with_kind("metadataAllowedRegions", value, str, Sequence)

    def metadata_allowed_roles(self, value: str | Sequence[str] | None) -> Self:
        """Roles that the metadata service may name. `*` stands for any text.

        Takes the ARN of a role, in which `*` stands for any text, or several separated by commas.

        Default: none.

        Applies with a logical stream.
        """
        return self._with_kind("metadataAllowedRoles", value, str, Sequence)

    def metadata_allowed_endpoints(self, value: str | Sequence[str] | None) -> Self:
        """Endpoints that the metadata service may name, in addition to the endpoint of the region and to
        `endpoint`. `*` stands for any text.

        Takes an address such as https://vpce-0a1b.kinesis.eu-central-1.vpce.amazonaws.com, or several separated
        by commas.

        Default: none.

        Applies with a logical stream.
        """
        return self._with_kind("metadataAllowedEndpoints", value, str, Sequence)

    def on_forbidden(self, value: Literal["skip", "fail"] | None) -> Self:
        """What happens when the metadata service names a stream that is not allowed: `skip` logs and counts it,
        `fail` fails the query.

        Takes one of 'skip', 'fail'.

        Default: ``skip``.

        Applies with a logical stream.
        """
        return self._with_kind("onForbidden", value, str)

    def retry_recoverable_errors(self, value: str | Sequence[str] | None) -> Self:
        """Failures to treat as temporary, in addition to throttling, failures within the service and lost
        connections: error codes of the service, or names of exception classes.

        Takes error codes such as KMSDisabledException, or names of exception classes, separated by commas.

        Default: none.
        """
        return self._with_kind("retry.recoverableErrors", value, str, Sequence)


class SourceMethods(ConnectionMethods):
    """Methods: reading."""

    def stream_name(self, value: str | Sequence[str] | None) -> Self:
        """Name of the stream. A read accepts several names, separated by commas.

        Takes a stream name of 1 to 128 characters a-z, A-Z, 0-9, '_', '.', '-', or several separated by commas.

        Default: one of `stream_name`, `stream_arn` is required.
        """
        return self._with_kind("streamName", value, str, Sequence)

    def stream_arn(self, value: str | Sequence[str] | None) -> Self:
        """ARN of the stream, which determines region and account. A read accepts several ARNs, separated by commas.

        Takes a stream ARN such as arn:aws:kinesis:eu-central-1:123456789012:stream/orders, or several separated
        by commas.
        """
        return self._with_kind("streamARN", value, str, Sequence)

    def stream_id(self, value: str | Sequence[str] | None) -> Self:
        """Id of the logical stream, whose physical streams `metadata_service` names. A read accepts several ids,
        separated by commas, and so does a write whose rows have a column `stream_id`.

        Takes the id of a logical stream, or several separated by commas.
        """
        return self._with_kind("streamId", value, str, Sequence)

    def stream_pattern(self, value: str | None) -> Self:
        """Regular expression for the names of the streams of the account and region, for reads only. A streaming
        query lists the names again every `metadata_refresh_interval`: streams that match later join, and deleted
        ones leave.

        Takes a regular expression of java.util.regex.
        """
        return self._with_kind("streamPattern", value, str)

    def initial_position(self, value: str | int | datetime | Mapping[str, Any] | None) -> Self:
        """Start position of a query without a checkpoint, and of streams that are added to `stream_name` or
        `stream_arn` when a query restarts: `latest`, `trim_horizon` (or `earliest`), a time, a time before the
        first start, or a JSON object with a position for each shard or for each stream. A time without a zone is
        in the session's time zone.

        Takes latest, trim_horizon (or earliest), a time such as 2026-11-20T12:00:00Z or '2026-11-20 12:00' (in
        the session's time zone), a time before the first start such as '1 hour ago' or -PT1H, epoch
        milliseconds, {"at_timestamp": "…", "format": "…"}, or a JSON object with a position for each shard or
        stream, such as {"shardId-000000000000": {"after_sequence_number": "…"}, "*": "trim_horizon"} or
        {"orders": "latest", "clicks": "1 hour ago", "*": "trim_horizon"}.

        Default: `latest` for streams, `trim_horizon` for batch.
        """
        return self._with_kind("initialPosition", value, str, int, datetime, Mapping)

    def ending_position(self, value: str | int | datetime | Mapping[str, Any] | None) -> Self:
        """End position of a batch read: `latest` (the records that are in the stream when the query starts), a
        time, or a JSON object with a position for each shard or for each stream, as in `initial_position`. A
        record at the position is the last one that is read.

        Takes latest, trim_horizon (or earliest), a time such as 2026-11-20T12:00:00Z or '2026-11-20 12:00' (in
        the session's time zone), a time before the first start such as '1 hour ago' or -PT1H, epoch
        milliseconds, {"at_timestamp": "…", "format": "…"}, or a JSON object with a position for each shard or
        stream, such as {"shardId-000000000000": {"after_sequence_number": "…"}, "*": "trim_horizon"} or
        {"orders": "latest", "clicks": "1 hour ago", "*": "trim_horizon"}.

        Default: ``latest``.

        Query type: batch.
        """
        return self._with_kind("endingPosition", value, str, int, datetime, Mapping)

    def consumer_mode(self, value: Literal["polling", "efo"] | None) -> Self:
        """How records are fetched: `polling` calls GetRecords and shares 2 MiB/s per shard with other readers;
        `efo` (enhanced fan-out) has 2 MiB/s per shard for this consumer, and the service pushes the records.

        Takes one of 'polling', 'efo'.

        Default: ``polling``.

        Query type: streaming.
        """
        return self._with_kind("consumerMode", value, str)

    def consumer_name(self, value: str | None) -> Self:
        """Name of the enhanced fan-out consumer to register or reuse. No other query may use it at the same time.

        Takes 1 to 128 characters of a-z, A-Z, 0-9, '_', '.', '-'.

        Default: the id of the query, which its checkpoint keeps.

        Query type: streaming. Applies with `consumer_mode="efo"`, `registration="lazy"`.
        """
        return self._with_kind("consumerName", value, str)

    def consumer_name_prefix(self, value: str | None) -> Self:
        """Text before `consumer_name` in the name of the enhanced fan-out consumer, for example for a policy of IAM
        that allows names by their beginning.

        Takes 1 to 64 characters of a-z, A-Z, 0-9, '_', '.', '-'.

        Default: none.

        Query type: streaming. Applies with `consumer_mode="efo"`, `registration="lazy"`.
        """
        return self._with_kind("consumerNamePrefix", value, str)

    def consumer_arn(self, value: str | None) -> Self:
        """ARN of an existing enhanced fan-out consumer. Set it with `registration="none"`.

        Takes the ARN of a stream consumer.

        Query type: streaming. Applies with `consumer_mode="efo"`.
        """
        return self._with_kind("consumerARN", value, str)

    def consumer_arn_of(self, stream: str, value: str | None) -> Self:
        """ARN of the consumer for one of several streams: `consumer_arn_of("orders", …)` for stream `orders`.

        Takes the ARN of a stream consumer.

        Query type: streaming. Applies with `consumer_mode="efo"`.
        """
        return self._with_of("consumerARN", stream, value, str)

    def registration(self, value: Literal["lazy", "none"] | None) -> Self:
        """Whether enhanced fan-out consumers are registered: `lazy` registers a consumer when the query starts,
        unless it exists; `none` never registers one, and every stream needs a `consumer_arn`.

        Takes one of 'lazy', 'none'.

        Default: ``lazy``.

        Query type: streaming. Applies with `consumer_mode="efo"`.
        """
        return self._with_kind("registration", value, str)

    def require_consumer_deregistration(self, value: bool | None) -> Self:
        """Deregister the consumers that this query registered when it stops.

        Takes true or false.

        Default: ``true``.

        Query type: streaming.
        """
        return self._with_kind("requireConsumerDeregistration", value, bool)

    def max_records_per_trigger(self, value: int | None) -> Self:
        """Maximum number of rows per micro-batch, with a fair share for each shard.

        Takes a whole number of at least 1.

        Default: no limit.

        Query type: streaming, not real-time, not `Trigger.Once`.
        """
        return self._with_kind("maxRecordsPerTrigger", value, int)

    def max_bytes_per_trigger(self, value: str | int | None) -> Self:
        """Maximum number of bytes (payloads and keys) per micro-batch.

        Takes a size such as 64m, at least 1.

        Default: no limit.

        Query type: streaming, not real-time, not `Trigger.Once`.
        """
        return self._with_kind("maxBytesPerTrigger", value, str, int)

    def min_records_per_trigger(self, value: int | None) -> Self:
        """Minimum number of rows per micro-batch. A batch waits until this many rows have been fetched,
        `max_trigger_delay` has passed, or the prefetch buffer is full.

        Takes a whole number of at least 1.

        Default: no minimum.

        Query type: streaming with a processing-time trigger.
        """
        return self._with_kind("minRecordsPerTrigger", value, int)

    def max_trigger_delay(self, value: str | int | timedelta | None) -> Self:
        """Maximum time that a batch waits for `min_records_per_trigger`.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 365d.

        Default: ``15m``.

        Query type: streaming with a processing-time trigger. Applies with `min_records_per_trigger`.
        """
        return self._with_kind("maxTriggerDelay", value, str, int, timedelta)

    def align_shards(self, value: str | int | timedelta | None) -> Self:
        """Maximum time between the arrival of the oldest record, of any shard, that a micro-batch leaves to later
        batches and of the newest record that it takes. Shards that are ahead wait, so that a watermark does not
        drop the rows of a shard that is behind. `Trigger.Once` ignores it.

        Takes a duration such as 250ms, 10s or 15m, from 4ms to 365d.

        Default: shards are read independently.

        Query type: streaming, not real-time, not `Trigger.Once`.
        """
        return self._with_kind("alignShards", value, str, int, timedelta)

    def max_records_per_fetch(self, value: int | None) -> Self:
        """Maximum number of records per GetRecords call.

        Takes a whole number from 1 to 10000.

        Default: ``10000``.
        """
        return self._with_kind("maxRecordsPerFetch", value, int)

    def min_fetch_period(self, value: str | int | timedelta | None) -> Self:
        """Time between two GetRecords calls of a shard that has no more records to read.

        Takes a duration such as 250ms, 10s or 15m, from 0ms to 1h.

        Default: ``250ms``.
        """
        return self._with_kind("minFetchPeriod", value, str, int, timedelta)

    def max_fetches_per_second(self, value: float | None) -> Self:
        """Maximum number of GetRecords calls per second and shard while there are more records to read. The quota
        of the service is 5, shared by all readers of a shard; only an emulator accepts more.

        Takes a number from 0.01 to 100000.0.

        Default: ``5``.
        """
        return self._with_kind("maxFetchesPerSecond", value, float)

    def fetch_buffer_size(self, value: str | int | None) -> Self:
        """Memory for the fetched records of this read in each executor, at most 50 % of its heap.

        Takes a size such as 64m, from 1m to 1024g.

        Default: 25 % of the executor's heap, at most 512m, shared by all reads without a size of their own: half
        of it equally, the rest by need.

        Query type: streaming.
        """
        return self._with_kind("fetchBufferSize", value, str, int)

    def fetch_disk_size(self, value: str | int | None) -> Self:
        """Maximum size of the local files of this read in each executor, in `spark.local.dir`. They contain the
        records that are fetched while `fetch_buffer_size` is full, until a batch has read them. At most half of
        the free space is used. With 0, no record is written to a disk, and fetching waits while the buffer is
        full.

        Takes a size such as 64m, from 0 to 1024g.

        Default: ``32g``.

        Query type: streaming, not real-time.
        """
        return self._with_kind("fetchDiskSize", value, str, int)

    def shard_fetch_interval(self, value: str | int | timedelta | None) -> Self:
        """Time between two listings of the shards. A reshard is detected at once, by the end of its parent shards.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1h.

        Default: ``10s``.

        Query type: streaming, not real-time.
        """
        return self._with_kind("shardFetchInterval", value, str, int, timedelta)

    def shards_per_task(self, value: int | None) -> Self:
        """Number of shards that one task reads.

        Takes a whole number from 1 to 100000.

        Default: enough to spread the shards over all cores.
        """
        return self._with_kind("shardsPerTask", value, int)

    def end_batch_early(self, value: bool | None) -> Self:
        """In real-time mode, end a batch before its time when a child shard waits for parents that several tasks
        have finished. With `false`, the child waits for the end of the batch. Set `false` if the query has a
        real-time source of another kind, because Spark waits for its tasks.

        Takes true or false.

        Default: ``true``.

        Query type: real-time.
        """
        return self._with_kind("endBatchEarly", value, bool)

    def fail_on_data_loss(self, value: bool | None) -> Self:
        """Fail the query when records may be lost: a position is older than the retention, a shard expired before
        it was read or is missing from the listing, or the stream was recreated. With `false`, log a warning and
        continue with the oldest record.

        Takes true or false.

        Default: ``true``.
        """
        return self._with_kind("failOnDataLoss", value, bool)

    def deaggregation(self, value: bool | None) -> Self:
        """Unpack KPL aggregates into the records of the user.

        Takes true or false.

        Default: ``true``.
        """
        return self._with_kind("deaggregation", value, bool)

    def deaggregation_hash_range_filter(self, value: bool | None) -> Self:
        """Drop and count the records of an aggregate whose hash key is outside the range of their shard. KCL drops
        the whole aggregate.

        Takes true or false.

        Default: ``false``.

        Applies with `deaggregation=True`.
        """
        return self._with_kind("deaggregation.hashRangeFilter", value, bool)

    def partition_key_pruning(self, value: bool | None) -> Self:
        """Read only the shards that the MD5 hashes of the partition keys in a filter select. Set it only if no
        producer of the stream sets explicit hash keys or aggregates records, because such records may be in
        other shards.

        Takes true or false.

        Default: ``false``.

        Query type: batch.
        """
        return self._with_kind("partitionKeyPruning", value, bool)

    def stream_id_pattern(self, value: str | None) -> Self:
        """Regular expression for the ids of logical streams, for reads only.

        Takes a regular expression of java.util.regex.
        """
        return self._with_kind("streamIdPattern", value, str)

    def new_stream_position(self, value: str | datetime | Mapping[str, Any] | None) -> Self:
        """Position from which a running query reads a stream that is added, unless the metadata service names one,
        and a stream that is created later and matches `stream_pattern`.

        Takes latest, trim_horizon (or earliest), an ISO-8601 instant, {"at_timestamp": "…", "format": "…"}, or a
        JSON object with a position for each shard, such as {"shardId-000000000000": {"after_sequence_number":
        "…"}, "*": "trim_horizon"}.

        Default: ``trim_horizon``.

        Query type: streaming. Applies with a pattern or a logical stream.
        """
        return self._with_kind("newStreamPosition", value, str, datetime, Mapping)

    def on_stream_removed(self, value: Literal["drain", "park", "fail"] | None) -> Self:
        """What happens when the metadata service does not name a stream any more: `drain` reads the records that it
        has, `park` stops at once and keeps the position, `fail` fails the query.

        Takes one of 'drain', 'park', 'fail'.

        Default: ``drain``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with_kind("onStreamRemoved", value, str)

    def drain_grace(self, value: str | int | timedelta | None) -> Self:
        """Time for which a removed stream is still read, for writers that do not know of the removal yet.

        Takes a duration such as 250ms, 10s or 15m, from 0ms to 7d.

        Default: ``10m``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with_kind("drainGrace", value, str, int, timedelta)

    def drain_timeout(self, value: str | int | timedelta | None) -> Self:
        """Maximum time for which a removed stream is drained. After it the stream is parked with a warning, and
        read on from there if it comes back.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 365d.

        Default: ``1h``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with_kind("drainTimeout", value, str, int, timedelta)

    def removed_stream_retention(self, value: str | int | timedelta | None) -> Self:
        """Time for which the position of a parked stream is kept.

        Takes a duration such as 250ms, 10s or 15m, from 1m to 3650d.

        Default: ``7d``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with_kind("removedStreamRetention", value, str, int, timedelta)

    def removal_confirmations(self, value: int | None) -> Self:
        """Number of answers in a row that must lack a stream before it counts as removed.

        Takes a whole number from 1 to 1000.

        Default: ``2``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with_kind("removalConfirmations", value, int)

    def retry(
        self,
        operation: RetriedBySource,
        *,
        max_retries: int | None = None,
        backoff_base: str | int | timedelta | None = None,
        backoff_max: str | int | timedelta | None = None,
        backoff_exponent: float | None = None,
    ) -> Self:
        """Set how the calls of an operation are repeated. Parameters that are None stay as they are.

        `max_retries` is the maximum number of retries; -1 means no limit. The pause before a retry is random:
        `backoff_base` is the upper bound of the first pause, `backoff_exponent` the factor by which the bound
        grows with each retry, and `backoff_max` the upper bound of every pause.

        Defaults of max_retries, backoff_base, backoff_max and backoff_exponent:

        - ``DescribeStreamSummary``: 5, 200ms, 2s, 1.5
        - ``ListShards``: -1, 200ms, 3s, 1.5
        - ``ListStreams``: 5, 200ms, 2s, 1.5
        - ``RegisterStreamConsumer``: 10, 200ms, 1s, 1.5
        - ``DeregisterStreamConsumer``: 10, 200ms, 1s, 1.5
        - ``ListStreamConsumers``: 10, 200ms, 1s, 1.5
        - ``SubscribeToShard``: -1, 1s, 2s, 1.5
        - ``GetRecords``: -1, 200ms, 3s, 1.5
        - ``GetShardIterator``: -1, 200ms, 3s, 1.5
        """
        return self._with_retry(
            operation, RetriedBySource, max_retries, backoff_base, backoff_max, backoff_exponent
        )


class SinkMethods(ConnectionMethods):
    """Methods: writing."""

    def stream_name(self, value: str | None) -> Self:
        """Name of the stream.

        Takes a stream name of 1 to 128 characters a-z, A-Z, 0-9, '_', '.', '-'.

        Default: one of `stream_name`, `stream_arn` is required.
        """
        return self._with_one("streamName", value)

    def stream_arn(self, value: str | None) -> Self:
        """ARN of the stream, which determines region and account.

        Takes a stream ARN such as arn:aws:kinesis:eu-central-1:123456789012:stream/orders.
        """
        return self._with_one("streamARN", value)

    def stream_id(self, value: str | Sequence[str] | None) -> Self:
        """Id of the logical stream, whose physical streams `metadata_service` names. A read accepts several ids,
        separated by commas, and so does a write whose rows have a column `stream_id`.

        Takes the id of a logical stream, or several separated by commas.
        """
        return self._with_kind("streamId", value, str, Sequence)

    def partition_key(self, value: str | None) -> Self:
        """Source of the partition key: `random`, `hash(column, …)`, or the name of a column. It takes precedence
        over a column `partition_key`.

        Takes a string.

        Default: column `partition_key`.
        """
        return self._with_kind("partitionKey", value, str)

    def stream_column(self, value: str | None) -> Self:
        """Column with the name or the ARN of the stream that a row goes to. A row where it is null goes to the
        stream of `stream_name` or `stream_arn`.

        Takes a string.

        Default: column `stream` if neither `stream_name` nor `stream_arn` is set, otherwise none.
        """
        return self._with_kind("streamColumn", value, str)

    def router(self, value: str | None) -> Self:
        """How records are distributed over the active physical streams of `stream_id`: `roundRobin` fills a request
        for one stream, then for the next one, by their weights; `hash` writes all records of a partition key to
        one stream; `priority` writes to the streams with the highest priority. `class:` and the name of a
        `RecordRouter` of the connector, or of a `java.util.function.BiFunction<String, List<String>, String>`
        that gets a partition key and the ARNs, returns the ARN for each record.

        Takes roundRobin, hash, priority, or class: and the name of a class.

        Default: ``roundRobin``.

        Applies with a logical stream.
        """
        return self._with_kind("router", value, str)

    def metadata_cache(self, value: str | None) -> Self:
        """Directory for the last metadata document of `stream_id`, with which a write starts while the metadata
        service is unavailable.

        Takes a string.

        Default: the checkpoint of the query; none for batch writes.

        Applies with a logical stream.
        """
        return self._with_kind("metadataCache", value, str)

    def max_batch_size(self, value: int | None) -> Self:
        """Maximum number of records per request.

        Takes a whole number from 1 to 500.

        Default: ``500``.
        """
        return self._with_kind("maxBatchSize", value, int)

    def max_batch_bytes(self, value: str | int | None) -> Self:
        """Maximum number of bytes (payloads and keys) per request.

        Takes a size such as 64m, from 1k to 10m.

        Default: ``10m``.
        """
        return self._with_kind("maxBatchBytes", value, str, int)

    def max_time_in_buffer(self, value: str | int | timedelta | None) -> Self:
        """Maximum time that a record waits for its request to fill.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.
        """
        return self._with_kind("maxTimeInBuffer", value, str, int, timedelta)

    def send_when_idle(self, value: bool | None) -> Self:
        """Send a record at once when the task has no request in flight to its stream. Records that are written
        meanwhile form the next request. Use it in real-time mode. In other modes it only makes requests smaller.

        Takes true or false.

        Default: ``false``.
        """
        return self._with_kind("sendWhenIdle", value, bool)

    def max_in_flight_requests(self, value: int | None) -> Self:
        """Maximum number of concurrent requests of a task to one stream.

        Takes a whole number from 1 to 10000.

        Default: ``50``.
        """
        return self._with_kind("maxInFlightRequests", value, int)

    def max_buffered_records(self, value: int | None) -> Self:
        """Maximum number of records that a task holds for all of its streams, including sent records without an
        answer. At this limit the task waits. With `aggregation`, `max_buffered_bytes` alone determines it.

        Takes a whole number from 1 to 100000000.

        Default: ``10000``.

        Applies with `aggregation=False`.
        """
        return self._with_kind("maxBufferedRecords", value, int)

    def max_buffered_bytes(self, value: str | int | None) -> Self:
        """Maximum number of bytes of records that a task holds for all of its streams. At this limit the task
        waits. The memory of a task is at most a multiple of it.

        Takes a size such as 64m, from 1k to 1024g.

        Default: ``64m``.
        """
        return self._with_kind("maxBufferedBytes", value, str, int)

    def rate_limiting(self, value: str | None) -> Self:
        """How the sink adapts its rate to what the stream accepts: `aimd`, `batchAndDelay`, `none`, or the name of
        a class that extends `org.sparkkinesis.sink.limit.RateLimitingStrategy`.

        Takes aimd, batchAndDelay, none, or the name of a class.

        Default: ``aimd``.
        """
        return self._with_kind("rateLimiting", value, str)

    def shard_limits(self, value: bool | None) -> Self:
        """Limit the rate of each shard separately, so that a hot shard delays only its own records. This requires
        the permission kinesis:ListShards.

        Takes true or false.

        Default: ``true``.
        """
        return self._with_kind("shardLimits", value, bool)

    def ordering(self, value: Literal["none", "bestEffort", "key"] | None) -> Self:
        """Order of the records. With `key`, no record overtakes an earlier record with the same partition key. With
        `bestEffort`, the records of a key are in one request at a time, so that they keep their order unless one
        of them is refused.

        Takes one of 'none', 'bestEffort', 'key'.

        Default: ``none``.
        """
        return self._with_kind("ordering", value, str)

    def distribute_by_key(self, value: bool | None) -> Self:
        """Let Spark bring all rows of a partition key into one task. Without it, rows of a key that are in several
        tasks have no order.

        Takes true or false.

        Default: `true` with `ordering="key"`, otherwise `false`.
        """
        return self._with_kind("distributeByKey", value, bool)

    def order_by(self, value: str | Sequence[str] | None) -> Self:
        """Columns by which each task sorts its rows, with `ordering` set to `key` or `bestEffort`. They may be
        columns that are not written.

        Takes names of columns, separated by commas, each with asc or desc after it if needed.

        Default: the order in which the rows arrive.
        """
        return self._with_kind("orderBy", value, str, Sequence)

    def aggregation(self, value: bool | None) -> Self:
        """Pack many small records into one, in the format of the Kinesis Producer Library.

        Takes true or false.

        Default: ``false``.
        """
        return self._with_kind("aggregation", value, bool)

    def on_invalid_record(self, value: Literal["fail", "deadLetter", "drop"] | None) -> Self:
        """What happens to a row that cannot become a record because of its size or key: `fail` fails the task;
        `deadLetter` writes the row and the reason to `dead_letter_stream` or `dead_letter_table`; `drop` drops
        and counts it.

        Takes one of 'fail', 'deadLetter', 'drop'.

        Default: ``fail``.
        """
        return self._with_kind("onInvalidRecord", value, str)

    def dead_letter_stream(self, value: str | None) -> Self:
        """Stream for invalid rows, with `on_invalid_record="deadLetter"`.

        Takes the name or the ARN of a stream.

        Applies with `on_invalid_record="deadLetter"`.
        """
        return self._with_kind("deadLetterStream", value, str)

    def dead_letter_table(self, value: str | None) -> Self:
        """Table for invalid rows, with `on_invalid_record="deadLetter"`. The rows are appended when their batch is
        committed. The guide to writing has the columns of the table.

        Takes a string.

        Applies with `on_invalid_record="deadLetter"`.
        """
        return self._with_kind("deadLetterTable", value, str)

    def delivery_timeout(self, value: str | int | timedelta | None) -> Self:
        """Maximum time for which a record waits while its stream accepts no record at all. After that, the task
        fails. A stream that accepts records slowly does not fail a task. With `infinite`, the task waits until
        the service accepts the record.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d, or infinite.

        Default: ``10m``.
        """
        return self._with_kind("deliveryTimeout", value, str, int, timedelta)

    def rate_limiting_aimd_increase(self, value: int | None) -> Self:
        """Number of records in flight by which `aimd` increases its limit after a successful request.

        Takes a whole number from 1 to 1000000.

        Default: ``10``.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.increase", value, int)

    def rate_limiting_aimd_decrease(self, value: float | None) -> Self:
        """Factor by which `aimd` reduces its limit after a request with throttled or failed records.

        Takes a number from 0.01 to 0.9999.

        Default: ``0.99``.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.decrease", value, float)

    def rate_limiting_aimd_min(self, value: int | None) -> Self:
        """Minimum of the limit of `aimd`: records in flight per executor and stream.

        Takes a whole number from 1 to 100000000.

        Default: ``1``.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.min", value, int)

    def rate_limiting_aimd_max(self, value: int | None) -> Self:
        """Maximum of the limit of `aimd`.

        Takes a whole number from 1 to 100000000.

        Default: `max_batch_size` × `max_in_flight_requests`.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.max", value, int)

    def rate_limiting_batch_and_delay_min_delay(self, value: str | int | timedelta | None) -> Self:
        """First pause of `batchAndDelay` between two requests of a task, after throttling. A request then contains
        what the shards accept in this time, divided by the number of tasks.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1m.

        Default: ``100ms``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.minDelay", value, str, int, timedelta)

    def rate_limiting_batch_and_delay_max_delay(self, value: str | int | timedelta | None) -> Self:
        """Maximum pause of `batchAndDelay`.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``10s``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.maxDelay", value, str, int, timedelta)

    def rate_limiting_batch_and_delay_growth(self, value: float | None) -> Self:
        """Factor by which the pause of `batchAndDelay` grows while records are throttled.

        Takes a number from 1.01 to 100.0.

        Default: ``1.25``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.growth", value, float)

    def rate_limiting_batch_and_delay_recovery(self, value: float | None) -> Self:
        """Increase of the rate of `batchAndDelay` per second without throttling, as a part of the rate with
        `rate_limiting_batch_and_delay_min_delay`.

        Takes a number from 0.001 to 10.0.

        Default: ``0.1``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.recovery", value, float)

    def rate_limiting_batch_and_delay_quiet_time(self, value: str | int | timedelta | None) -> Self:
        """Time without throttling after which `batchAndDelay` no longer pauses.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d.

        Default: ``30s``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.quietTime", value, str, int, timedelta)

    def rate_limiting_param_of(self, name: str, value: str | None) -> Self:
        """Parameter for the class that `rate_limiting` names, which reads it with `RateLimitingContext.parameter`.
        Do not use it for secrets.

        Takes a string.

        Applies with `rate_limiting=<name of a class>`.
        """
        return self._with_of("rateLimiting.param", name, value, str)

    def retry(
        self,
        operation: RetriedBySink,
        *,
        max_retries: int | None = None,
        backoff_base: str | int | timedelta | None = None,
        backoff_max: str | int | timedelta | None = None,
        backoff_exponent: float | None = None,
    ) -> Self:
        """Set how the calls of an operation are repeated. Parameters that are None stay as they are.

        `max_retries` is the maximum number of retries; -1 means no limit. The pause before a retry is random:
        `backoff_base` is the upper bound of the first pause, `backoff_exponent` the factor by which the bound
        grows with each retry, and `backoff_max` the upper bound of every pause.

        Defaults of max_retries, backoff_base, backoff_max and backoff_exponent:

        - ``DescribeStreamSummary``: -1, 200ms, 2s, 1.5
        - ``ListShards``: -1, 200ms, 3s, 1.5
        - ``PutRecords``: -1, 50ms, 5s, 2
        """
        return self._with_retry(
            operation, RetriedBySink, max_retries, backoff_base, backoff_max, backoff_exponent
        )


class FirehoseMethods(Builder):
    """Methods: writing to Amazon Data Firehose."""

    _of_streams = frozenset(
        {
            "consumerarn.",
            "endpoint.",
            "region.",
            "rolearn.",
            "roleexternalid.",
        }
    )

    def delivery_stream_name(self, value: str | None) -> Self:
        """Name of the delivery stream, which must have Direct PUT as its source.

        Takes the name of a delivery stream: 1 to 64 characters a-z, A-Z, 0-9, '_', '.', '-'.

        Default: required.
        """
        return self._with_kind("deliveryStreamName", value, str)

    def region(self, value: str | None) -> Self:
        """AWS region of the delivery stream.

        Takes the name of an AWS region such as eu-central-1.

        Default: the region of the AWS default chain.
        """
        return self._with_kind("region", value, str)

    def endpoint(self, value: str | None) -> Self:
        """Address of the service. Plain `http` is accepted for loopback addresses only, unless
        `allow_insecure_endpoint` is set.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.
        """
        return self._with_kind("endpoint", value, str)

    def allow_insecure_endpoint(self, value: bool | None) -> Self:
        """Accept an `http` endpoint that is not a loopback address. Records and request signatures are then sent
        without encryption.

        Takes true or false.

        Default: ``false``.

        Applies with `endpoint` or `endpoint_of` or `sts_endpoint` or `metadata_service`.
        """
        return self._with_kind("allowInsecureEndpoint", value, bool)

    def aws_access_key(self, value: str | None) -> Self:
        """Access key id of static credentials. It requires `aws_secret_key`.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.

        Default: the AWS default provider chain.
        """
        return self._with_kind("awsAccessKey", value, str)

    def aws_secret_key(self, value: str | None) -> Self:
        """Secret key of static credentials. It requires `aws_access_key`.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("awsSecretKey", value, str)

    def session_token(self, value: str | None) -> Self:
        """Session token of temporary static credentials.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("sessionToken", value, str)

    def profile(self, value: str | None) -> Self:
        """Profile in the shared AWS configuration files. Every executor must have these files.

        Takes a string.
        """
        return self._with_kind("profile", value, str)

    def role_arn(self, value: str | Sequence[str] | None) -> Self:
        """ARN of the role to assume with the other credentials. Of several roles, each is assumed with the
        credentials of the one before it, and `role_external_id` is for the last one.

        Takes the ARN of a role such as arn:aws:iam::123456789012:role/reader, or several separated by commas.
        """
        return self._with_kind("roleArn", value, str, Sequence)

    def role_external_id(self, value: str | None) -> Self:
        """External id that the trust policy of the role requires.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.

        Applies with `role_arn` or `role_arn_of`.
        """
        return self._with_kind("roleExternalId", value, str)

    def role_session_name(self, value: str | None) -> Self:
        """Session name of the assumed role. CloudTrail shows it with each call.

        Takes 2 to 64 characters of a-z, A-Z, 0-9 and _+=,.@-.

        Default: `spark-kinesis-` and the id of the Spark application.

        Applies with `role_arn` or `role_arn_of` or `metadata_allowed_roles`.
        """
        return self._with_kind("roleSessionName", value, str)

    def sts_endpoint(self, value: str | None) -> Self:
        """Address of the Security Token Service that assumes the role. Plain `http` is accepted as for `endpoint`.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.

        Applies with `role_arn` or `role_arn_of` or `metadata_allowed_roles`.
        """
        return self._with_kind("stsEndpoint", value, str)

    def credentials_provider(self, value: str | None) -> Self:
        """Class that provides credentials: a `java.util.function.Supplier<Map<String, String>>` with a constructor
        without parameters. The map has `accessKeyId`, `secretAccessKey` and, for temporary credentials,
        `session_token`. A class with options of its own is a `java.util.function.Function` from the map of its
        options to this map.

        Takes the name of a class.
        """
        return self._with_kind("credentialsProvider", value, str)

    def credentials_provider_of(self, name: str, value: str | None) -> Self:
        """Option of the class that `credentials_provider` names: `credentials_provider_of("path", …)` is `path` in
        the map that the class gets. The map ignores the case of names.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.

        Applies with `credentials_provider`.
        """
        return self._with_of("credentialsProvider", name, value, str)

    def proxy(self, value: str | None) -> Self:
        """HTTP proxy of all calls, also of those to loopback addresses; `none` for no proxy. Environment variables
        and system properties for proxies then have no effect.

        Takes the address of an HTTP proxy such as http://proxy.example.com:3128, or none.

        Default: `https.proxyHost`, then `HTTPS_PROXY`, of the process that makes the call.
        """
        return self._with_kind("proxy", value, str)

    def proxy_user(self, value: str | None) -> Self:
        """User name for the proxy (Basic authentication). It replaces the user name and password of a proxy from
        the environment.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("proxyUser", value, str)

    def proxy_password(self, value: str | None) -> Self:
        """Password for the proxy. It requires `proxy_user`.

        Takes a string, or a reference: env:NAME of a variable, file:PATH, conf:spark.some.key, or class:NAME of
        a java.util.function.Supplier<String>.
        """
        return self._with_kind("proxyPassword", value, str)

    def non_proxy_hosts(self, value: str | None) -> Self:
        """Hosts that are reached without the proxy, in the form of `NO_PROXY`: a domain and all names below it, an
        address, a network as `10.0.0.0/8`, `*` for any text, each with or without a port.

        Takes hosts separated by commas, such as .internal.example.com,10.0.0.0/8,127.0.0.1:4567.

        Default: `http.nonProxyHosts` or `NO_PROXY`; none with `proxy`.
        """
        return self._with_kind("nonProxyHosts", value, str)

    def max_connections(self, value: int | None) -> Self:
        """Maximum number of connections of a client for requests. Tasks and queries of one process share a client
        if their options for stream, credentials and network are equal. Enhanced fan-out has further connections.

        Takes a whole number from 1 to 100000.

        Default: ``256``.
        """
        return self._with_kind("maxConnections", value, int)

    def connect_timeout(self, value: str | int | timedelta | None) -> Self:
        """Maximum duration of opening a connection.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 5m.

        Default: ``5s``.
        """
        return self._with_kind("connectTimeout", value, str, int, timedelta)

    def request_timeout(self, value: str | int | timedelta | None) -> Self:
        """Maximum duration of a request. After that, the request is sent again.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 10m.

        Default: ``30s``.
        """
        return self._with_kind("requestTimeout", value, str, int, timedelta)

    def ca_file(self, value: str | None) -> Self:
        """PEM file with the certificates of the authorities that may sign for services and proxies, for example of
        a proxy that decrypts TLS. The driver and every executor must have it.

        Takes a string.

        Default: `AWS_CA_BUNDLE`, else the authorities that the JVM trusts.
        """
        return self._with_kind("caFile", value, str)

    def max_batch_size(self, value: int | None) -> Self:
        """Maximum number of records per request.

        Takes a whole number from 1 to 500.

        Default: ``500``.
        """
        return self._with_kind("maxBatchSize", value, int)

    def max_batch_bytes(self, value: str | int | None) -> Self:
        """Maximum number of bytes per request, before base64 encoding.

        Takes a size such as 64m, from 1k to 4m.

        Default: ``4m``.
        """
        return self._with_kind("maxBatchBytes", value, str, int)

    def max_time_in_buffer(self, value: str | int | timedelta | None) -> Self:
        """Maximum time that a record waits for its request to fill.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.
        """
        return self._with_kind("maxTimeInBuffer", value, str, int, timedelta)

    def send_when_idle(self, value: bool | None) -> Self:
        """Send a record at once when the task has no request in flight to its stream. Records that are written
        meanwhile form the next request. Use it in real-time mode. In other modes it only makes requests smaller.

        Takes true or false.

        Default: ``false``.
        """
        return self._with_kind("sendWhenIdle", value, bool)

    def max_in_flight_requests(self, value: int | None) -> Self:
        """Maximum number of concurrent requests of a task to one stream.

        Takes a whole number from 1 to 10000.

        Default: ``50``.
        """
        return self._with_kind("maxInFlightRequests", value, int)

    def max_buffered_records(self, value: int | None) -> Self:
        """Maximum number of records that a task holds, including sent records without an answer. At this limit the
        task waits.

        Takes a whole number from 1 to 100000000.

        Default: ``10000``.

        Applies with `aggregation=False`.
        """
        return self._with_kind("maxBufferedRecords", value, int)

    def max_buffered_bytes(self, value: str | int | None) -> Self:
        """Maximum number of bytes that a task holds. At this limit the task waits.

        Takes a size such as 64m, from 1k to 1024g.

        Default: ``64m``.
        """
        return self._with_kind("maxBufferedBytes", value, str, int)

    def rate_limiting(self, value: str | None) -> Self:
        """How the sink adapts its rate to what the stream accepts: `aimd`, `batchAndDelay`, `none`, or the name of
        a class that extends `org.sparkkinesis.sink.limit.RateLimitingStrategy`.

        Takes aimd, batchAndDelay, none, or the name of a class.

        Default: ``aimd``.
        """
        return self._with_kind("rateLimiting", value, str)

    def on_invalid_record(self, value: Literal["fail", "deadLetter", "drop"] | None) -> Self:
        """What happens to a row that cannot become a record, because its data is null or too large: `fail` fails
        the task; `deadLetter` writes the row and the reason to `dead_letter_table`; `drop` drops and counts it.

        Takes one of 'fail', 'deadLetter', 'drop'.

        Default: ``fail``.
        """
        return self._with_kind("onInvalidRecord", value, str)

    def dead_letter_table(self, value: str | None) -> Self:
        """Table for invalid rows, with `on_invalid_record="deadLetter"`. The rows are appended when their batch is
        committed. The guide to writing has the columns of the table.

        Takes a string.

        Applies with `on_invalid_record="deadLetter"`.
        """
        return self._with_kind("deadLetterTable", value, str)

    def delivery_timeout(self, value: str | int | timedelta | None) -> Self:
        """Maximum time for which a record waits while its stream accepts no record at all. After that, the task
        fails. A stream that accepts records slowly does not fail a task. With `infinite`, the task waits until
        the service accepts the record.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d, or infinite.

        Default: ``10m``.
        """
        return self._with_kind("deliveryTimeout", value, str, int, timedelta)

    def rate_limiting_aimd_increase(self, value: int | None) -> Self:
        """Number of records in flight by which `aimd` increases its limit after a successful request.

        Takes a whole number from 1 to 1000000.

        Default: ``10``.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.increase", value, int)

    def rate_limiting_aimd_decrease(self, value: float | None) -> Self:
        """Factor by which `aimd` reduces its limit after a request with throttled or failed records.

        Takes a number from 0.01 to 0.9999.

        Default: ``0.99``.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.decrease", value, float)

    def rate_limiting_aimd_min(self, value: int | None) -> Self:
        """Minimum of the limit of `aimd`: records in flight per executor and stream.

        Takes a whole number from 1 to 100000000.

        Default: ``1``.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.min", value, int)

    def rate_limiting_aimd_max(self, value: int | None) -> Self:
        """Maximum of the limit of `aimd`.

        Takes a whole number from 1 to 100000000.

        Default: `max_batch_size` × `max_in_flight_requests`.

        Applies with `rate_limiting="aimd"`.
        """
        return self._with_kind("rateLimiting.aimd.max", value, int)

    def rate_limiting_batch_and_delay_min_delay(self, value: str | int | timedelta | None) -> Self:
        """First pause of `batchAndDelay` between two requests of a task, after throttling. A request then contains
        what the shards accept in this time, divided by the number of tasks.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1m.

        Default: ``100ms``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.minDelay", value, str, int, timedelta)

    def rate_limiting_batch_and_delay_max_delay(self, value: str | int | timedelta | None) -> Self:
        """Maximum pause of `batchAndDelay`.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``10s``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.maxDelay", value, str, int, timedelta)

    def rate_limiting_batch_and_delay_growth(self, value: float | None) -> Self:
        """Factor by which the pause of `batchAndDelay` grows while records are throttled.

        Takes a number from 1.01 to 100.0.

        Default: ``1.25``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.growth", value, float)

    def rate_limiting_batch_and_delay_recovery(self, value: float | None) -> Self:
        """Increase of the rate of `batchAndDelay` per second without throttling, as a part of the rate with
        `rate_limiting_batch_and_delay_min_delay`.

        Takes a number from 0.001 to 10.0.

        Default: ``0.1``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.recovery", value, float)

    def rate_limiting_batch_and_delay_quiet_time(self, value: str | int | timedelta | None) -> Self:
        """Time without throttling after which `batchAndDelay` no longer pauses.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d.

        Default: ``30s``.

        Applies with `rate_limiting="batchAndDelay"`.
        """
        return self._with_kind("rateLimiting.batchAndDelay.quietTime", value, str, int, timedelta)

    def rate_limiting_param_of(self, name: str, value: str | None) -> Self:
        """Parameter for the class that `rate_limiting` names, which reads it with `RateLimitingContext.parameter`.
        Do not use it for secrets.

        Takes a string.

        Applies with `rate_limiting=<name of a class>`.
        """
        return self._with_of("rateLimiting.param", name, value, str)

    def retry_recoverable_errors(self, value: str | Sequence[str] | None) -> Self:
        """Failures to treat as temporary, in addition to throttling, failures within the service and lost
        connections: error codes of the service, or names of exception classes.

        Takes error codes such as KMSDisabledException, or names of exception classes, separated by commas.

        Default: none.
        """
        return self._with_kind("retry.recoverableErrors", value, str, Sequence)

    def retry(
        self,
        operation: RetriedByFirehose,
        *,
        max_retries: int | None = None,
        backoff_base: str | int | timedelta | None = None,
        backoff_max: str | int | timedelta | None = None,
        backoff_exponent: float | None = None,
    ) -> Self:
        """Set how the calls of an operation are repeated. Parameters that are None stay as they are.

        `max_retries` is the maximum number of retries; -1 means no limit. The pause before a retry is random:
        `backoff_base` is the upper bound of the first pause, `backoff_exponent` the factor by which the bound
        grows with each retry, and `backoff_max` the upper bound of every pause.

        Defaults of max_retries, backoff_base, backoff_max and backoff_exponent:

        - ``PutRecordBatch``: -1, 50ms, 5s, 2
        """
        return self._with_retry(
            operation, RetriedByFirehose, max_retries, backoff_base, backoff_max, backoff_exponent
        )
