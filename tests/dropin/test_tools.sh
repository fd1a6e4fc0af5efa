#!/bin/sh
# A tool that stands in front of MPI as well (tools/tool.c), preloaded before Sago and after it: the program works,
# Sago serves what it would serve, and the tool sees what comes past it.
set -eu

. "$SAGO_SOURCE/tests/dropin/lib.sh"
here=$SAGO_SOURCE/tests/dropin/tools
"$SAGO_MPICC" "$here/program.c" -o "$tmp/program"
"$SAGO_MPICC" -shared -fPIC "$here/tool.c" -o "$tmp/libtool.so" -ldl
"$SAGO_MPICC" -shared -fPIC -DBY_NEXT "$here/tool.c" -o "$tmp/libtoolnext.so" -ldl
"$SAGO_MPICC" -shared -fPIC -DBOTH_NAMES "$here/tool.c" -o "$tmp/libtoolboth.so" -ldl
sago=$preload

check() { # write_at_all, read_all and write_at that the tool sees
    with_sago 2 "$tmp/program"
    printf 'open 1\nclose 1\nwrite_at_all %s\nread_all %s\nwrite_at %s\n' "$1" "$2" "$3" >"$tmp/expected"
    diff "$tmp/expected" "$run/tool.txt" || fail "the tool has seen something else"
    stat_is files_taken 2
    stat_is writes 2
    stat_is reads 2
    stat_is atomic 2
}

for tool in "$tmp/libtool.so" "$tmp/libtoolnext.so" "$tmp/libtoolboth.so"; do
    echo "== $(basename "$tool") before Sago: it sees everything"
    preload="$tool $sago"
    check 2 1 1
    echo "== $(basename "$tool") after Sago: it sees what Sago does not take"
    preload="$sago $tool"
    # OMPIO's collective calls are not atomic, so there each rank's part is an independent one.
    if [ "$SAGO_MPI" = openmpi ]; then check 0 0 2; else check 1 0 1; fi
done
echo "== without Sago"
settings=SAGO_DISABLE=1
with_sago 2 "$tmp/program"
grep -qx "write_at_all 2" "$run/tool.txt" || fail "SAGO_DISABLE: the tool has not seen everything"
[ ! -e "$run/stats.json" ] || fail "SAGO_DISABLE: there are statistics"
