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


class ConnectionKeywords(TypedDict, total=False):
    """Keywords: stream, credentials and network."""

    stream_name: str | Sequence[str]
    stream_arn: str | Sequence[str]
    region: str
    endpoint: str
    allow_insecure_endpoint: bool
    aws_access_key: str
    aws_secret_key: str
    session_token: str
    profile: str
    role_arn: str
    role_external_id: str
    role_session_name: str
    sts_endpoint: str
    credentials_provider: str
    proxy: str
    proxy_user: str
    proxy_password: str
    non_proxy_hosts: str
    max_connections: int
    connect_timeout: str | int | timedelta
    request_timeout: str | int | timedelta
    ca_file: str
    stream_id: str | Sequence[str]
    metadata_service: str
    metadata_token: str
    metadata_refresh_interval: str | int | timedelta
    metadata_start_timeout: str | int | timedelta
    metadata_max_age: str | int | timedelta
    metadata_allow_rollback: bool
    metadata_allowed_accounts: str | Sequence[str]
    metadata_allowed_regions: str | Sequence[str]
    metadata_allowed_roles: str | Sequence[str]
    metadata_allowed_endpoints: str | Sequence[str]
    on_forbidden: Literal["skip", "fail"]
    retry_describe_stream_summary_max_retries: int
    retry_describe_stream_summary_backoff_base: str | int | timedelta
    retry_describe_stream_summary_backoff_max: str | int | timedelta
    retry_describe_stream_summary_backoff_exponent: float
    retry_list_shards_max_retries: int
    retry_list_shards_backoff_base: str | int | timedelta
    retry_list_shards_backoff_max: str | int | timedelta
    retry_list_shards_backoff_exponent: float
    retry_recoverable_errors: str | Sequence[str]


class SourceKeywords(ConnectionKeywords, total=False):
    """Keywords: reading."""

    stream_pattern: str
    initial_position: str | int | datetime | Mapping[str, Any]
    ending_position: str | int | datetime | Mapping[str, Any]
    consumer_mode: Literal["polling", "efo"]
    consumer_name: str
    consumer_name_prefix: str
    consumer_arn: str
    registration: Literal["lazy", "none"]
    require_consumer_deregistration: bool
    max_records_per_trigger: int
    max_bytes_per_trigger: str | int
    min_records_per_trigger: int
    max_trigger_delay: str | int | timedelta
    align_shards: str | int | timedelta
    max_records_per_fetch: int
    min_fetch_period: str | int | timedelta
    max_fetches_per_second: float
    fetch_buffer_size: str | int
    shard_fetch_interval: str | int | timedelta
    shards_per_task: int
    end_batch_early: bool
    fail_on_data_loss: bool
    deaggregation: bool
    deaggregation_hash_range_filter: bool
    stream_id_pattern: str
    new_stream_position: str | datetime | Mapping[str, Any]
    on_stream_removed: Literal["drain", "park", "fail"]
    drain_grace: str | int | timedelta
    drain_timeout: str | int | timedelta
    removed_stream_retention: str | int | timedelta
    removal_confirmations: int
    retry_list_streams_max_retries: int
    retry_list_streams_backoff_base: str | int | timedelta
    retry_list_streams_backoff_max: str | int | timedelta
    retry_list_streams_backoff_exponent: float
    retry_register_stream_consumer_max_retries: int
    retry_register_stream_consumer_backoff_base: str | int | timedelta
    retry_register_stream_consumer_backoff_max: str | int | timedelta
    retry_register_stream_consumer_backoff_exponent: float
    retry_deregister_stream_consumer_max_retries: int
    retry_deregister_stream_consumer_backoff_base: str | int | timedelta
    retry_deregister_stream_consumer_backoff_max: str | int | timedelta
    retry_deregister_stream_consumer_backoff_exponent: float
    retry_list_stream_consumers_max_retries: int
    retry_list_stream_consumers_backoff_base: str | int | timedelta
    retry_list_stream_consumers_backoff_max: str | int | timedelta
    retry_list_stream_consumers_backoff_exponent: float
    retry_subscribe_to_shard_max_retries: int
    retry_subscribe_to_shard_backoff_base: str | int | timedelta
    retry_subscribe_to_shard_backoff_max: str | int | timedelta
    retry_subscribe_to_shard_backoff_exponent: float
    retry_get_records_max_retries: int
    retry_get_records_backoff_base: str | int | timedelta
    retry_get_records_backoff_max: str | int | timedelta
    retry_get_records_backoff_exponent: float
    retry_get_shard_iterator_max_retries: int
    retry_get_shard_iterator_backoff_base: str | int | timedelta
    retry_get_shard_iterator_backoff_max: str | int | timedelta
    retry_get_shard_iterator_backoff_exponent: float


class SinkKeywords(ConnectionKeywords, total=False):
    """Keywords: writing."""

    partition_key: str
    stream_column: str
    router: str
    metadata_cache: str
    max_batch_size: int
    max_batch_bytes: str | int
    max_time_in_buffer: str | int | timedelta
    send_when_idle: bool
    max_in_flight_requests: int
    max_buffered_records: int
    max_buffered_bytes: str | int
    rate_limiting: str
    shard_limits: bool
    ordering: Literal["none", "bestEffort", "key"]
    distribute_by_key: bool
    order_by: str | Sequence[str]
    aggregation: bool
    on_invalid_record: Literal["fail", "deadLetter", "drop"]
    dead_letter_stream: str
    dead_letter_table: str
    delivery_timeout: str | int | timedelta
    rate_limiting_aimd_increase: int
    rate_limiting_aimd_decrease: float
    rate_limiting_aimd_min: int
    rate_limiting_aimd_max: int
    rate_limiting_batch_and_delay_min_delay: str | int | timedelta
    rate_limiting_batch_and_delay_max_delay: str | int | timedelta
    rate_limiting_batch_and_delay_growth: float
    rate_limiting_batch_and_delay_recovery: float
    rate_limiting_batch_and_delay_quiet_time: str | int | timedelta
    retry_put_records_max_retries: int
    retry_put_records_backoff_base: str | int | timedelta
    retry_put_records_backoff_max: str | int | timedelta
    retry_put_records_backoff_exponent: float


class FirehoseKeywords(TypedDict, total=False):
    """Keywords: writing to Amazon Data Firehose."""

    delivery_stream_name: str
    region: str
    endpoint: str
    allow_insecure_endpoint: bool
    aws_access_key: str
    aws_secret_key: str
    session_token: str
    profile: str
    role_arn: str
    role_external_id: str
    role_session_name: str
    sts_endpoint: str
    credentials_provider: str
    proxy: str
    proxy_user: str
    proxy_password: str
    non_proxy_hosts: str
    max_connections: int
    connect_timeout: str | int | timedelta
    request_timeout: str | int | timedelta
    ca_file: str
    max_batch_size: int
    max_batch_bytes: str | int
    max_time_in_buffer: str | int | timedelta
    send_when_idle: bool
    max_in_flight_requests: int
    max_buffered_records: int
    max_buffered_bytes: str | int
    rate_limiting: str
    on_invalid_record: Literal["fail", "deadLetter", "drop"]
    dead_letter_table: str
    delivery_timeout: str | int | timedelta
    rate_limiting_aimd_increase: int
    rate_limiting_aimd_decrease: float
    rate_limiting_aimd_min: int
    rate_limiting_aimd_max: int
    rate_limiting_batch_and_delay_min_delay: str | int | timedelta
    rate_limiting_batch_and_delay_max_delay: str | int | timedelta
    rate_limiting_batch_and_delay_growth: float
    rate_limiting_batch_and_delay_recovery: float
    rate_limiting_batch_and_delay_quiet_time: str | int | timedelta
    retry_put_record_batch_max_retries: int
    retry_put_record_batch_backoff_base: str | int | timedelta
    retry_put_record_batch_backoff_max: str | int | timedelta
    retry_put_record_batch_backoff_exponent: float
    retry_recoverable_errors: str | Sequence[str]


