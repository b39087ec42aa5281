#!/usr/bin/env bash
# Runs a command with a private PostgreSQL beside it: with_postgres.sh COMMAND [ARG...]
#
# The cluster lives in a temporary folder, listens on a Unix socket there and on a free loopback
# port, trusts everybody local, and is stopped by its own pid. The command finds it through libpq's
# variables (PGHOST, PGPORT, PGUSER, PGDATABASE); PGTEST_DATA names its data folder and
# PGTEST_BIN the folder of its programs. Root runs it as the user of PGTEST_USER (postgres).
set -euo pipefail

if [ -n "${PGTEST_DATA:-}" ]; then # one is there already
    exec "$@"
fi

bin=${PGTEST_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)}
if [ -z "$bin" ] || [ ! -x "$bin/initdb" ]; then
    echo "with_postgres: no PostgreSQL server is installed (looked for /usr/lib/postgresql/*/bin)" >&2
    exit 1
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/pgtest.XXXXXX")
as=()
if [ "$(id -u)" = 0 ]; then
    as=(setpriv --reuid "${PGTEST_USER:-postgres}" --regid "${PGTEST_USER:-postgres}" --clear-groups)
    chown "${PGTEST_USER:-postgres}:" "$dir"
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

cd /
stop() {
    if [ -s "$dir/data/postmaster.pid" ]; then
        "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
    fi
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT TERM

"${as[@]}" "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
    >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; exit 1; }
"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/server.log" -w -o "-p $port -k $dir \
    -c listen_addresses=127.0.0.1 -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
    -c max_connections=400" start >/dev/null || { cat "$dir/data/server.log" >&2; exit 1; }

export PGHOST="$dir" PGPORT="$port" PGUSER=postgres PGDATABASE=postgres
export PGTEST_DATA="$dir/data" PGTEST_BIN="$bin"
cd "$OLDPWD"
status=0
"$@" || status=$?
exit "$status"
