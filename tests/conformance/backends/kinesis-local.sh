#!/usr/bin/env bash
# kinesis-local from npm (kinesis-mock compiled to JavaScript).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
version=0.6.2
package="$installed/kinesis-local-$version/node_modules/kinesis-local"
command -v node >/dev/null || unavailable "kinesis-local needs node"
if [ ! -d "$package" ]; then
  [ "${CONFORMANCE_INSTALL:-}" = 1 ] || unavailable "kinesis-local is not installed; CONFORMANCE_INSTALL=1 installs it from npm"
  npm install --silent --no-audit --no-fund --prefix "$installed/kinesis-local-$version" "kinesis-local@$version" >&2 ||
    unavailable "kinesis-local could not be installed"
fi
port=$(free_port)
KINESIS_MOCK_PLAIN_PORT=$port KINESIS_MOCK_TLS_PORT=$(free_port) KINESIS_MOCK_CERT_PATH="$package/server.json" \
  KINESIS_MOCK_LOG_LEVEL=ERROR SHARD_LIMIT=1000 node "$package/main.js" >&2 &
await_port "$port" $! || unavailable "kinesis-local did not start"
echo "http://127.0.0.1:$port"
wait
