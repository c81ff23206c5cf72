"""Print the least IAM policy for a use of the connector: ``python -m spark_kinesis.policy --stream orders``.

The policy has the actions that the connector calls, on exactly the named resources. ``policy`` returns it as a
dictionary.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_kinesis._permissions import KMS_ACTIONS, PERMISSIONS

_ARN = re.compile(r"arn:(aws[a-z-]*):kinesis:([a-z0-9-]+):(\d{12}):stream/([a-zA-Z0-9_.-]{1,128})")
_DELIVERY_ARN = re.compile(r"arn:(aws[a-z-]*):firehose:([a-z0-9-]+):(\d{12}):deliverystream/([a-zA-Z0-9_.-]{1,64})")
_CONSUMER_ARN = re.compile(rf"(?P<consumer>{_ARN.pattern}/consumer/[a-zA-Z0-9_.-]{{1,128}})(:\d+)?")
_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,128}")
_KEY_ARN = re.compile(r"arn:aws[a-z-]*:kms:([a-z0-9-]+):\d{12}:key/[a-zA-Z0-9-]+")
_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/.+")


@dataclass(frozen=True)
class Place:
    """Where streams that are given by name are."""

    account: str
    region: str
    partition: str = "aws"

    @staticmethod
    def of(account: str | None, region: str | None, partition: str | None = None) -> Place:
        """Return the place, in the partition of the region unless another one is given."""
        if account is None or re.fullmatch(r"\d{12}", account) is None:
            raise ValueError("A name has no account: set --account to its 12 digits, or use the ARN.")
        if region is None:
            raise ValueError("A name has no region: set --region, or use the ARN.")
        found = {"cn": "aws-cn", "us-gov": "aws-us-gov"}
        prefix = next((prefix for prefix in found if region.startswith(f"{prefix}-")), "")
        return Place(account, region, partition or found.get(prefix, "aws"))


@dataclass(frozen=True)
class Use:
    """What an application does. Streams and delivery streams are names or ARNs.

    ``consumers`` are names, of consumers of every stream in ``streams``, or ARNs.
    """

    streams: Sequence[str] = ()
    patterns: Sequence[str] = ()
    consumers: Sequence[str] = ()
    registers: bool = True
    reads: bool = True
    writes: bool = False
    shard_limits: bool = True
    dead_letters: Sequence[str] = ()
    firehose: Sequence[str] = ()
    keys: Sequence[str] = ()
    account: str | None = None
    region: str | None = None


@dataclass
class _Statements:
    """Statements in their order, with a Sid each. Equal actions and conditions share a statement."""

    found: list[dict[str, Any]] = field(default_factory=list)

    def add(self, sid: str, actions: Iterable[str], resources: Sequence[str], **condition: Any) -> None:
        names = list(actions)
        if names and resources:
            statement: dict[str, Any] = {"Sid": sid, "Effect": "Allow", "Action": names}
            statement["Resource"] = resources[0] if len(resources) == 1 else list(resources)
            if condition:
                statement["Condition"] = condition
            self.found.append(statement)

    def document(self) -> dict[str, Any]:
        return {"Version": "2012-10-17", "Statement": self.found}


def policy(use: Use) -> dict[str, Any]:
    """Return the least policy for a use.

    Raises ``ValueError`` with the fix if a resource has neither an ARN nor an account and a region.
    """
    statements = _Statements()
    streams = _unique([_stream_arn(name, use) for name in use.streams] + [_like(one, use) for one in use.patterns])
    dead = _unique([_stream_arn(name, use) for name in use.dead_letters])
    if not (streams or dead or use.firehose):
        raise ValueError("There is nothing to allow: set --stream, --pattern, --dead-letters or --firehose.")
    fan_out = ["read", "fan_out", *(["registration"] if use.registers else [])] if use.consumers else ["read"]
    reads = fan_out if use.reads and streams else []
    writes = ["write", *(["shard_limits"] if use.shard_limits else [])]
    own = [*reads, *(writes if use.writes else [])]
    statements.add("Streams", _actions(own, "stream"), streams)
    consumers = _consumer_arns(use, streams) if use.reads else []
    statements.add("Consumers", _actions(reads, "consumer"), consumers)
    statements.add(
        "DeadLetters", _actions(writes, "stream"), [arn for arn in dead if not (use.writes and arn in streams)]
    )
    if use.patterns:
        statements.add("Pattern", _actions(["pattern"], "*"), ["*"])
    hoses = _unique([_delivery_arn(name, use) for name in use.firehose])
    statements.add("Firehose", _actions(["firehose"], "deliverystream"), hoses)
    keyed = {*reads, *(["write"] if use.writes or dead else [])}
    for number, key in enumerate(_unique(use.keys), start=1):
        sid = "Key" if len(set(use.keys)) == 1 else f"Key{number}"
        statements.add(sid, [KMS_ACTIONS[one] for one in KMS_ACTIONS if one in keyed], [key], **_through_kinesis(key))
    return statements.document()


def assume_role(roles: Sequence[str]) -> dict[str, Any]:
    """Return the policy of the identity that assumes the roles of ``roleArn``."""
    for role in roles:
        if _ROLE_ARN.fullmatch(role) is None:
            raise ValueError(f"--role {role}: this is not the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME.")
    statements = _Statements()
    statements.add("Role", ["sts:AssumeRole"], _unique(roles))
    return statements.document()


def without(document: dict[str, Any], action: str) -> dict[str, Any]:
    """Return a policy without one of its actions."""
    kept = [
        {**statement, "Action": actions}
        for statement in document["Statement"]
        if (actions := [one for one in statement["Action"] if one != action])
    ]
    return {**document, "Statement": kept}


def actions_of(document: dict[str, Any]) -> list[str]:
    """Return the actions that a policy allows."""
    return _unique(action for statement in document["Statement"] for action in statement["Action"])


def _actions(uses: Iterable[str], resource: str) -> list[str]:
    return _unique(action for use in uses for action, on in PERMISSIONS[use] if on == resource)


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _stream_arn(stream: str, use: Use) -> str:
    if _ARN.fullmatch(stream):
        return stream
    if not _NAME.fullmatch(stream):
        raise ValueError(f"--stream {stream}: this is neither the name nor the ARN of a stream.")
    place = Place.of(use.account, use.region)
    return f"arn:{place.partition}:kinesis:{place.region}:{place.account}:stream/{stream}"


def _like(pattern: str, use: Use) -> str:
    """Return the ARN of all streams that begin as the names that match the regular expression."""
    place = Place.of(use.account, use.region)
    return f"arn:{place.partition}:kinesis:{place.region}:{place.account}:stream/{_prefix(pattern)}*"


def _prefix(pattern: str) -> str:
    """Return the literal beginning of a regular expression."""
    if "|" in pattern:
        return ""
    found = re.match(r"\^?((?:[a-zA-Z0-9_-]|\\[.-])*)", pattern)
    text = "" if found is None else found.group(1)
    rest = pattern[0 if found is None else found.end() :]
    # The character before a quantifier may be missing.
    if rest[:1] in ("*", "?", "{"):
        text = re.sub(r"(\\.|.)$", "", text)
    return text.replace("\\", "")


def _delivery_arn(name: str, use: Use) -> str:
    if _DELIVERY_ARN.fullmatch(name):
        return name
    if not _NAME.fullmatch(name):
        raise ValueError(f"--firehose {name}: this is neither the name nor the ARN of a delivery stream.")
    place = Place.of(use.account, use.region)
    return f"arn:{place.partition}:firehose:{place.region}:{place.account}:deliverystream/{name}"


def _consumer_arns(use: Use, streams: Sequence[str]) -> list[str]:
    """Return the ARNs of the consumers. A consumer that is registered again has another number at its end."""
    found: list[str] = []
    for consumer in use.consumers:
        arn = _CONSUMER_ARN.fullmatch(consumer)
        if arn is not None:
            found.append(f"{arn['consumer']}:*" if use.registers or arn["consumer"] == consumer else consumer)
        elif _NAME.fullmatch(consumer):
            found += [f"{stream}/consumer/{consumer}:*" for stream in streams]
        else:
            raise ValueError(f"--consumer {consumer}: this is neither the name nor the ARN of a consumer.")
    return _unique(found)


def _through_kinesis(key: str) -> dict[str, Any]:
    found = _KEY_ARN.fullmatch(key)
    if found is None:
        raise ValueError(f"--kms {key}: this is not the ARN of a key, arn:aws:kms:REGION:ACCOUNT:key/ID.")
    suffix = "amazonaws.com.cn" if found.group(1).startswith("cn-") else "amazonaws.com"
    return {"StringEquals": {"kms:ViaService": f"kinesis.{found.group(1)}.{suffix}"}}


def _of_document(path: Path) -> tuple[list[str], list[str]]:
    """Return the streams of a metadata document, and the roles with which they are used."""
    document = json.loads(path.read_text())
    found = document.get("streams") if isinstance(document, dict) else None
    if not isinstance(found, dict):
        raise ValueError(f"--metadata {path}: this is not a metadata document, an object with 'streams'.")
    physical = [one for streams in found.values() for one in streams]
    return _unique(one["arn"] for one in physical), _unique(one["role"] for one in physical if one.get("role"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spark_kinesis.policy",
        description="Print the least IAM policy for a use of the connector as JSON.",
    )
    several: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument("--stream", metavar="NAME|ARN", help="stream that is read, or written with --write", **several)
    parser.add_argument("--pattern", metavar="REGEX", help="value of streamPattern", **several)
    parser.add_argument(
        "--consumer", metavar="NAME|ARN", help="enhanced fan-out consumer (consumerName or consumerARN)", **several
    )
    parser.add_argument("--no-registration", action="store_true", help="registration=none, or consumerARN")
    parser.add_argument("--read", action="store_true", help="with --write: the streams are read as well")
    parser.add_argument("--write", action="store_true", help="the streams are written")
    parser.add_argument(
        "--no-shard-limits", action="store_true", help="writes with shardLimits=false and aggregation=false"
    )
    parser.add_argument("--dead-letters", metavar="NAME|ARN", help="value of deadLetterStream", **several)
    parser.add_argument("--firehose", metavar="NAME|ARN", help="delivery stream of Amazon Data Firehose", **several)
    parser.add_argument("--kms", metavar="ARN", help="key of encrypted streams; not for alias/aws/kinesis", **several)
    parser.add_argument(
        "--role",
        metavar="ARN",
        help="value of roleArn: prints the policy of the identity that assumes it, and the policy of the role",
        **several,
    )
    parser.add_argument(
        "--metadata", metavar="FILE", help="metadata document, whose streams and roles are added", type=Path
    )
    parser.add_argument("--account", metavar="NUMBER", help="account of streams that are given by name")
    parser.add_argument("--region", metavar="NAME", help="region of streams that are given by name")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the policy, or with ``--role`` an object with the policies ``caller`` and ``role``."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        found = ([], []) if given.metadata is None else _of_document(given.metadata)
        streams, roles = [*given.stream, *found[0]], [*given.role, *found[1]]
        least = policy(
            Use(
                streams=streams,
                patterns=given.pattern,
                consumers=given.consumer,
                registers=not given.no_registration,
                reads=given.read or not given.write,
                writes=given.write,
                shard_limits=not given.no_shard_limits,
                dead_letters=given.dead_letters,
                firehose=given.firehose,
                keys=given.kms,
                account=given.account,
                region=given.region,
            )
        )
        printed = {"caller": assume_role(roles), "role": least} if roles else least
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(json.dumps(printed, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