class ConnectionMethods(Builder):
    """Methods: stream, credentials and network."""

    _sensitive = frozenset(
        {
            "awsaccesskey",
            "awsaccesskeyid",
            "awssecretkey",
            "kinesis.awsaccesskeyid",
            "kinesis.awssecretkey",
            "kinesis.sessiontoken",
            "kinesis.sink.proxypassword",
            "kinesis.sink.proxyusername",
            "metadatatoken",
            "proxypassword",
            "proxyuser",
            "proxyusername",
            "roleexternalid",
            "roleexternalid.*",
            "sessiontoken",
        }
    )

    def stream_name(self, value: str | Sequence[str]) -> Self:
        """Name of the stream. A read accepts several names, separated by commas.

        Takes a stream name of 1 to 128 characters a-z, A-Z, 0-9, '_', '.', '-', or several separated by commas.

        Default: one of `streamName`, `streamARN` is required.
        """
        return self._with("streamName", value)

    def stream_arn(self, value: str | Sequence[str]) -> Self:
        """ARN of the stream, which determines region and account. A read accepts several ARNs, separated by commas.

        Takes a stream ARN such as arn:aws:kinesis:eu-central-1:123456789012:stream/orders, or several separated
        by commas.
        """
        return self._with("streamARN", value)

    def region(self, value: str) -> Self:
        """AWS region of the stream.

        Takes the name of an AWS region such as eu-central-1.

        Default: the region of the ARN, otherwise of the AWS default chain.
        """
        return self._with("region", value)

    def endpoint(self, value: str) -> Self:
        """Address of the service. Plain `http` is accepted for loopback addresses only, unless
        `allowInsecureEndpoint` is set.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.
        """
        return self._with("endpoint", value)

    def allow_insecure_endpoint(self, value: bool) -> Self:
        """Accept an `http` endpoint that is not a loopback address. Records and request signatures are then sent
        without encryption.

        Takes true or false.

        Default: ``false``.

        Applies with `endpoint` or `endpoint.*` or `stsEndpoint` or `metadataService`.
        """
        return self._with("allowInsecureEndpoint", value)

    def aws_access_key(self, value: str) -> Self:
        """Access key id of static credentials. It requires `awsSecretKey`.

        Takes a string.

        Default: the AWS default provider chain.
        """
        return self._with("awsAccessKey", value)

    def aws_secret_key(self, value: str) -> Self:
        """Secret key of static credentials. It requires `awsAccessKey`.

        Takes a string.
        """
        return self._with("awsSecretKey", value)

    def session_token(self, value: str) -> Self:
        """Session token of temporary static credentials.

        Takes a string.
        """
        return self._with("sessionToken", value)

    def profile(self, value: str) -> Self:
        """Profile in the shared AWS configuration files. Every executor must have these files.

        Takes a string.
        """
        return self._with("profile", value)

    def role_arn(self, value: str) -> Self:
        """ARN of the role to assume with the other credentials.

        Takes the ARN of a role such as arn:aws:iam::123456789012:role/reader.
        """
        return self._with("roleArn", value)

    def role_external_id(self, value: str) -> Self:
        """External id that the trust policy of the role requires.

        Takes a string.

        Applies with `roleArn` or `roleArn.*`.
        """
        return self._with("roleExternalId", value)

    def role_session_name(self, value: str) -> Self:
        """Session name of the assumed role.

        Takes 2 to 64 characters of a-z, A-Z, 0-9 and _+=,.@-.

        Default: ``spark-kinesis``.

        Applies with `roleArn` or `roleArn.*` or `metadataAllowedRoles`.
        """
        return self._with("roleSessionName", value)

    def sts_endpoint(self, value: str) -> Self:
        """Address of the Security Token Service that assumes the role. Plain `http` is accepted as for `endpoint`.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.

        Applies with `roleArn` or `roleArn.*` or `metadataAllowedRoles`.
        """
        return self._with("stsEndpoint", value)

    def credentials_provider(self, value: str) -> Self:
        """Class that provides credentials: a `java.util.function.Supplier<Map<String, String>>` with a constructor
        without parameters. The map has `accessKeyId`, `secretAccessKey` and, for temporary credentials,
        `sessionToken`.

        Takes the name of a class.
        """
        return self._with("credentialsProvider", value)

    def proxy(self, value: str) -> Self:
        """HTTP proxy of all calls, also of those to loopback addresses; `none` for no proxy. Environment variables
        and system properties for proxies then have no effect.

        Takes the address of an HTTP proxy such as http://proxy.example.com:3128, or none.

        Default: `https.proxyHost`, then `HTTPS_PROXY`, of the process that makes the call.
        """
        return self._with("proxy", value)

    def proxy_user(self, value: str) -> Self:
        """User name for the proxy (Basic authentication). It replaces the user name and password of a proxy from
        the environment.

        Takes a string.
        """
        return self._with("proxyUser", value)

    def proxy_password(self, value: str) -> Self:
        """Password for the proxy. It requires `proxyUser`.

        Takes a string.
        """
        return self._with("proxyPassword", value)

    def non_proxy_hosts(self, value: str) -> Self:
        """Hosts that are reached without the proxy, in the form of `NO_PROXY`: a domain and all names below it, an
        address, a network as `10.0.0.0/8`, `*` for any text, each with or without a port.

        Takes hosts separated by commas, such as .internal.example.com,10.0.0.0/8,127.0.0.1:4567.

        Default: `http.nonProxyHosts` or `NO_PROXY`; none with `proxy`.
        """
        return self._with("nonProxyHosts", value)

    def max_connections(self, value: int) -> Self:
        """Maximum number of connections of a client for requests. Tasks and queries of one process share a client
        if their options for stream, credentials and network are equal. Enhanced fan-out has further connections.

        Takes a whole number from 1 to 100000.

        Default: ``256``.
        """
        return self._with("maxConnections", value)

    def connect_timeout(self, value: str | int | timedelta) -> Self:
        """Maximum duration of opening a connection.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 5m.

        Default: ``5s``.
        """
        return self._with("connectTimeout", value)

    def request_timeout(self, value: str | int | timedelta) -> Self:
        """Maximum duration of a request. After that, the request is sent again.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 10m.

        Default: ``30s``.
        """
        return self._with("requestTimeout", value)

    def ca_file(self, value: str) -> Self:
        """PEM file with the certificates of the authorities that may sign for services and proxies, for example of
        a proxy that decrypts TLS. The driver and every executor must have it.

        Takes a string.

        Default: `AWS_CA_BUNDLE`, else the authorities that the JVM trusts.
        """
        return self._with("caFile", value)

    def region_of(self, stream: str, value: str) -> Self:
        """Region of one of several streams: `region.orders` for stream `orders`. Each option for one of several
        streams also accepts the ARN of the stream instead of its name.

        Takes the name of an AWS region such as eu-central-1.
        """
        return self._with(f"region.{stream}", value)

    def endpoint_of(self, stream: str, value: str) -> Self:
        """Address of the service for one of several streams: `endpoint.orders`.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.
        """
        return self._with(f"endpoint.{stream}", value)

    def role_arn_of(self, stream: str, value: str) -> Self:
        """ARN of the role to assume for one of several streams: `roleArn.orders`.

        Takes the ARN of a role such as arn:aws:iam::123456789012:role/reader.
        """
        return self._with(f"roleArn.{stream}", value)

    def role_external_id_of(self, stream: str, value: str) -> Self:
        """External id for the role of one of several streams: `roleExternalId.orders`.

        Takes a string.
        """
        return self._with(f"roleExternalId.{stream}", value)

    def stream_id(self, value: str | Sequence[str]) -> Self:
        """Id of the logical stream, whose physical streams `metadataService` names. A read accepts several ids,
        separated by commas.

        Takes the id of a logical stream, or several separated by commas.
        """
        return self._with("streamId", value)

    def metadata_service(self, value: str) -> Self:
        """Service that names the physical streams of a logical stream: `file:` and a path of any file system of
        Spark, an `https://` address, or `class:` and the name of a
        `java.util.function.Function<Collection<String>, String>` from ids to the text of the document, with a
        constructor without parameters.

        Takes file: and a path, an https:// address (http:// for loopback addresses only), or class: and the name
        of a class.

        Default: required with `streamId` and `streamIdPattern`.

        Applies with a logical stream.
        """
        return self._with("metadataService", value)

    def metadata_token(self, value: str) -> Self:
        """Bearer token for the requests to an `https://` metadata service.

        Takes a bearer token.

        Default: no authentication.

        Applies with a logical stream.
        """
        return self._with("metadataToken", value)

    def metadata_refresh_interval(self, value: str | int | timedelta) -> Self:
        """Time between two requests to the metadata service, or two listings of the names for `streamPattern`,
        which varies by up to 10 %.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d.

        Default: ``60s``.

        Query type: streaming. Applies with a pattern or a logical stream.
        """
        return self._with("metadataRefreshInterval", value)

    def metadata_start_timeout(self, value: str | int | timedelta) -> Self:
        """Time for which the first start of a query waits for the metadata service. A query with a checkpoint does
        not wait.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1h.

        Default: ``30s``.

        Applies with a logical stream.
        """
        return self._with("metadataStartTimeout", value)

    def metadata_max_age(self, value: str | int | timedelta) -> Self:
        """Maximum age of the last valid answer of the metadata service. An older one fails the query.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 365d.

        Default: no maximum: an outage of the metadata service never fails a running query.

        Query type: streaming. Applies with a logical stream.
        """
        return self._with("metadataMaxAge", value)

    def metadata_allow_rollback(self, value: bool) -> Self:
        """Accept a document with a lower version than the last one.

        Takes true or false.

        Default: ``false``.

        Query type: streaming. Applies with a logical stream.
        """
        return self._with("metadataAllowRollback", value)

    def metadata_allowed_accounts(self, value: str | Sequence[str]) -> Self:
        """Accounts of the streams that the metadata service may name. The accounts of `roleArn` and
        `metadataAllowedRoles` are added.

        Takes an account id of 12 digits, or several separated by commas.

        Default: the account of the query's own credentials.

        Applies with a logical stream.
        """
        return self._with("metadataAllowedAccounts", value)

    def metadata_allowed_regions(self, value: str | Sequence[str]) -> Self:
        """Regions of the streams that the metadata service may name.

        Takes the name of an AWS region, or several separated by commas.

        Default: any region.

        Applies with a logical stream.
        """
        return self._with("metadataAllowedRegions", value)

    def metadata_allowed_roles(self, value: str | Sequence[str]) -> Self:
        """Roles that the metadata service may name. `*` stands for any text.

        Takes the ARN of a role, in which `*` stands for any text, or several separated by commas.

        Default: none.

        Applies with a logical stream.
        """
        return self._with("metadataAllowedRoles", value)

    def metadata_allowed_endpoints(self, value: str | Sequence[str]) -> Self:
        """Endpoints that the metadata service may name, in addition to the endpoint of the region and to
        `endpoint`. `*` stands for any text.

        Takes an address such as https://vpce-0a1b.kinesis.eu-central-1.vpce.amazonaws.com, or several separated
        by commas.

        Default: none.

        Applies with a logical stream.
        """
        return self._with("metadataAllowedEndpoints", value)

    def on_forbidden(self, value: Literal["skip", "fail"]) -> Self:
        """What happens when the metadata service names a stream that is not allowed: `skip` logs and counts it,
        `fail` fails the query.

        Takes one of 'skip', 'fail'.

        Default: ``skip``.

        Applies with a logical stream.
        """
        return self._with("onForbidden", value)

    def retry_describe_stream_summary_max_retries(self, value: int) -> Self:
        """Maximum number of retries of describeStreamSummary; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: 5 for reads, no limit for writes.
        """
        return self._with("retry.describeStreamSummary.maxRetries", value)

    def retry_describe_stream_summary_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of describeStreamSummary.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.
        """
        return self._with("retry.describeStreamSummary.backoff.base", value)

    def retry_describe_stream_summary_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of describeStreamSummary.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``2s``.
        """
        return self._with("retry.describeStreamSummary.backoff.max", value)

    def retry_describe_stream_summary_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of describeStreamSummary.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.
        """
        return self._with("retry.describeStreamSummary.backoff.exponent", value)

    def retry_list_shards_max_retries(self, value: int) -> Self:
        """Maximum number of retries of listShards; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``-1``.
        """
        return self._with("retry.listShards.maxRetries", value)

    def retry_list_shards_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of listShards.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.
        """
        return self._with("retry.listShards.backoff.base", value)

    def retry_list_shards_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of listShards.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``3s``.
        """
        return self._with("retry.listShards.backoff.max", value)

    def retry_list_shards_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of listShards.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.
        """
        return self._with("retry.listShards.backoff.exponent", value)

    def retry_recoverable_errors(self, value: str | Sequence[str]) -> Self:
        """Failures to treat as temporary, in addition to throttling, failures within the service and lost
        connections: error codes of the service, or names of exception classes.

        Takes error codes such as KMSDisabledException, or names of exception classes, separated by commas.

        Default: none.
        """
        return self._with("retry.recoverableErrors", value)


