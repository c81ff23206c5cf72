#!/usr/bin/env bash
# kinesis-local from npm (kinesis-mock compiled to JavaScript).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
version=0.6.2
package="$installed/kinesis-local-$version/node_modules/kinesis-local"
command -v node >/dev/null || unavailable "kinesis-local needs node"
if [ ! -d "$package" ]; then
  may_install kinesis-local || unavailable "kinesis-local is not installed; tests/conformance/run kinesis-local installs it"
  command -v npm >/dev/null || unavailable "kinesis-local needs npm"
  npm install --silent --no-audit --no-fund --fetch-timeout=30000 --fetch-retries=1 \
    --prefix "$installed/kinesis-local-$version" "kinesis-local@$version" >&2 ||
    unavailable "kinesis-local could not be installed"
fi
port=$(free_port)
KINESIS_MOCK_PLAIN_PORT=$port KINESIS_MOCK_TLS_PORT=$(free_port) KINESIS_MOCK_CERT_PATH="$package/server.json" \
  KINESIS_MOCK_LOG_LEVEL=ERROR SHARD_LIMIT=1000 node "$package/main.js" >&2 &
await_port "$port" $! || unavailable "kinesis-local did not start"
echo "http://127.0.0.1:$port"
wait
