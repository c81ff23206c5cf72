#!/usr/bin/env bash
# moto's server from PyPI, with only what Kinesis needs. It supports JSON only, and no enhanced fan-out.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
version=5.2.5
venv="$installed/moto-$version"
if [ ! -x "$venv/bin/moto_server" ]; then
  may_install moto || unavailable "moto is not installed; CONFORMANCE_INSTALL=moto installs it"
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q --timeout 30 --retries 1 "moto==$version" flask==3.1.3 flask-cors==6.0.5; } >&2 ||
    unavailable "moto could not be installed"
fi
port=$(free_port)
"$venv/bin/moto_server" -H 127.0.0.1 -p "$port" >&2 &
await_port "$port" $! || unavailable "moto did not start"
echo "http://127.0.0.1:$port"
wait
