#!/usr/bin/env bash
# Proves the Dockerfile where there is no Docker: runs its own steps in a chroot made by debootstrap,
# then starts the image's entry point as its user and asks its health check. Needs root.
#
# usage: tests/docker/chroot.sh [FOLDER]     the folder keeps the base system for the next time
#
# MIRROR names a Debian mirror. Understands FROM, WORKDIR, COPY [--from], RUN, ENV, EXPOSE, USER,
# HEALTHCHECK and ENTRYPOINT, one line each; anything else is an error, not a step left out.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd -P)
[ "$(id -u)" = 0 ] || { echo "chroot.sh: needs root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "chroot.sh: debootstrap is not installed" >&2; exit 1; }
# The service of the image needs a database to talk to.
[ -n "${PGTEST_DATA:-}" ] || exec "$root/tests/support/with_postgres.sh" "$root/tests/docker/chroot.sh" "$@"
work=${1:-$(mktemp -d /var/tmp/sluice-image.XXXXXX)}
mkdir -p "$work"
work=$(cd "$work" && pwd -P)
keep=${1:-}
mounted=()
pids=()
finish() {
    local status=$? p m
    for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
    for m in "${mounted[@]}"; do umount "$m" 2>/dev/null || umount -l "$m" || true; done
    rm -rf --one-file-system "$work"/stage.*
    [ -n "$keep" ] || rm -rf --one-file-system "$work"
    exit "$status"
}
trap finish EXIT

if [ ! -s "$work/base/etc/debian_version" ]; then
    debootstrap --variant=minbase bookworm "$work/base" ${MIRROR:+"$MIRROR"} >"$work/debootstrap.log" ||
        { tail -n 5 "$work/debootstrap.log" >&2; exit 1; }
fi

declare -A stage_of
stage= workdir=/ user=0 health= entry=
environment=()
in_stage() { # runs a shell line inside the stage; with EXEC=exec in place of this shell
    ${EXEC:-} chroot "$stage" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        "${environment[@]}" setpriv --reuid "$user" --regid "$user" --clear-groups /bin/sh -c "cd '$workdir' && $1"
}
number=0
while IFS= read -r line || [ -n "$line" ]; do
    line=${line#"${line%%[![:space:]]*}"}
    case $line in '' | '#'*) continue ;; esac
    word=${line%% *}
    rest=${line#* }
    case $word in
    FROM)
        [ "${rest%% *}" = debian:bookworm-slim ] || { echo "chroot.sh: unknown base: $rest" >&2; exit 1; }
        number=$((number + 1))
        stage=$work/stage.$number
        cp -a "$work/base" "$stage"
        mount -t proc proc "$stage/proc" && mounted=("$stage/proc" "${mounted[@]}")
        mount --bind /dev "$stage/dev" && mounted=("$stage/dev" "${mounted[@]}")
        cp /etc/resolv.conf "$stage/etc/resolv.conf"
        if [ -n "${APT_CONF:-}" ]; then cp "$APT_CONF" "$stage/etc/apt/apt.conf.d/99host"; fi
        case $rest in *' AS '*) stage_of[${rest##* AS }]=$stage ;; esac
        workdir=/ user=0 environment=()
        ;;
    WORKDIR) workdir=$rest; mkdir -p "$stage$workdir" ;;
    COPY)
        from=$root
        case $rest in --from=*)
            name=${rest#--from=}; name=${name%% *}
            from=${stage_of[$name]}
            rest=${rest#* }
            ;;
        esac
        source=${rest%% *} target=${rest##* }
        case $target in /*) target=$stage$target ;; *) target=$stage$workdir/$target ;; esac
        mkdir -p "$(dirname "$target")"
        cp -a --no-preserve=ownership "$from/$source" "$target"
        ;;
    RUN) echo "RUN $rest"; in_stage "$rest" >"$work/run.log" 2>&1 || { tail -n 20 "$work/run.log" >&2; exit 1; } ;;
    ENV) environment+=("$rest") ;;
    EXPOSE) ;;
    USER) user=$rest ;;
    HEALTHCHECK) health=${rest#*CMD } ;;
    ENTRYPOINT) entry=$rest ;;
    *) echo "chroot.sh: does not know $word" >&2; exit 1 ;;
    esac
done <"$root/Dockerfile"
words() { python3 -c 'import json, shlex, sys; print(shlex.join(json.loads(sys.argv[1])))' "$1"; }

[ "$user" != 0 ] || { echo "chroot.sh: the image runs as root" >&2; exit 1; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
environment+=("SLUICE_LISTEN=0.0.0.0:$port") # 8080 may be taken here; the image's default is checked below
in_stage "$(words "$entry") --print-config" >/dev/null

serve() {
    local ok=1
    environment+=("SLUICE_DB_URI=host=127.0.0.1 port=$PGPORT user=postgres dbname=postgres")
    psql -X -q -c 'CREATE TABLE parcel (id int PRIMARY KEY, name text); INSERT INTO parcel VALUES (1, $$x$$)'
    EXEC=exec in_stage "exec $(words "$entry")" >"$work/serve.log" 2>&1 &
    pids+=($!)
    for _ in $(seq 100); do
        if in_stage "$(words "$health")" 2>/dev/null; then ok=0; break; fi
        sleep 0.1
    done
    [ "$ok" = 0 ] || { echo "chroot.sh: not healthy: $(tail -n 3 "$work/serve.log")" >&2; return 1; }
    curl -sf "http://127.0.0.1:$port/parcel(1)" | grep -q '"name":"x"' || { echo "chroot.sh: no row" >&2; return 1; }
    kill "${pids[-1]}"
    wait "${pids[-1]}" || true
    if in_stage "$(words "$health")" 2>/dev/null; then echo "chroot.sh: healthy without a process" >&2; return 1; fi
}
serve
size=$(du -sk --one-file-system "$stage" | cut -f1)
base=$(du -sk --one-file-system "$work/base" | cut -f1)
echo "The Dockerfile's steps work; the image adds $(((size - base) / 1024)) MiB to its base."