class SourceMethods(ConnectionMethods):
    """Methods: reading."""

    def stream_pattern(self, value: str) -> Self:
        """Regular expression for the names of the streams of the account and region, for reads only. A streaming
        query lists the names again every `metadataRefreshInterval`: streams that match later join, and deleted
        ones leave.

        Takes a regular expression of java.util.regex.
        """
        return self._with("streamPattern", value)

    def initial_position(self, value: str | int | datetime | Mapping[str, Any]) -> Self:
        """Start position of a query without a checkpoint, and of streams that are added to `streamName` or
        `streamARN` when a query restarts: `latest`, `trim_horizon` (or `earliest`), a time, a time before the
        first start, or a JSON object with a position for each shard or for each stream. A time without a zone is
        in the session's time zone.

        Takes latest, trim_horizon (or earliest), a time such as 2026-11-20T12:00:00Z or '2026-11-20 12:00' (in
        the session's time zone), a time before the first start such as '1 hour ago' or -PT1H, epoch
        milliseconds, {"at_timestamp": "…", "format": "…"}, or a JSON object with a position for each shard or
        stream, such as {"shardId-000000000000": {"after_sequence_number": "…"}, "*": "trim_horizon"} or
        {"orders": "latest", "clicks": "1 hour ago", "*": "trim_horizon"}.

        Default: `latest` for streams, `trim_horizon` for batch.
        """
        return self._with("initialPosition", value)

    def ending_position(self, value: str | int | datetime | Mapping[str, Any]) -> Self:
        """End position of a batch read: `latest` (the records that are in the stream when the query starts), a
        time, or a JSON object with a position for each shard or for each stream, as in `initialPosition`. A
        record at the position is the last one that is read.

        Takes latest, trim_horizon (or earliest), a time such as 2026-11-20T12:00:00Z or '2026-11-20 12:00' (in
        the session's time zone), a time before the first start such as '1 hour ago' or -PT1H, epoch
        milliseconds, {"at_timestamp": "…", "format": "…"}, or a JSON object with a position for each shard or
        stream, such as {"shardId-000000000000": {"after_sequence_number": "…"}, "*": "trim_horizon"} or
        {"orders": "latest", "clicks": "1 hour ago", "*": "trim_horizon"}.

        Default: ``latest``.

        Query type: batch.
        """
        return self._with("endingPosition", value)

    def consumer_mode(self, value: Literal["polling", "efo"]) -> Self:
        """How records are fetched: `polling` calls GetRecords and shares 2 MiB/s per shard with other readers;
        `efo` (enhanced fan-out) has 2 MiB/s per shard for this consumer, and the service pushes the records.

        Takes one of 'polling', 'efo'.

        Default: ``polling``.

        Query type: streaming.
        """
        return self._with("consumerMode", value)

    def consumer_name(self, value: str) -> Self:
        """Name of the enhanced fan-out consumer to register or reuse. No other query may use it at the same time.

        Takes 1 to 128 characters of a-z, A-Z, 0-9, '_', '.', '-'.

        Default: the id of the query, which its checkpoint keeps.

        Query type: streaming. Applies with `consumerMode=efo`, `registration=lazy`.
        """
        return self._with("consumerName", value)

    def consumer_name_prefix(self, value: str) -> Self:
        """Text before `consumerName` in the name of the enhanced fan-out consumer, for example for a policy of IAM
        that allows names by their beginning.

        Takes 1 to 64 characters of a-z, A-Z, 0-9, '_', '.', '-'.

        Default: none.

        Query type: streaming. Applies with `consumerMode=efo`, `registration=lazy`.
        """
        return self._with("consumerNamePrefix", value)

    def consumer_arn(self, value: str) -> Self:
        """ARN of an existing enhanced fan-out consumer. Set it with `registration=none`.

        Takes the ARN of a stream consumer.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("consumerARN", value)

    def consumer_arn_of(self, stream: str, value: str) -> Self:
        """ARN of the consumer for one of several streams: `consumerARN.orders` for stream `orders`.

        Takes the ARN of a stream consumer.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with(f"consumerARN.{stream}", value)

    def registration(self, value: Literal["lazy", "none"]) -> Self:
        """Whether enhanced fan-out consumers are registered: `lazy` registers a consumer when the query starts,
        unless it exists; `none` never registers one, and every stream needs a `consumerARN`.

        Takes one of 'lazy', 'none'.

        Default: ``lazy``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("registration", value)

    def require_consumer_deregistration(self, value: bool) -> Self:
        """Deregister the consumers that this query registered when it stops.

        Takes true or false.

        Default: ``true``.

        Query type: streaming.
        """
        return self._with("requireConsumerDeregistration", value)

    def max_records_per_trigger(self, value: int) -> Self:
        """Maximum number of rows per micro-batch, with a fair share for each shard.

        Takes a whole number of at least 1.

        Default: no limit.

        Query type: streaming, not real-time, not `Trigger.Once`.
        """
        return self._with("maxRecordsPerTrigger", value)

    def max_bytes_per_trigger(self, value: str | int) -> Self:
        """Maximum number of bytes (payloads and keys) per micro-batch.

        Takes a size such as 64m, at least 1.

        Default: no limit.

        Query type: streaming, not real-time, not `Trigger.Once`.
        """
        return self._with("maxBytesPerTrigger", value)

    def min_records_per_trigger(self, value: int) -> Self:
        """Minimum number of rows per micro-batch. A batch waits until this many rows have been fetched,
        `maxTriggerDelay` has passed, or the prefetch buffer is full.

        Takes a whole number of at least 1.

        Default: no minimum.

        Query type: streaming with a processing-time trigger.
        """
        return self._with("minRecordsPerTrigger", value)

    def max_trigger_delay(self, value: str | int | timedelta) -> Self:
        """Maximum time that a batch waits for `minRecordsPerTrigger`.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 365d.

        Default: ``15m``.

        Query type: streaming with a processing-time trigger. Applies with `minRecordsPerTrigger`.
        """
        return self._with("maxTriggerDelay", value)

    def align_shards(self, value: str | int | timedelta) -> Self:
        """Maximum time between the arrival of the oldest record, of any shard, that a micro-batch leaves to later
        batches and of the newest record that it takes. Shards that are ahead wait, so that a watermark does not
        drop the rows of a shard that is behind. `Trigger.Once` ignores it.

        Takes a duration such as 250ms, 10s or 15m, from 4ms to 365d.

        Default: shards are read independently.

        Query type: streaming, not real-time, not `Trigger.Once`.
        """
        return self._with("alignShards", value)

    def max_records_per_fetch(self, value: int) -> Self:
        """Maximum number of records per GetRecords call.

        Takes a whole number from 1 to 10000.

        Default: ``10000``.
        """
        return self._with("maxRecordsPerFetch", value)

    def min_fetch_period(self, value: str | int | timedelta) -> Self:
        """Time between two GetRecords calls of a shard that has no more records to read.

        Takes a duration such as 250ms, 10s or 15m, from 0ms to 1h.

        Default: ``250ms``.
        """
        return self._with("minFetchPeriod", value)

    def max_fetches_per_second(self, value: float) -> Self:
        """Maximum number of GetRecords calls per second and shard while there are more records to read. The quota
        of the service is 5, shared by all readers of a shard; only an emulator accepts more.

        Takes a number from 0.01 to 100000.0.

        Default: ``5``.
        """
        return self._with("maxFetchesPerSecond", value)

    def fetch_buffer_size(self, value: str | int) -> Self:
        """Memory for the fetched records of this read in each executor, at most 50 % of its heap.

        Takes a size such as 64m, from 1m to 1024g.

        Default: 25 % of the executor's heap, at most 512m, shared equally by all reads without a size of their
        own.

        Query type: streaming.
        """
        return self._with("fetchBufferSize", value)

    def shard_fetch_interval(self, value: str | int | timedelta) -> Self:
        """Time between two listings of the shards. A reshard is detected at once, by the end of its parent shards.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1h.

        Default: ``10s``.

        Query type: streaming, not real-time.
        """
        return self._with("shardFetchInterval", value)

    def shards_per_task(self, value: int) -> Self:
        """Number of shards that one task reads.

        Takes a whole number from 1 to 100000.

        Default: enough to spread the shards over all cores.
        """
        return self._with("shardsPerTask", value)

    def end_batch_early(self, value: bool) -> Self:
        """In real-time mode, end a batch before its time when a child shard waits for parents that several tasks
        have finished. With `false`, the child waits for the end of the batch. Set `false` if the query has a
        real-time source of another kind, because Spark waits for its tasks.

        Takes true or false.

        Default: ``true``.

        Query type: real-time.
        """
        return self._with("endBatchEarly", value)

    def fail_on_data_loss(self, value: bool) -> Self:
        """Fail the query when records may be lost: a position is older than the retention, a shard expired before
        it was read or is missing from the listing, or the stream was recreated. With `false`, log a warning and
        continue with the oldest record.

        Takes true or false.

        Default: ``true``.
        """
        return self._with("failOnDataLoss", value)

    def deaggregation(self, value: bool) -> Self:
        """Unpack KPL aggregates into the records of the user.

        Takes true or false.

        Default: ``true``.
        """
        return self._with("deaggregation", value)

    def deaggregation_hash_range_filter(self, value: bool) -> Self:
        """Drop and count the records of an aggregate whose hash key is outside the range of their shard. KCL drops
        the whole aggregate.

        Takes true or false.

        Default: ``false``.

        Applies with `deaggregation=true`.
        """
        return self._with("deaggregation.hashRangeFilter", value)

    def stream_id_pattern(self, value: str) -> Self:
        """Regular expression for the ids of logical streams, for reads only.

        Takes a regular expression of java.util.regex.
        """
        return self._with("streamIdPattern", value)

    def new_stream_position(self, value: str | datetime | Mapping[str, Any]) -> Self:
        """Position from which a running query reads a stream that is added, unless the metadata service names one,
        and a stream that is created later and matches `streamPattern`.

        Takes latest, trim_horizon (or earliest), an ISO-8601 instant, {"at_timestamp": "…", "format": "…"}, or a
        JSON object with a position for each shard, such as {"shardId-000000000000": {"after_sequence_number":
        "…"}, "*": "trim_horizon"}.

        Default: ``trim_horizon``.

        Query type: streaming. Applies with a pattern or a logical stream.
        """
        return self._with("newStreamPosition", value)

    def on_stream_removed(self, value: Literal["drain", "park", "fail"]) -> Self:
        """What happens when the metadata service does not name a stream any more: `drain` reads the records that it
        has, `park` stops at once and keeps the position, `fail` fails the query.

        Takes one of 'drain', 'park', 'fail'.

        Default: ``drain``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with("onStreamRemoved", value)

    def drain_grace(self, value: str | int | timedelta) -> Self:
        """Time for which a removed stream is still read, for writers that do not know of the removal yet.

        Takes a duration such as 250ms, 10s or 15m, from 0ms to 7d.

        Default: ``10m``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with("drainGrace", value)

    def drain_timeout(self, value: str | int | timedelta) -> Self:
        """Maximum time for which a removed stream is drained. After it the stream is parked with a warning, and
        read on from there if it comes back.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 365d.

        Default: ``1h``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with("drainTimeout", value)

    def removed_stream_retention(self, value: str | int | timedelta) -> Self:
        """Time for which the position of a parked stream is kept.

        Takes a duration such as 250ms, 10s or 15m, from 1m to 3650d.

        Default: ``7d``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with("removedStreamRetention", value)

    def removal_confirmations(self, value: int) -> Self:
        """Number of answers in a row that must lack a stream before it counts as removed.

        Takes a whole number from 1 to 1000.

        Default: ``2``.

        Query type: streaming, not real-time. Applies with a pattern or a logical stream.
        """
        return self._with("removalConfirmations", value)

    def retry_list_streams_max_retries(self, value: int) -> Self:
        """Maximum number of retries of listStreams; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``5``.

        Applies with a pattern.
        """
        return self._with("retry.listStreams.maxRetries", value)

    def retry_list_streams_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of listStreams.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.

        Applies with a pattern.
        """
        return self._with("retry.listStreams.backoff.base", value)

    def retry_list_streams_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of listStreams.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``2s``.

        Applies with a pattern.
        """
        return self._with("retry.listStreams.backoff.max", value)

    def retry_list_streams_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of listStreams.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.

        Applies with a pattern.
        """
        return self._with("retry.listStreams.backoff.exponent", value)

    def retry_register_stream_consumer_max_retries(self, value: int) -> Self:
        """Maximum number of retries of registerStreamConsumer; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``10``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.registerStreamConsumer.maxRetries", value)

    def retry_register_stream_consumer_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of registerStreamConsumer.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.registerStreamConsumer.backoff.base", value)

    def retry_register_stream_consumer_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of registerStreamConsumer.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.registerStreamConsumer.backoff.max", value)

    def retry_register_stream_consumer_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of registerStreamConsumer.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.registerStreamConsumer.backoff.exponent", value)

    def retry_deregister_stream_consumer_max_retries(self, value: int) -> Self:
        """Maximum number of retries of deregisterStreamConsumer; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``10``.

        Query type: streaming. Applies with `requireConsumerDeregistration=true`.
        """
        return self._with("retry.deregisterStreamConsumer.maxRetries", value)

    def retry_deregister_stream_consumer_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of deregisterStreamConsumer.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.

        Query type: streaming. Applies with `requireConsumerDeregistration=true`.
        """
        return self._with("retry.deregisterStreamConsumer.backoff.base", value)

    def retry_deregister_stream_consumer_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of deregisterStreamConsumer.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.

        Query type: streaming. Applies with `requireConsumerDeregistration=true`.
        """
        return self._with("retry.deregisterStreamConsumer.backoff.max", value)

    def retry_deregister_stream_consumer_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of deregisterStreamConsumer.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.

        Query type: streaming. Applies with `requireConsumerDeregistration=true`.
        """
        return self._with("retry.deregisterStreamConsumer.backoff.exponent", value)

    def retry_list_stream_consumers_max_retries(self, value: int) -> Self:
        """Maximum number of retries of listStreamConsumers; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``10``.

        Query type: streaming.
        """
        return self._with("retry.listStreamConsumers.maxRetries", value)

    def retry_list_stream_consumers_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of listStreamConsumers.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.

        Query type: streaming.
        """
        return self._with("retry.listStreamConsumers.backoff.base", value)

    def retry_list_stream_consumers_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of listStreamConsumers.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.

        Query type: streaming.
        """
        return self._with("retry.listStreamConsumers.backoff.max", value)

    def retry_list_stream_consumers_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of listStreamConsumers.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.

        Query type: streaming.
        """
        return self._with("retry.listStreamConsumers.backoff.exponent", value)

    def retry_subscribe_to_shard_max_retries(self, value: int) -> Self:
        """Maximum number of retries of subscribeToShard; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``-1``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.subscribeToShard.maxRetries", value)

    def retry_subscribe_to_shard_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of subscribeToShard.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.subscribeToShard.backoff.base", value)

    def retry_subscribe_to_shard_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of subscribeToShard.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``2s``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.subscribeToShard.backoff.max", value)

    def retry_subscribe_to_shard_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of subscribeToShard.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.

        Query type: streaming. Applies with `consumerMode=efo`.
        """
        return self._with("retry.subscribeToShard.backoff.exponent", value)

    def retry_get_records_max_retries(self, value: int) -> Self:
        """Maximum number of retries of getRecords; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``-1``.
        """
        return self._with("retry.getRecords.maxRetries", value)

    def retry_get_records_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of getRecords.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.
        """
        return self._with("retry.getRecords.backoff.base", value)

    def retry_get_records_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of getRecords.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``3s``.
        """
        return self._with("retry.getRecords.backoff.max", value)

    def retry_get_records_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of getRecords.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.
        """
        return self._with("retry.getRecords.backoff.exponent", value)

    def retry_get_shard_iterator_max_retries(self, value: int) -> Self:
        """Maximum number of retries of getShardIterator; -1 means no limit.

        Takes a whole number from -1 to 2147483647.

        Default: ``-1``.
        """
        return self._with("retry.getShardIterator.maxRetries", value)

    def retry_get_shard_iterator_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of getShardIterator.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``200ms``.
        """
        return self._with("retry.getShardIterator.backoff.base", value)

    def retry_get_shard_iterator_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of getShardIterator.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``3s``.
        """
        return self._with("retry.getShardIterator.backoff.max", value)

    def retry_get_shard_iterator_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of getShardIterator.

        Takes a number from 1.0 to 10.0.

        Default: ``1.5``.
        """
        return self._with("retry.getShardIterator.backoff.exponent", value)


class SinkMethods(ConnectionMethods):
    """Methods: writing."""

    def partition_key(self, value: str) -> Self:
        """Source of the partition key: `random`, `hash(column, …)`, or the name of a column. It takes precedence
        over a column `partitionKey`.

        Takes a string.

        Default: column `partitionKey`.
        """
        return self._with("partitionKey", value)

    def stream_column(self, value: str) -> Self:
        """Column with the name or the ARN of the stream that a row goes to. A row where it is null goes to the
        stream of `streamName` or `streamARN`.

        Takes a string.

        Default: column `stream` if neither `streamName` nor `streamARN` is set, otherwise none.
        """
        return self._with("streamColumn", value)

    def router(self, value: str) -> Self:
        """How records are distributed over the active physical streams of `streamId`: `roundRobin` fills a request
        for one stream, then for the next one, by their weights; `hash` writes all records of a partition key to
        one stream; `priority` writes to the streams with the highest priority. `class:` and the name of a
        `java.util.function.BiFunction<String, List<String>, String>` chooses an ARN by a partition key and the
        ARNs.

        Takes roundRobin, hash, priority, or class: and the name of a class.

        Default: ``roundRobin``.

        Applies with a logical stream.
        """
        return self._with("router", value)

    def metadata_cache(self, value: str) -> Self:
        """Directory for the last metadata document of `streamId`, with which a write starts while the metadata
        service is unavailable.

        Takes a string.

        Default: the checkpoint of the query; none for batch writes.

        Applies with a logical stream.
        """
        return self._with("metadataCache", value)

    def max_batch_size(self, value: int) -> Self:
        """Maximum number of records per request.

        Takes a whole number from 1 to 500.

        Default: ``500``.
        """
        return self._with("maxBatchSize", value)

    def max_batch_bytes(self, value: str | int) -> Self:
        """Maximum number of bytes (payloads and keys) per request.

        Takes a size such as 64m, from 1k to 10m.

        Default: ``10m``.
        """
        return self._with("maxBatchBytes", value)

    def max_time_in_buffer(self, value: str | int | timedelta) -> Self:
        """Maximum time that a record waits for its request to fill.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.
        """
        return self._with("maxTimeInBuffer", value)

    def send_when_idle(self, value: bool) -> Self:
        """Send a record at once when the task has no request in flight to its stream. Records that are written
        meanwhile form the next request. Use it in real-time mode. In other modes it only makes requests smaller.

        Takes true or false.

        Default: ``false``.
        """
        return self._with("sendWhenIdle", value)

    def max_in_flight_requests(self, value: int) -> Self:
        """Maximum number of concurrent requests per task.

        Takes a whole number from 1 to 10000.

        Default: ``50``.
        """
        return self._with("maxInFlightRequests", value)

    def max_buffered_records(self, value: int) -> Self:
        """Maximum number of records that a task holds for all of its streams, including sent records without an
        answer. At this limit the task waits. With `aggregation`, only bytes are limited.

        Takes a whole number from 1 to 100000000.

        Default: ``10000``.

        Applies with `aggregation=false`.
        """
        return self._with("maxBufferedRecords", value)

    def max_buffered_bytes(self, value: str | int) -> Self:
        """Maximum number of bytes that a task holds for all of its streams. At this limit the task waits.

        Takes a size such as 64m, from 1k to 1024g.

        Default: ``64m``.
        """
        return self._with("maxBufferedBytes", value)

    def rate_limiting(self, value: str) -> Self:
        """How the sink adapts its rate to what the stream accepts: `aimd`, `batchAndDelay`, `none`, or the name of
        a class that extends `org.sparkkinesis.sink.limit.RateLimitingStrategy`.

        Takes aimd, batchAndDelay, none, or the name of a class.

        Default: ``aimd``.
        """
        return self._with("rateLimiting", value)

    def shard_limits(self, value: bool) -> Self:
        """Limit the rate of each shard separately, so that a hot shard delays only its own records. This requires
        the permission kinesis:ListShards.

        Takes true or false.

        Default: ``true``.
        """
        return self._with("shardLimits", value)

    def ordering(self, value: Literal["none", "bestEffort", "key"]) -> Self:
        """Order of the records. With `key`, no record overtakes an earlier record with the same partition key. With
        `bestEffort`, the records of a key are in one request at a time, so that they keep their order unless one
        of them is refused.

        Takes one of 'none', 'bestEffort', 'key'.

        Default: ``none``.
        """
        return self._with("ordering", value)

    def distribute_by_key(self, value: bool) -> Self:
        """Let Spark bring all rows of a partition key into one task. Without it, rows of a key that are in several
        tasks have no order.

        Takes true or false.

        Default: `true` with `ordering=key`, otherwise `false`.
        """
        return self._with("distributeByKey", value)

    def order_by(self, value: str | Sequence[str]) -> Self:
        """Columns by which each task sorts its rows, with `ordering` set to `key` or `bestEffort`. They may be
        columns that are not written.

        Takes names of columns, separated by commas, each with asc or desc after it if needed.

        Default: the order in which the rows arrive.
        """
        return self._with("orderBy", value)

    def aggregation(self, value: bool) -> Self:
        """Pack many small records into one, in the format of the Kinesis Producer Library.

        Takes true or false.

        Default: ``false``.
        """
        return self._with("aggregation", value)

    def on_invalid_record(self, value: Literal["fail", "deadLetter", "drop"]) -> Self:
        """What happens to a row that cannot become a record because of its size or key: `fail` fails the task;
        `deadLetter` writes the row and the reason to `deadLetterStream` or `deadLetterTable`; `drop` drops and
        counts it.

        Takes one of 'fail', 'deadLetter', 'drop'.

        Default: ``fail``.
        """
        return self._with("onInvalidRecord", value)

    def dead_letter_stream(self, value: str) -> Self:
        """Stream for invalid rows, with `onInvalidRecord=deadLetter`.

        Takes the name or the ARN of a stream.

        Applies with `onInvalidRecord=deadLetter`.
        """
        return self._with("deadLetterStream", value)

    def dead_letter_table(self, value: str) -> Self:
        """Table for invalid rows, with `onInvalidRecord=deadLetter`. The rows are appended when their batch is
        committed. The guide to writing has the columns of the table.

        Takes a string.

        Applies with `onInvalidRecord=deadLetter`.
        """
        return self._with("deadLetterTable", value)

    def delivery_timeout(self, value: str | int | timedelta) -> Self:
        """Maximum time for which a record waits while its stream accepts no record at all. After that, the task
        fails. A stream that accepts records slowly does not fail a task. With `infinite`, the task waits until
        the service accepts the record.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d, or infinite.

        Default: ``10m``.
        """
        return self._with("deliveryTimeout", value)

    def rate_limiting_aimd_increase(self, value: int) -> Self:
        """Number of records in flight by which `aimd` increases its limit after a successful request.

        Takes a whole number from 1 to 1000000.

        Default: ``10``.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.increase", value)

    def rate_limiting_aimd_decrease(self, value: float) -> Self:
        """Factor by which `aimd` reduces its limit after a request with throttled or failed records.

        Takes a number from 0.01 to 0.9999.

        Default: ``0.99``.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.decrease", value)

    def rate_limiting_aimd_min(self, value: int) -> Self:
        """Minimum of the limit of `aimd`: records in flight per executor and stream.

        Takes a whole number from 1 to 100000000.

        Default: ``1``.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.min", value)

    def rate_limiting_aimd_max(self, value: int) -> Self:
        """Maximum of the limit of `aimd`.

        Takes a whole number from 1 to 100000000.

        Default: `maxBatchSize` × `maxInFlightRequests`.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.max", value)

    def rate_limiting_batch_and_delay_min_delay(self, value: str | int | timedelta) -> Self:
        """First pause of `batchAndDelay` between two requests of a task, after throttling. A request then contains
        what the shards accept in this time, divided by the number of tasks.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1m.

        Default: ``100ms``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.minDelay", value)

    def rate_limiting_batch_and_delay_max_delay(self, value: str | int | timedelta) -> Self:
        """Maximum pause of `batchAndDelay`.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``10s``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.maxDelay", value)

    def rate_limiting_batch_and_delay_growth(self, value: float) -> Self:
        """Factor by which the pause of `batchAndDelay` grows while records are throttled.

        Takes a number from 1.01 to 100.0.

        Default: ``1.25``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.growth", value)

    def rate_limiting_batch_and_delay_recovery(self, value: float) -> Self:
        """Increase of the rate of `batchAndDelay` per second without throttling, as a part of the rate with
        `rateLimiting.batchAndDelay.minDelay`.

        Takes a number from 0.001 to 10.0.

        Default: ``0.1``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.recovery", value)

    def rate_limiting_batch_and_delay_quiet_time(self, value: str | int | timedelta) -> Self:
        """Time without throttling after which `batchAndDelay` no longer pauses.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d.

        Default: ``30s``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.quietTime", value)

    def rate_limiting_param_of(self, name: str, value: str) -> Self:
        """Parameter for the class that `rateLimiting` names, which reads it with `RateLimitingContext.parameter`.
        Do not use it for secrets.

        Takes a string.

        Applies with `rateLimiting=<name of a class>`.
        """
        return self._with(f"rateLimiting.param.{name}", value)

    def retry_put_records_max_retries(self, value: int) -> Self:
        """Maximum number of times that a refused record is sent again, not counting throttling; -1 means no limit
        other than `deliveryTimeout`.

        Takes a whole number from -1 to 2147483647.

        Default: ``-1``.
        """
        return self._with("retry.putRecords.maxRetries", value)

    def retry_put_records_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of putRecords.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``50ms``.
        """
        return self._with("retry.putRecords.backoff.base", value)

    def retry_put_records_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of putRecords.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``5s``.
        """
        return self._with("retry.putRecords.backoff.max", value)

    def retry_put_records_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of putRecords.

        Takes a number from 1.0 to 10.0.

        Default: ``2``.
        """
        return self._with("retry.putRecords.backoff.exponent", value)


class FirehoseMethods(Builder):
    """Methods: writing to Amazon Data Firehose."""

    _sensitive = frozenset(
        {
            "awsaccesskey",
            "awsaccesskeyid",
            "awssecretkey",
            "kinesis.awsaccesskeyid",
            "kinesis.awssecretkey",
            "kinesis.sessiontoken",
            "kinesis.sink.proxypassword",
            "kinesis.sink.proxyusername",
            "metadatatoken",
            "proxypassword",
            "proxyuser",
            "proxyusername",
            "roleexternalid",
            "roleexternalid.*",
            "sessiontoken",
        }
    )

    def delivery_stream_name(self, value: str) -> Self:
        """Name of the delivery stream, which must have Direct PUT as its source.

        Takes the name of a delivery stream: 1 to 64 characters a-z, A-Z, 0-9, '_', '.', '-'.

        Default: required.
        """
        return self._with("deliveryStreamName", value)

    def region(self, value: str) -> Self:
        """AWS region of the delivery stream.

        Takes the name of an AWS region such as eu-central-1.

        Default: the region of the AWS default chain.
        """
        return self._with("region", value)

    def endpoint(self, value: str) -> Self:
        """Address of the service. Plain `http` is accepted for loopback addresses only, unless
        `allowInsecureEndpoint` is set.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.
        """
        return self._with("endpoint", value)

    def allow_insecure_endpoint(self, value: bool) -> Self:
        """Accept an `http` endpoint that is not a loopback address. Records and request signatures are then sent
        without encryption.

        Takes true or false.

        Default: ``false``.

        Applies with `endpoint` or `endpoint.*` or `stsEndpoint` or `metadataService`.
        """
        return self._with("allowInsecureEndpoint", value)

    def aws_access_key(self, value: str) -> Self:
        """Access key id of static credentials. It requires `awsSecretKey`.

        Takes a string.

        Default: the AWS default provider chain.
        """
        return self._with("awsAccessKey", value)

    def aws_secret_key(self, value: str) -> Self:
        """Secret key of static credentials. It requires `awsAccessKey`.

        Takes a string.
        """
        return self._with("awsSecretKey", value)

    def session_token(self, value: str) -> Self:
        """Session token of temporary static credentials.

        Takes a string.
        """
        return self._with("sessionToken", value)

    def profile(self, value: str) -> Self:
        """Profile in the shared AWS configuration files. Every executor must have these files.

        Takes a string.
        """
        return self._with("profile", value)

    def role_arn(self, value: str) -> Self:
        """ARN of the role to assume with the other credentials.

        Takes the ARN of a role such as arn:aws:iam::123456789012:role/reader.
        """
        return self._with("roleArn", value)

    def role_external_id(self, value: str) -> Self:
        """External id that the trust policy of the role requires.

        Takes a string.

        Applies with `roleArn` or `roleArn.*`.
        """
        return self._with("roleExternalId", value)

    def role_session_name(self, value: str) -> Self:
        """Session name of the assumed role.

        Takes 2 to 64 characters of a-z, A-Z, 0-9 and _+=,.@-.

        Default: ``spark-kinesis``.

        Applies with `roleArn` or `roleArn.*` or `metadataAllowedRoles`.
        """
        return self._with("roleSessionName", value)

    def sts_endpoint(self, value: str) -> Self:
        """Address of the Security Token Service that assumes the role. Plain `http` is accepted as for `endpoint`.

        Takes an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567.

        Default: the endpoint of the region.

        Applies with `roleArn` or `roleArn.*` or `metadataAllowedRoles`.
        """
        return self._with("stsEndpoint", value)

    def credentials_provider(self, value: str) -> Self:
        """Class that provides credentials: a `java.util.function.Supplier<Map<String, String>>` with a constructor
        without parameters. The map has `accessKeyId`, `secretAccessKey` and, for temporary credentials,
        `sessionToken`.

        Takes the name of a class.
        """
        return self._with("credentialsProvider", value)

    def proxy(self, value: str) -> Self:
        """HTTP proxy of all calls, also of those to loopback addresses; `none` for no proxy. Environment variables
        and system properties for proxies then have no effect.

        Takes the address of an HTTP proxy such as http://proxy.example.com:3128, or none.

        Default: `https.proxyHost`, then `HTTPS_PROXY`, of the process that makes the call.
        """
        return self._with("proxy", value)

    def proxy_user(self, value: str) -> Self:
        """User name for the proxy (Basic authentication). It replaces the user name and password of a proxy from
        the environment.

        Takes a string.
        """
        return self._with("proxyUser", value)

    def proxy_password(self, value: str) -> Self:
        """Password for the proxy. It requires `proxyUser`.

        Takes a string.
        """
        return self._with("proxyPassword", value)

    def non_proxy_hosts(self, value: str) -> Self:
        """Hosts that are reached without the proxy, in the form of `NO_PROXY`: a domain and all names below it, an
        address, a network as `10.0.0.0/8`, `*` for any text, each with or without a port.

        Takes hosts separated by commas, such as .internal.example.com,10.0.0.0/8,127.0.0.1:4567.

        Default: `http.nonProxyHosts` or `NO_PROXY`; none with `proxy`.
        """
        return self._with("nonProxyHosts", value)

    def max_connections(self, value: int) -> Self:
        """Maximum number of connections of a client for requests. Tasks and queries of one process share a client
        if their options for stream, credentials and network are equal. Enhanced fan-out has further connections.

        Takes a whole number from 1 to 100000.

        Default: ``256``.
        """
        return self._with("maxConnections", value)

    def connect_timeout(self, value: str | int | timedelta) -> Self:
        """Maximum duration of opening a connection.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 5m.

        Default: ``5s``.
        """
        return self._with("connectTimeout", value)

    def request_timeout(self, value: str | int | timedelta) -> Self:
        """Maximum duration of a request. After that, the request is sent again.

        Takes a duration such as 250ms, 10s or 15m, from 100ms to 10m.

        Default: ``30s``.
        """
        return self._with("requestTimeout", value)

    def ca_file(self, value: str) -> Self:
        """PEM file with the certificates of the authorities that may sign for services and proxies, for example of
        a proxy that decrypts TLS. The driver and every executor must have it.

        Takes a string.

        Default: `AWS_CA_BUNDLE`, else the authorities that the JVM trusts.
        """
        return self._with("caFile", value)

    def max_batch_size(self, value: int) -> Self:
        """Maximum number of records per request.

        Takes a whole number from 1 to 500.

        Default: ``500``.
        """
        return self._with("maxBatchSize", value)

    def max_batch_bytes(self, value: str | int) -> Self:
        """Maximum number of bytes per request, before base64 encoding.

        Takes a size such as 64m, from 1k to 4m.

        Default: ``4m``.
        """
        return self._with("maxBatchBytes", value)

    def max_time_in_buffer(self, value: str | int | timedelta) -> Self:
        """Maximum time that a record waits for its request to fill.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``1s``.
        """
        return self._with("maxTimeInBuffer", value)

    def send_when_idle(self, value: bool) -> Self:
        """Send a record at once when the task has no request in flight to its stream. Records that are written
        meanwhile form the next request. Use it in real-time mode. In other modes it only makes requests smaller.

        Takes true or false.

        Default: ``false``.
        """
        return self._with("sendWhenIdle", value)

    def max_in_flight_requests(self, value: int) -> Self:
        """Maximum number of concurrent requests per task.

        Takes a whole number from 1 to 10000.

        Default: ``50``.
        """
        return self._with("maxInFlightRequests", value)

    def max_buffered_records(self, value: int) -> Self:
        """Maximum number of records that a task holds, including sent records without an answer. At this limit the
        task waits.

        Takes a whole number from 1 to 100000000.

        Default: ``10000``.

        Applies with `aggregation=false`.
        """
        return self._with("maxBufferedRecords", value)

    def max_buffered_bytes(self, value: str | int) -> Self:
        """Maximum number of bytes that a task holds. At this limit the task waits.

        Takes a size such as 64m, from 1k to 1024g.

        Default: ``64m``.
        """
        return self._with("maxBufferedBytes", value)

    def rate_limiting(self, value: str) -> Self:
        """How the sink adapts its rate to what the stream accepts: `aimd`, `batchAndDelay`, `none`, or the name of
        a class that extends `org.sparkkinesis.sink.limit.RateLimitingStrategy`.

        Takes aimd, batchAndDelay, none, or the name of a class.

        Default: ``aimd``.
        """
        return self._with("rateLimiting", value)

    def on_invalid_record(self, value: Literal["fail", "deadLetter", "drop"]) -> Self:
        """What happens to a row that cannot become a record, because its data is null or too large: `fail` fails
        the task; `deadLetter` writes the row and the reason to `deadLetterTable`; `drop` drops and counts it.

        Takes one of 'fail', 'deadLetter', 'drop'.

        Default: ``fail``.
        """
        return self._with("onInvalidRecord", value)

    def dead_letter_table(self, value: str) -> Self:
        """Table for invalid rows, with `onInvalidRecord=deadLetter`. The rows are appended when their batch is
        committed. The guide to writing has the columns of the table.

        Takes a string.

        Applies with `onInvalidRecord=deadLetter`.
        """
        return self._with("deadLetterTable", value)

    def delivery_timeout(self, value: str | int | timedelta) -> Self:
        """Maximum time for which a record waits while its stream accepts no record at all. After that, the task
        fails. A stream that accepts records slowly does not fail a task. With `infinite`, the task waits until
        the service accepts the record.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d, or infinite.

        Default: ``10m``.
        """
        return self._with("deliveryTimeout", value)

    def rate_limiting_aimd_increase(self, value: int) -> Self:
        """Number of records in flight by which `aimd` increases its limit after a successful request.

        Takes a whole number from 1 to 1000000.

        Default: ``10``.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.increase", value)

    def rate_limiting_aimd_decrease(self, value: float) -> Self:
        """Factor by which `aimd` reduces its limit after a request with throttled or failed records.

        Takes a number from 0.01 to 0.9999.

        Default: ``0.99``.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.decrease", value)

    def rate_limiting_aimd_min(self, value: int) -> Self:
        """Minimum of the limit of `aimd`: records in flight per executor and stream.

        Takes a whole number from 1 to 100000000.

        Default: ``1``.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.min", value)

    def rate_limiting_aimd_max(self, value: int) -> Self:
        """Maximum of the limit of `aimd`.

        Takes a whole number from 1 to 100000000.

        Default: `maxBatchSize` × `maxInFlightRequests`.

        Applies with `rateLimiting=aimd`.
        """
        return self._with("rateLimiting.aimd.max", value)

    def rate_limiting_batch_and_delay_min_delay(self, value: str | int | timedelta) -> Self:
        """First pause of `batchAndDelay` between two requests of a task, after throttling. A request then contains
        what the shards accept in this time, divided by the number of tasks.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1m.

        Default: ``100ms``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.minDelay", value)

    def rate_limiting_batch_and_delay_max_delay(self, value: str | int | timedelta) -> Self:
        """Maximum pause of `batchAndDelay`.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``10s``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.maxDelay", value)

    def rate_limiting_batch_and_delay_growth(self, value: float) -> Self:
        """Factor by which the pause of `batchAndDelay` grows while records are throttled.

        Takes a number from 1.01 to 100.0.

        Default: ``1.25``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.growth", value)

    def rate_limiting_batch_and_delay_recovery(self, value: float) -> Self:
        """Increase of the rate of `batchAndDelay` per second without throttling, as a part of the rate with
        `rateLimiting.batchAndDelay.minDelay`.

        Takes a number from 0.001 to 10.0.

        Default: ``0.1``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.recovery", value)

    def rate_limiting_batch_and_delay_quiet_time(self, value: str | int | timedelta) -> Self:
        """Time without throttling after which `batchAndDelay` no longer pauses.

        Takes a duration such as 250ms, 10s or 15m, from 1s to 1d.

        Default: ``30s``.

        Applies with `rateLimiting=batchAndDelay`.
        """
        return self._with("rateLimiting.batchAndDelay.quietTime", value)

    def rate_limiting_param_of(self, name: str, value: str) -> Self:
        """Parameter for the class that `rateLimiting` names, which reads it with `RateLimitingContext.parameter`.
        Do not use it for secrets.

        Takes a string.

        Applies with `rateLimiting=<name of a class>`.
        """
        return self._with(f"rateLimiting.param.{name}", value)

    def retry_put_record_batch_max_retries(self, value: int) -> Self:
        """Maximum number of times that a refused record is sent again, not counting throttling; -1 means no limit
        other than `deliveryTimeout`.

        Takes a whole number from -1 to 2147483647.

        Default: ``-1``.
        """
        return self._with("retry.putRecordBatch.maxRetries", value)

    def retry_put_record_batch_backoff_base(self, value: str | int | timedelta) -> Self:
        """Upper bound of the random pause before the first retry of putRecordBatch.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``50ms``.
        """
        return self._with("retry.putRecordBatch.backoff.base", value)

    def retry_put_record_batch_backoff_max(self, value: str | int | timedelta) -> Self:
        """Upper bound of every pause between retries of putRecordBatch.

        Takes a duration such as 250ms, 10s or 15m, from 1ms to 1h.

        Default: ``5s``.
        """
        return self._with("retry.putRecordBatch.backoff.max", value)

    def retry_put_record_batch_backoff_exponent(self, value: float) -> Self:
        """Factor by which the upper bound of the pause grows with each retry of putRecordBatch.

        Takes a number from 1.0 to 10.0.

        Default: ``2``.
        """
        return self._with("retry.putRecordBatch.backoff.exponent", value)

    def retry_recoverable_errors(self, value: str | Sequence[str]) -> Self:
        """Failures to treat as temporary, in addition to throttling, failures within the service and lost
        connections: error codes of the service, or names of exception classes.

        Takes error codes such as KMSDisabledException, or names of exception classes, separated by commas.

        Default: none.
        """
        return self._with("retry.recoverableErrors", value)
