#!/bin/sh
# The drop-in does no harm: programs fork, abort, exit and end as without it, it can be switched off, it says nothing
# unless asked, and it works as well when it is linked instead of preloaded.
set -eu

. "$SAGO_SOURCE/tests/dropin/lib.sh"
here=$SAGO_SOURCE/tests/dropin/tools
"$SAGO_MPICC" "$here/ends.c" -o "$tmp/ends"
"$SAGO_MPICC" "$here/no_files.c" -o "$tmp/no_files"
"$SAGO_MPICC" "$here/steps.c" -o "$tmp/steps"

# The same exit code and the same words with Sago and without.
same() { # how
    echo "== $1"
    code=0
    launch 2 "$tmp/ends" "$1" >"$tmp/plain.txt" 2>"$tmp/errors" || code=$?
    rm -f "$tmp/out"
    [ ! -e "$run/out" ] || mv "$run/out" "$tmp/out"
    with=0
    settings=SAGO_STATS=off
    try_sago 2 "$tmp/ends" "$1" >"$tmp/sago.txt" 2>"$tmp/errors" || with=$?
    settings=
    [ "$code" -eq "$with" ] || { cat "$tmp/errors"; fail "$1: exit code $with with Sago, $code without"; }
    if grep -q gone "$tmp/plain.txt" && ! grep -q gone "$tmp/sago.txt"; then
        fail "$1: output is missing"
    fi
    cmp "$run/out" "$tmp/out" 2>"$tmp/errors" || [ ! -e "$tmp/out" ] || fail "$1: the file is another one"
}
for how in normal no-files fork fork-exit abort abort-one kill exit open fatal; do
    same $how
done

# What is shared between ranks has no name once all have it: nothing is left, however a program ends.
echo "== nothing left"
# Other tests' segments have names too, for a moment.
find /dev/shm -maxdepth 1 -type f -name 'sago-????????????????????????????????' -newer "$tmp/ends" >"$tmp/segments" 2>/dev/null || :
while read -r segment; do
    for _ in $(seq 50); do
        [ -e "$segment" ] || continue 2
        sleep 0.2
    done
    fail "a shared segment is left: $segment"
done <"$tmp/segments"

# A program without MPI-IO gets the thread level it asks for, and no thread, descriptor or work of Sago's.
echo "== no files: nothing is paid"
launch 1 "$tmp/no_files" >"$tmp/plain.txt" || fail "no_files: exit code $?"
settings=SAGO_STATS=off
with_sago 1 "$tmp/no_files" >"$tmp/sago.txt"
diff "$tmp/plain.txt" "$tmp/sago.txt" || fail "it costs threads or descriptors"
launch 1 "$tmp/steps" "$tmp/no_files" 2>"$tmp/plain.txt" >"$tmp/output" || fail "steps: exit code $?"
with_sago 1 "$tmp/steps" "$tmp/no_files" 2>"$tmp/sago.txt" >"$tmp/output"
settings=
grep '^steps' "$tmp/plain.txt" >"$tmp/before" && [ "$(wc -l <"$tmp/before")" -eq 5 ] || fail "steps were not counted"
[ "$(grep -c '^steps' "$tmp/sago.txt")" -eq 5 ] || fail "steps with Sago were not counted"
limit=25 # clang keeps more registers than gcc
! grep -q '^CMAKE_C_COMPILER:.*clang' "$SAGO_BUILD/CMakeCache.txt" || limit=35
grep '^steps' "$tmp/sago.txt" | paste "$tmp/before" - | while read -r _ plain _ sago; do
    echo "Wait and Test: $(((sago - plain) / 50)) instructions more than $((plain / 50))"
    [ $((sago - plain)) -le $((50 * limit)) ] || exit 1
done || fail "they cost more than $limit instructions"

echo "== deferred data of files that are never closed"
settings="SAGO_STATS=off SAGO_DEFER=on"
with_sago 2 "$tmp/ends" open
[ "$(cat "$run/out")" = xx ] || fail "deferred data is lost when a program ends with a file open"
rm -f "$run/out"
if try_sago 2 "$tmp/ends" abort-all >"$tmp/said" 2>&1; then fail "a program that aborts ends well"; fi
[ "$(cat "$run/out")" = yx ] || fail "deferred data is lost when a program aborts: $(cat "$run/out")"
with_sago 2 "$tmp/ends" fork
[ "$(cat "$run/out")" = xx ] || fail "deferred data is lost when a program forks"

