#!/usr/bin/env bash
# Serves a throwaway database with sample data until Ctrl-C: what `make demo` runs.
#
# Installs what is missing, builds, keeps a private cluster in ./.demo, loads loadtest/demo/*.sql
# into it, and starts the service on 127.0.0.1:PORT (8080). The cluster listens on a Unix socket
# only and is stopped at the end; the next start uses it again, unless the SQL has changed.
# `rm -rf .demo` forgets it. DEMO_DIR names another place for it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/.." && pwd -P)
port=${PORT:-8080}

fail() {
    echo "make demo: $*" >&2
    exit 1
}

find_server() { # sets pg to the folder of the newest PostgreSQL server's programs, or to nothing
    local initdb
    pg=
    for initdb in /usr/lib/postgresql/?/bin/initdb /usr/lib/postgresql/??/bin/initdb \
        /usr/pgsql-?/bin/initdb /usr/pgsql-??/bin/initdb; do
        [ ! -x "$initdb" ] || pg=${initdb%/initdb}
    done
    [ -n "$pg" ] || { initdb=$(command -v initdb) && pg=${initdb%/initdb}; } || true
}

can_build() {
    command -v cc >/dev/null && command -v pkg-config >/dev/null &&
        pkg-config --exists libpq libmicrohttpd libcjson
}

cd "$root"
[[ $port =~ ^[0-9]+$ ]] && [ "$port" -ge 1 ] && [ "$port" -le 65535 ] || fail "PORT=$port is no port"
find_server
if ! can_build || [ -z "$pg" ] || ! command -v curl >/dev/null; then
    make --no-print-directory --silent deps || fail "packages are missing, and could not be installed"
    find_server
fi
[ -n "$pg" ] || fail "no PostgreSQL server is installed (apt-get install postgresql)"
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    fail "port $port is in use; choose another one: make demo PORT=$((port + 1))"
fi

# On all cores; a line for each twentieth, or one that grows where somebody sits before a terminal.
build() {
    local steps line made=0 told=0 other=()
    steps=$(make --no-print-directory -n all | grep -c '^echo "  ') || return 0 # nothing to do
    while IFS= read -r line; do
        case $line in
        '  '[A-Z]*) made=$((made + 1)) ;;
        *) other+=("$line") ;;
        esac
        if [ -t 1 ]; then
            printf '\rBuilding: %d of %d' "$made" "$steps"
        elif [ $((made * 20 / steps)) -gt "$told" ]; then
            told=$((made * 20 / steps))
            echo "Building: $made of $steps"
        fi
    done < <(make --no-print-directory -j"$(nproc)" all 2>&1 || echo "make failed")
    [ ! -t 1 ] || echo
    if [ "${other[*]: -1}" = "make failed" ]; then
        printf '%s\n' "${other[@]}" | tail -n 20 >&2
        fail "the build failed"
    fi
}
build

# PostgreSQL refuses to run as root, so root runs it as the user of the package. That user may not
# be able to enter the folder of the checkout; then the cluster lives below /var/tmp.
as=()
dir=${DEMO_DIR:-$root/.demo}
if [ "$(id -u)" = 0 ]; then
    user=${PGTEST_USER:-postgres}
    id "$user" >/dev/null 2>&1 || fail "there is no user '$user' to run PostgreSQL as; set PGTEST_USER"
    as=(setpriv --reuid "$user" --regid "$(id -gn "$user")" --clear-groups)
    if [ ! -e "$dir" ] && ! "${as[@]}" test -x "$(dirname "$dir")"; then
        ln -sfn "$(mktemp -d /var/tmp/sluice-demo.XXXXXX)" "$dir"
    fi
    mkdir -p "$dir/"
    dir=$(cd "$dir/" && pwd -P)
    chown "$user:" "$dir"
    "${as[@]}" test -x "$dir" || fail "user '$user' cannot enter $dir; set DEMO_DIR to a folder that it can"
fi
mkdir -p "$dir/"
dir=$(cd "$dir/" && pwd -P)
run() { (cd / && "${as[@]}" "$@"); }

# The path of a Unix socket may have 107 bytes at most, so it lies in /tmp.
sockets=$(mktemp -d /tmp/sluice-demo.XXXXXX)
[ "${#as[@]}" = 0 ] || chown "$user:" "$sockets"
sluice=
postmaster= # only what this run has started is stopped
stop() {
    trap - EXIT
    trap '' INT TERM HUP PIPE # neither a second Ctrl-C nor a closed terminal leaves the database behind
    if [ -n "$sluice" ]; then
        kill -TERM "$sluice" 2>/dev/null || true
        wait "$sluice" 2>/dev/null || true
    fi
    [ -z "$postmaster" ] || run "$pg/pg_ctl" -D "$dir/data" -m fast -w stop >/dev/null 2>&1 || true
    rm -rf "$sockets"
    [ -z "$sluice" ] || echo "Stopped." 2>/dev/null || true
}
trap stop EXIT
trap 'exit 0' INT TERM HUP

