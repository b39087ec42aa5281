#!/usr/bin/env bash
# Fails when a folder includes what it may not, or a foreign library is used behind another door.
set -euo pipefail
cd "$(dirname "$0")/.."

bad=0
# refuse SENTENCE PATTERN FILE...: no line of the files may match.
refuse() {
    local sentence=$1 pattern=$2 found
    shift 2
    [ "$#" -gt 0 ] || return 0
    if found=$(grep -nE "$pattern" "$@"); then
        printf '%s:\n%s\n' "$sentence" "$found" >&2
        bad=1
    fi
}
shopt -s nullglob
include='^[[:space:]]*#[[:space:]]*include[[:space:]]*'
except() { # the files of $1 that $2 (an extended regular expression) does not name
    local f
    for f in $1/*.[ch]; do [[ $f =~ ^(${2:-none})$ ]] || printf '%s\n' "$f"; done
}

refuse "config/ includes nothing of ours but config/" "$include\"(odata|storage|server)/" config/*.[ch]
refuse "odata/ includes nothing of ours but odata/" "$include\"(config|storage|server)/" odata/*.[ch]
refuse "storage/ includes only odata/ besides itself" "$include\"(config|server)/" storage/*.[ch]
refuse "includes name the folder from the root" "$include\"[^/\"]+\"" */*.[ch]
refuse "<microhttpd.h> is for server/http*.c" "$include<microhttpd.h>" \
    $(except odata) $(except config) $(except storage) $(except server 'server/http[a-z_]*\.[ch]')
refuse "<libpq-fe.h> is for storage/" "$include<libpq-fe.h>" odata/*.[ch] config/*.[ch] server/*.[ch]
refuse "cJSON is for config/file.c and odata/entity_read.c" "$include<cjson/" \
    $(except odata 'odata/entity_read\.c') $(except config 'config/file\.c') storage/*.[ch] server/*.[ch]
refuse "tokens and their keys are for server/auth_*.c" "$include<(cjose/|jansson|openssl/)" \
    odata/*.[ch] config/*.[ch] storage/*.[ch] $(except server 'server/auth_[a-z]*\.[ch]')
refuse "odata/ knows neither clock nor files nor sockets" \
    "\b(time|clock_gettime|gettimeofday|fopen|open|socket|rand|random|getenv)\(" odata/*.[ch]
refuse "functions that STYLE refuses" "\b(strcpy|strcat|sprintf|vsprintf|strtok|atoi|alloca|system)\(" \
    odata/*.[ch] config/*.[ch] storage/*.[ch] server/*.[ch]
exit "$bad"
