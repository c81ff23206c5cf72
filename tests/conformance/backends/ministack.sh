#!/usr/bin/env bash
# ministack from PyPI.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
version=1.5.33
venv="$installed/ministack-$version"
if [ ! -x "$venv/bin/ministack" ]; then
  may_install ministack || unavailable "ministack is not installed; tests/conformance/run ministack installs it"
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q --timeout 30 --retries 1 "ministack==$version" cbor2==6.2.1; } >&2 ||
    unavailable "ministack could not be installed"
fi
port=$(free_port)
GATEWAY_PORT=$port SERVICES=kinesis "$venv/bin/ministack" >&2 &
await_port "$port" $! || unavailable "ministack did not start"
echo "http://127.0.0.1:$port"
wait
