# What the backends' scripts share. They install into .installed/ beside them (git-ignored), and print one line: the
# endpoint once it answers, or why there is none.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
installed="$here/.installed"
mkdir -p "$installed"

# may_install NAME: whether CONFORMANCE_INSTALL names it.
may_install() { [[ " ${CONFORMANCE_INSTALL:-} " == *" $1 "* ]]; }

unavailable() { echo "$1"; exit 0; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# await_port PORT PID: until something listens there, or the process is gone.
await_port() {
  for _ in $(seq 300); do
    python3 -c "import socket; socket.create_connection(('127.0.0.1', $1), 1).close()" 2>/dev/null && return 0
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}
