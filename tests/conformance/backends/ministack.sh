#!/usr/bin/env bash
# ministack from PyPI.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
version=1.5.33
venv="$installed/ministack-$version"
if [ ! -x "$venv/bin/ministack" ]; then
  [ "${CONFORMANCE_INSTALL:-}" = 1 ] || unavailable "ministack is not installed; CONFORMANCE_INSTALL=1 installs it from PyPI"
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q "ministack==$version" cbor2; } >&2 ||
    unavailable "ministack could not be installed"
fi
port=$(free_port)
GATEWAY_PORT=$port SERVICES=kinesis "$venv/bin/ministack" >&2 &
await_port "$port" $! || unavailable "ministack did not start"
echo "http://127.0.0.1:$port"
wait
