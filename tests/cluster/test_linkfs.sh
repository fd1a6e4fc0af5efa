#!/bin/bash
# RUN: timeout=300
# Storage behind links: what one node writes the others read, every byte of random accesses is right, the planner sees the
# stripes, and requests, locks and links cost what they are said to.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
[ -c /dev/fuse ] || cluster_skip "no /dev/fuse"
[ -x "$SAGO_BUILD/tests/linkfs/linkfs" ] || cluster_skip "linkfs was not built: libfuse3 is missing"

NAME=linkfs-$$
cleanup() { "$VCLUSTER" down $NAME; }
trap cleanup EXIT
trap 'exit 143' INT TERM HUP

on() { # node, command...
    "$VCLUSTER" exec $NAME "$1" -- sh -ec "cd $DIR; $2"
}

check_between() { # what, least, most, found
    if [ "$4" -lt "$2" ] || [ "$4" -gt "$3" ]; then cluster_fail "$1: $4 is not in $2..$3"; fi
    echo "ok: $1 ($4)"
}

milliseconds() { # node, command...
    local start
    start=$(date +%s%N)
    on "$@"
    echo $((($(date +%s%N) - start) / 1000000))
}

# Each write from another node than the one before: the lock goes to and fro, and each time two messages more are sent.
test_locks() {
    local before alone turns
    before=$("$VCLUSTER" counters $NAME)
    for i in 1 2 3 4 5 6; do on 1 "printf $i | dd of=locked bs=1 seek=$i conv=notrunc status=none"; done
    alone=$(($("$VCLUSTER" counters $NAME) - before))
    before=$("$VCLUSTER" counters $NAME)
    for i in 1 2 3 4 5 6; do on $((1 + i % 2)) "printf $i | dd of=locked bs=1 seek=$i conv=notrunc status=none"; done
    turns=$(($("$VCLUSTER" counters $NAME) - before))
    check_between "bytes of six locks that change hands" 600 3000 $((turns - alone))
}

"$VCLUSTER" up $NAME 3 --storage linked:2:20000 # a request takes 20 ms
DIR=${SAGO_CLUSTER_STATE:-/run/sago-vcluster}/$NAME/global
on 1 'seq 400000 >numbers; ln numbers again; mkdir folder; mv again folder/numbers; : >empty'
[ "$(on 2 'cksum <folder/numbers; wc -c <empty; ls')" = "$(seq 400000 | cksum; printf '%s\n' 0 empty folder numbers)" ] ||
    cluster_fail "another node sees something else"
on 3 'truncate -s 5000000 hole; printf x | dd of=hole bs=1 seek=3000000 conv=notrunc status=none'
[ "$(on 1 'cksum <hole')" = "$( (head -c 3000000 /dev/zero; printf x; head -c 1999999 /dev/zero) | cksum)" ] ||
    cluster_fail "a hole is not read as zeros"
echo "ok: files of several nodes"
check_between "milliseconds of 10 requests of one target" 200 2000 \
    "$(milliseconds 1 'for i in 1 2 3 4 5 6 7 8 9 10; do printf x | dd of=one bs=1 conv=notrunc status=none; done')"
test_locks
"$VCLUSTER" shape $NAME 100mbit
check_between "milliseconds of 4 MB at 100 Mbit/s" 300 3000 "$(milliseconds 2 'dd if=/dev/zero of=slow bs=1M count=4 status=none')"
"$VCLUSTER" down $NAME
trap - EXIT

CLUSTER_OPTIONS=(--storage linked:2:0:0)
cluster_mpi_test 3 2 test_oracle --seeds 6
CLUSTER_OPTIONS+=(-x SAGO_STRATEGY=direct)
cluster_mpi_test 2 2 test_oracle --seeds 5 --first 100
CLUSTER_OPTIONS=(--storage linked:3)
cluster_run 2 2 sago bench ior-hard --blocks 8 --runs 8 --repeat 1 --cold 0 --engines sago,shuffle \
    --dir @GLOBAL@ --json "/tmp/$NAME.json" >/dev/null ||
    cluster_fail "sago bench"
python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert [e["verified"] for e in r["engines"]] == [True, True], r["engines"]
decision = next(e["stats"]["decision"] for e in r["engines"] if e["name"] == "sago")
assert "tripe" in decision, decision
assert r["wire"]["sago"]["read"] > r["bytes"], r["wire"] # all of it comes from the targets
' "/tmp/$NAME.json" || cluster_fail "the JSON of sago bench"
rm -f "/tmp/$NAME.json"
