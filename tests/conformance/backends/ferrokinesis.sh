#!/usr/bin/env bash
# ferrokinesis from crates.io; building it takes some minutes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
version=0.7.0
root="$installed/ferrokinesis-$version"
if [ ! -x "$root/bin/ferrokinesis" ]; then
  may_install ferrokinesis || unavailable "ferrokinesis is not installed; tests/conformance/run ferrokinesis builds it"
  command -v cargo >/dev/null || unavailable "ferrokinesis needs cargo"
  cargo install -q --root "$root" --features tls "ferrokinesis@$version" >&2 || unavailable "ferrokinesis could not be built"
fi
port=$(free_port)
"$root/bin/ferrokinesis" --port "$port" --shard-limit 1000 --enforce-limits true >&2 &
await_port "$port" $! || unavailable "ferrokinesis did not start"
echo "http://127.0.0.1:$port"
wait
