#!/bin/sh
# The library exports what the public headers declare, and nothing else.
set -eu

if [ -n "${SAGO_SANITIZE:-}" ]; then
    echo "SKIP: a sanitizer adds symbols of its own"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo '#include <sago/sago.h>' | "$SAGO_MPICC" -E -P -I"$SAGO_SOURCE/include" -I"$SAGO_BUILD/include" -x c - |
    grep -oE '\bsago_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$tmp/declared"
nm -D --defined-only "$SAGO_BUILD/lib/libsago.so" |
    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$tmp/exported"
diff "$tmp/declared" "$tmp/exported" || { echo "FAIL: < declared, > exported (src/sago.map)"; exit 1; }
while read -r name; do
    grep -qE "\b$name\b" "$SAGO_SOURCE/tests/mpi/test_null.c" || { echo "FAIL: tests/mpi/test_null.c does not call $name"; exit 1; }
done <"$tmp/exported"
