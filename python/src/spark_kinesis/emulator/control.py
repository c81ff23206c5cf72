"""Control of an emulator by tests: faults, the clock, quotas, and the counts of the calls."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Calls:
    """The count of the calls of an operation on a stream or shard with one result (``ok`` or an error type)."""

    operation: str
    stream: str
    shard: str
    result: str
    count: int
    account: str = ""
    region: str = ""


class EmulatorControl:
    """Calls the pages of the emulator. Each call opens its own connection."""

    def __init__(self, endpoint: str, token: str | None = None) -> None:
        """``token`` is the ``adminToken`` that an emulator with credentials prints when it is ready."""
        self._address = urlsplit(endpoint)
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def add_fault(self, effect: str, **rule: Any) -> int:
        """Add a fault and return its number: ``add_fault("throttle", operation="PutRecords", count=20)``.

        Effects and the members of a rule are in docs/emulator.md.
        """
        return int(self._ask("POST", "faults", {"effect": effect, **rule})["id"])

    def clear_faults(self, seed: int | None = None) -> None:
        """Remove all faults. With a seed, also restart their random numbers from it."""
        self._ask("DELETE", "faults", {} if seed is None else {"seed": seed})

    def advance_clock(self, by: timedelta) -> None:
        """Advance the emulator's clock, which affects retention, iterators, tokens and subscriptions."""
        self._ask("POST", "clock", {"advanceMillis": by // timedelta(milliseconds=1)})

    def set_quotas(self, on: bool) -> None:
        """Enforce the service's quotas, or stop doing so."""
        self._ask("POST", "quotas", {"on": on})

    def scale_quota(self, quota: str, scale: float) -> None:
        """Multiply one quota of the service by ``scale``."""
        self._ask("POST", "quotas", {"quota": quota, "scale": scale})

    def create_stream(
        self, name: str, shards: int = 1, *, account: str | None = None, region: str | None = None
    ) -> str:
        """Create a stream that is ACTIVE at once, in this account and region, and return its ARN."""
        place = {key: text for key, text in {"account": account, "region": region}.items() if text is not None}
        return str(self._ask("POST", "streams", {"name": name, "shards": shards, **place})["arn"])

    def set_metadata(self, document: Mapping[str, Any] | str, *, token: str | None = None) -> str:
        """Set the document of the page ``metadata_url`` and return its ETag. A text is served as it is.

        ``token`` is the bearer token that requests for the page must carry. Faults of the operation ``GetMetadata``
        apply to the page.
        """
        text = document if isinstance(document, str) else json.dumps(document)
        secret = {} if token is None else {"token": token}
        return str(self._ask("POST", "metadata", {"document": text, **secret})["etag"])

    def set_policies(self, owner: str, policies: Sequence[Mapping[str, Any] | str]) -> None:
        """Set the IAM policies of an access key or, by its ARN, of a role.

        Its calls may then do only what they allow. Without any policy, they may do everything again.
        """
        texts = [policy if isinstance(policy, str) else json.dumps(policy) for policy in policies]
        self._ask("POST", "policies", {"owner": owner, "policies": texts})

    def create_delivery_stream(self, name: str) -> str:
        """Create a delivery stream of Amazon Data Firehose that is ACTIVE at once, and return its ARN.

        Its files are below the folder that ``--deliveries`` names, in the folder ``name``.
        """
        return str(self._ask("POST", "delivery-streams", {"name": name})["arn"])

    def calls(self) -> list[Calls]:
        """Return the counts of all calls so far, by operation, stream, shard and result."""
        return [Calls(**entry) for entry in self._ask("GET", "calls")["calls"]]

    def reset_calls(self) -> None:
        """Set all counts to zero."""
        self._ask("DELETE", "calls")

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        connection = http.client.HTTPConnection(self._address.hostname or "", self._address.port or 80, timeout=30)
        try:
            connection.request(method, f"/_emulator/{path}", json.dumps(body or {}).encode(), self._headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        result: dict[str, Any] = json.loads(text) if text else {}
        if answer.status != http.client.OK:
            raise ValueError(result.get("error", f"HTTP {answer.status}"))
        return result
