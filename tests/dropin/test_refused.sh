#!/bin/sh
# The MPI library's own open fails on one rank, after Sago could open the file on all (tools/refuse.c): that rank
# returns, as it does without Sago, and the others are told when they come to Sago with the file.
set -eu

. "$SAGO_SOURCE/tests/dropin/lib.sh"
here=$SAGO_SOURCE/tests/dropin/tools
"$SAGO_MPICC" "$here/refused.c" -o "$tmp/refused"
"$SAGO_MPICC" -shared -fPIC "$here/refuse.c" -o "$tmp/librefuse.so"
"$SAGO_MPICC" -shared -fPIC -DAFTER "$here/refuse.c" -o "$tmp/librefuseafter.so"
sago=$preload
settings=SAGO_STATS=off

echo "== the rank ends the job"
preload="$sago $tmp/librefuse.so"
code=0
try_sago 2 "$tmp/refused" abort >"$tmp/said" 2>&1 || code=$?
[ "$code" -eq 41 ] || { cat "$tmp/said"; fail "exit code $code instead of 41"; }

echo "== the rank tells the others"
preload="$sago $tmp/librefuseafter.so"
try_sago 3 "$tmp/refused" tell >"$tmp/said" 2>&1 || : # launchers do not like programs without an end
printf 'rank %s\n' '0: opened, 1 failed, then an error' '1: failed, 1 failed, then nothing' \
    '2: opened, 1 failed, then an error' >"$tmp/expected"
sort "$tmp/said" | grep '^rank' | diff "$tmp/expected" - || fail "the ranks have seen something else"
