#!/usr/bin/env bash
# Installs Debian packages that are missing: install.sh PACKAGE...
set -euo pipefail

if ! command -v apt-get >/dev/null; then
    echo "This system has no apt-get; install the equivalents of: $*" >&2
    exit 1
fi
missing=()
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
    [ "$state" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" = 0 ]; then
    exit 0
fi
as=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "Missing packages, and no sudo to install them; as root run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as=(sudo)
fi
echo "Installing ${missing[*]}"
"${as[@]}" apt-get update -q
"${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    "${missing[@]}"
