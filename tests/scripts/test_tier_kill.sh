#!/bin/bash
# RUN: timeout=120
# Programs that keep a file's data in local storage are killed (kill -9) after sago_sync_local: the next one that opens the
# file, with any number of ranks, finds it, bit for bit; so does `sago tier merge`.
set -euo pipefail

root=/tmp
[ -w /dev/shm ] && root=/dev/shm
work=$(mktemp -d "$root/sago-test.XXXXXX")
exec 9<"$work"
flock -n 9
trap 'rm -rf "$work"' EXIT
mkdir "$work/local" "$work/global"
file=$work/global/data
sago=$SAGO_BUILD/bin/sago

fail() {
    echo "FAIL: $*"
    cat "$work/log"
    exit 1
}

mpi() { # ranks, program, args...
    "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 "$@" >"$work/log" 2>&1
}

die() { # ranks, seed
    mpi "$1" "$SAGO_BUILD/tests/mpi/test_tier_found" leave "$file" "$work/local" "$2" && fail "it did not die"
    ! grep -q "failed: " "$work/log" || fail "before it died"
}

for round in "4 1 1" "2 2 3" "3 3 4"; do
    read -r writers seed readers <<<"$round"
    die "$writers" "$seed"
    mpi "$readers" "$SAGO_BUILD/tests/mpi/test_tier_found" take "$file" "$work/local" "$seed" "$writers" ||
        fail "$readers ranks after $writers"
done

# Killed while data is drained in the background, at whatever point.
for round in "4 2" "2 3" "3 1" "4 4"; do
    read -r writers readers <<<"$round"
    mpi "$writers" "$SAGO_BUILD/tests/mpi/test_tier_found" leave-drained "$file" "$work/local" && fail "it did not die"
    ! grep -q "failed: " "$work/log" || fail "before it died"
    mpi "$readers" "$SAGO_BUILD/tests/mpi/test_tier_found" take-drained "$file" "$work/local" "$writers" ||
        fail "$readers ranks after $writers that drained"
    rm "$file"
done

# The same by command: what is there is told; merged, the file is what opening it makes of it.
die 3 4
cp -a "$work/local" "$work/kept"
cp "$work/global/.data.sago-tier" "$work/kept-claim"
"$sago" tier ls "$work/local" >"$work/log"
grep -q "bytes in .* for $(realpath "$file"), .*: left by a job, to be merged" "$work/log" || fail "sago tier ls"
mpi 2 "$sago" tier merge "$file" --local "$work/local" || fail "sago tier merge"
grep -q "is in the file" "$work/log" || fail "sago tier merge says"
cp "$file" "$work/merged"
[ -z "$(ls -A "$work/local")" ] || fail "files are left"
mpi 2 "$sago" tier merge "$file" --local "$work/local" || fail "sago tier merge, twice"
grep -q "nothing is left" "$work/log" || fail "sago tier merge, twice, says"

# It is not merged over what may be newer, unless one insists; or given up.
cp -a "$work/kept/." "$work/local/" && cp "$work/kept-claim" "$work/global/.data.sago-tier"
! mpi 2 "$sago" tier merge "$file" --local "$work/local" || fail "merged over newer data"
grep -q "not what it was" "$work/log" || fail "why it was not merged"
cmp "$file" "$work/merged" || fail "the file has changed"
mpi 1 "$sago" tier merge "$file" --local "$work/local" --force || fail "sago tier merge --force"
cmp "$file" "$work/merged" || fail "sago tier merge --force"
cp -a "$work/kept/." "$work/local/" && cp "$work/kept-claim" "$work/global/.data.sago-tier"
echo newer >"$file"
mpi 2 "$sago" tier rm "$file" --local "$work/local" || fail "sago tier rm"
[ "$(cat "$file")" = newer ] || fail "sago tier rm has changed the file"
[ -z "$(ls -A "$work/local")" ] || fail "files are left by sago tier rm"

for wrong in "" "what" "merge" "merge $file --what" "rm $file --force" "ls"; do
    status=0
    # shellcheck disable=SC2086
    "$sago" tier $wrong >"$work/log" 2>&1 || status=$?
    [ $status = 2 ] || fail "sago tier $wrong: status $status"
done
"$sago" tier --help >"$work/log" && grep -q "sago tier merge FILE" "$work/log" || fail "help"
