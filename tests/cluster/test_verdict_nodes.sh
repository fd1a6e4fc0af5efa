#!/bin/bash
# RUN: timeout=300
# The report of a job names what it waited for: a storage target that is much slower than the others, with data that is gathered
# and with data that goes there straight. That target is so slow that a machine which has much else to do changes nothing.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")

cluster_require
[ -c /dev/fuse ] || cluster_skip "no /dev/fuse"
[ -x "$SAGO_BUILD/tests/linkfs/linkfs" ] || cluster_skip "linkfs was not built: libfuse3 is missing"
name=verdict$$
out=$(mktemp -d)
trap '"$VCLUSTER" down $name; rm -rf "$out"' EXIT

# report SHAPE PATTERN OPTIONS...: the verdict of a run on four nodes, where SHAPE is slow
report() {
    "$VCLUSTER" up $name 4 --storage linked:4 --owner $$
    "$VCLUSTER" shape $name 1gbit
    "$VCLUSTER" shape $name 8mbit "$1"
    "$VCLUSTER" run $name --ranks-per-node 2 -x SAGO_REPORT="$out/run.html" -x SAGO_TRACE="$out/trace.json" -- "$SAGO_BUILD/bin/sago" bench "${@:2}" --dir @GLOBAL@ \
        --engines sago --cold 0 --verify first --warmup 0 --repeat 2 >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }
    "$SAGO_BUILD/bin/sago" report "$out/run.json" >"$out/text"
    python3 "$here/../report/check_trace.py" "$out/trace.json" 8 >"$out/events" || exit 1
    tr -s ' \n' ' ' <"$out/text" >"$out/line"
    "$VCLUSTER" down $name
}

# says yes|no WORDS
says() {
    found=no
    ! grep -qF -- "$2" "$out/line" || found=yes
    [ $found = "$1" ] || { echo "'$2': $found, not $1, in:"; cat "$out/text"; exit 1; }
}

report s3 ior-hard --blocks 32 --runs 32
says yes "The storage is what the job waits for"
says yes "Target 3 of the 4"
says no "went to messages"
says no "came last"
! grep -q ' 0 arrows' "$out/events" || { echo "no messages in the trace: $(cat "$out/events")"; exit 1; }

report s2 contiguous --bytes 2500K
says yes "Target 2 of the 4"