echo "== silent unless asked"
settings=SAGO_STATS=off
with_sago 2 "$tmp/ends" normal >"$tmp/said" 2>&1
if grep -i sago "$tmp/said"; then
    fail "it said something"
fi
with_sago 2 "$SAGO_BUILD/tests/dropin/test_many" world 20 256 last crowded >"$tmp/said" 2>&1
if grep -i sago "$tmp/said"; then
    fail "it said something of files that a rank has no descriptors for"
fi
settings=SAGO_STATS=summary
with_sago 2 "$tmp/ends" normal 2>"$tmp/said" >"$tmp/output"
grep -q "2 collective writes" "$tmp/said" || { cat "$tmp/said"; fail "no summary"; }
[ ! -s "$tmp/output" ] || fail "the summary belongs on stderr"
settings=

echo "== the summary"
"$SAGO_MPICC" "$here/program.c" -o "$tmp/program"
settings=SAGO_STATS=summary
with_sago 2 "$tmp/program" 2>"$tmp/said" >"$tmp/output"
grep -q "made 2 independent writes and 2 reads" "$tmp/said" || { cat "$tmp/said"; fail "independent calls are not told"; }
settings=
with_sago 2 "$tmp/program"
python3 - "$run/stats.json" <<'END' || fail "the JSON counts otherwise than the summary"
import json, sys
job = json.load(open(sys.argv[1]))
every = job["all_ranks"]
assert job["writes"] == job["reads"] == job["files"] == job["handed"]["atomic"] == 1, job
assert every["writes"] == every["reads"] == every["files"] == every["handed"]["atomic"] == 2, every
assert job["independent_writes"] == every["independent_writes"] == job["independent_reads"] == 2, job
assert job["write_bytes"] == every["write_bytes"] == 200, job
END
# Other ranks' lines come between, not into it: it is one write.
if command -v strace >/dev/null && strace -o "$tmp/trace" true 2>/dev/null; then
    settings=SAGO_STATS=summary
    with_sago 1 strace -f -e trace=write -e write=none -s 8 -o "$tmp/trace" "$tmp/program" 2>"$tmp/said" >"$tmp/output"
    settings=
    [ "$(grep -c 'write(2, "sago: ' "$tmp/trace")" -eq 1 ] || { cat "$tmp/trace"; fail "the summary is not in one piece"; }
fi

echo "== opened too early, or too late"
"$SAGO_MPICC" "$here/early.c" -o "$tmp/early"
for when in early late; do
    launch 1 "$tmp/early" $when >"$tmp/plain.txt" 2>&1 && fail "$when: it should end the program"
    settings=SAGO_STATS=off
    try_sago 1 "$tmp/early" $when >"$tmp/sago.txt" 2>&1 && fail "$when: it should end the program with Sago, too"
    settings=
    for said in plain sago; do
        grep -oiE '(MPI|internal)_[a-z_]+' "$tmp/$said.txt" | sort -u >"$tmp/$said.names"
    done
    diff "$tmp/plain.names" "$tmp/sago.names" || { cat "$tmp/sago.txt"; fail "$when: another function is blamed"; }
done

echo "== switched off"
settings=SAGO_DISABLE=1
with_sago 2 "$tmp/ends" normal
[ ! -e "$run/stats.json" ] || fail "SAGO_DISABLE=1, but there are statistics"
settings=SAGO_DISABLE=0
with_sago 2 "$tmp/ends" normal
stat_is writes 4
settings=

echo "== linked"
"$SAGO_MPICC" "$here/ends.c" -o "$tmp/linked" -L"$SAGO_BUILD/lib" -Wl,-rpath,"$SAGO_BUILD/lib" -lsago-mpiio
launch 2 env SAGO_STATS=json:stats.json "$tmp/linked" normal || fail "linked: exit code $?"
stat_is writes 4

echo "== without MPI"
LD_PRELOAD=$preload sh -c 'echo fine' | grep -qx fine || fail "a program without MPI"