if run "$pg/pg_ctl" -D "$dir/data" status >/dev/null 2>&1; then
    fail "a demo runs already from $dir (PostgreSQL's pid is $(head -n 1 "$dir/data/postmaster.pid")); \
end that one, or set DEMO_DIR to another folder"
fi
if [ ! -s "$dir/data/PG_VERSION" ]; then
    echo "Making a private PostgreSQL cluster in $dir ..."
    rm -rf "$dir/data" "$dir/loaded"
    run "$pg/initdb" -D "$dir/data" -U demo -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
        >"$sockets/initdb.log" 2>&1 ||
        fail "the cluster could not be made: $(tail -n 1 "$sockets/initdb.log")"
fi
postmaster=started # whether or not it comes up, or Ctrl-C comes first
run "$pg/pg_ctl" -D "$dir/data" -l "$dir/data/server.log" -w -o "-k $sockets \
    -c listen_addresses= -c fsync=off -c synchronous_commit=off" start >/dev/null 2>&1 ||
    fail "the cluster does not start: $(grep -E 'FATAL|PANIC|ERROR' "$dir/data/server.log" 2>/dev/null | tail -n 1); \
see $dir/data/server.log"

export PGOPTIONS='-c client_min_messages=warning'
sql() { "$pg/psql" -X -q -v ON_ERROR_STOP=1 -h "$sockets" -U demo "$@"; }
wanted=$(cat "$here"/demo/*.sql | cksum)
if [ "$(cat "$dir/loaded" 2>/dev/null)" != "$wanted" ]; then
    echo "Loading the sample data ..."
    rm -f "$dir/loaded"
    sql -d postgres -c 'DROP DATABASE IF EXISTS demo' -c 'CREATE DATABASE demo' \
        -c 'DROP ROLE IF EXISTS demo_reader' -c 'CREATE ROLE demo_reader LOGIN' \
        -c 'GRANT pg_read_all_data TO demo_reader' >/dev/null || fail "the database could not be made"
    for file in "$here"/demo/*.sql; do
        sql -d demo -f "$file" >/dev/null ||
            fail "$(basename "$file") could not be loaded"
    done
    sql -d demo -c 'VACUUM ANALYZE'
    echo "$wanted" >"$dir/loaded"
fi

build/sluice --db-uri "host=$sockets user=demo_reader dbname=demo" --listen "127.0.0.1:$port" \
    --drain-timeout 1s \
    ${SCHEMAS:+--schemas "$SCHEMAS"} >"$dir/sluice.log" 2>&1 &
sluice=$!
is_ready() { # asked by the shell itself: starting curl again and again takes longer than the service
    local status=
    { exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null || return 1
    printf 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
    read -r _ status _ <&3 || true
    exec 3>&-
    [ "$status" = 200 ]
}
deadline=$((SECONDS + 30))
until is_ready; do
    kill -0 "$sluice" 2>/dev/null || fail "the service ended: $(tail -n 1 "$dir/sluice.log")"
    [ "$SECONDS" -lt "$deadline" ] || fail "the service is not ready; see $dir/sluice.log"
    sleep 0.02
done

echo
echo "Sluice serves the sample data on http://127.0.0.1:$port/ - worth trying,
in a browser or as curl 'URL':"
echo
while IFS= read -r line; do
    case $line in
    '#'*) echo "  ${line#\# }" ;;
    ?*) echo "    http://127.0.0.1:$port${line//\'/%27}" ;; # so that it can be pasted between quotes
    esac
done <"$here/demo/urls.txt"
echo
echo "A million rows, 277 MB, streamed whole:"
echo "    curl -o events.json http://127.0.0.1:$port/events"
echo "Pages of two, each with a link to the next one:"
echo "    curl -H 'Prefer: maxpagesize=2' 'http://127.0.0.1:$port/products?\$select=name&\$orderby=name'"
echo
echo "The service logs to $dir/sluice.log. Ctrl-C stops it and its database."
if wait "$sluice"; then
    exit 0 # it was asked to, as by Ctrl-C, which it hears as well
fi
sluice=
fail "the service ended: $(tail -n 1 "$dir/sluice.log")"
