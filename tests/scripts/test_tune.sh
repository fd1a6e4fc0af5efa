#!/bin/bash
# `sago tune --quick`: the site file it writes is read by `sago topo`; what it changes it says; nothing else is left.
set -euo pipefail
sago=$SAGO_BUILD/bin/sago
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*" >&2
    exit 1
}
mkdir "$work/data"
tune() { "$SAGO_SOURCE/tests/run-mpi.sh" -t 100 3 "$sago" tune --quick --dir "$work/data" --site "$work/site" "$@"; }

tune >"$work/out" 2>&1
grep -q "measuring: one writer, requests of 64 KiB" "$work/out" || fail "no progress: $(cat "$work/out")"
grep -q "measured between ranks of a node .*B/s, latency " "$work/out" || fail "nothing measured: $(cat "$work/out")"
grep -q "measured *2 ranks of a node  *write .*B/s" "$work/out" || fail "nothing measured: $(cat "$work/out")"
for key in inside io sago_aggregators_per_node sago_domain_write sago_domain_read sago_group_size sago_host_memory; do
    grep -q "^new      $key " "$work/out" || fail "nothing said of $key: $(cat "$work/out")"
    grep -q "^$key " "$work/site" || fail "no $key in the site file"
done
[ -z "$(ls -A "$work/data")" ] || fail "left behind: $(ls -A "$work/data")"
[ "$(ls "$work")" = "$(printf 'data\nout\nsite')" ] || fail "left behind: $(ls "$work")"
SAGO_SITE=$work/site "$sago" topo >"$work/topo"
grep -q "^tuned     [1-3] aggregators\\? a node" "$work/topo" || fail "sago topo: $(cat "$work/topo")"

# A site file that cannot be written is said before anything is measured.
if tune --site "$work/no/site" >"$work/out" 2>&1; then fail "a site file that cannot be written"; fi
grep -q "no/site: No such file or directory" "$work/out" && ! grep -q measur "$work/out" || fail "said: $(cat "$work/out")"

# What is not measured stays; a dry run writes nothing; a value that was there is named.
printf 'machine none\nsago_local_dirs /tmp\nsago_domain_write 77K\nlink gone bandwidth 1MB/s\n' >"$work/site"
cp "$work/site" "$work/before"
tune --dry-run >"$work/out"
cmp -s "$work/site" "$work/before" || fail "a dry run wrote"
grep -q "from sago_domain_write *77KiB" "$work/out" || fail "$(cat "$work/out")"
grep -q "^same     sago_local_dirs" "$work/out" || fail "$(cat "$work/out")"
grep -q "^gone     link gone" "$work/out" || fail "$(cat "$work/out")"

# The network alone: nothing of the storage changes, and racks that are not there are gone.
printf 'io latency 1ms bandwidth 1MB/s\nrack n1,n2\nrack n3,n4\nbetween_racks latency 1us bandwidth 1GB/s\n' >"$work/site"
tune --network >"$work/out"
grep -q "^same     io" "$work/out" || fail "$(cat "$work/out")"
grep -q "^gone     rack n1,n2" "$work/out" || fail "$(cat "$work/out")"
grep -q "^inside" "$work/site" || fail "$(cat "$work/site")"
! grep -q "rack" "$work/site" || fail "$(cat "$work/site")"

! "$sago" tune --quick --dir "$work/nowhere" --site "$work/other" 2>"$work/err" || fail "a folder that is not there"
grep -q nowhere "$work/err" || fail "$(cat "$work/err")"
[ ! -e "$work/other" ] || fail "a site file after an error"
printf 'speed 3\n' >"$work/site"
! "$sago" tune --quick --dir "$work/data" --site "$work/site" 2>"$work/err" || fail "a wrong site file"
grep -q "site:1: unknown key 'speed'" "$work/err" || fail "$(cat "$work/err")"
grep -q "^speed 3" "$work/site" || fail "a wrong site file was overwritten"
echo ok
