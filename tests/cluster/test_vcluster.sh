#!/bin/bash
# The virtual cluster is what it says, and leaves nothing behind. SAGO_MPI chooses the MPI.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
command -v "mpicc.$SAGO_MPI" >/dev/null || cluster_skip "no mpicc.$SAGO_MPI"

TMP=$(mktemp -d)
# A state directory of its own: what is left there is ours, whoever else runs clusters now.
export SAGO_CLUSTER_STATE=$TMP/state
cleanup() {
    local name
    for name in "$SAGO_CLUSTER_STATE"/*/; do
        [ ! -d "$name" ] || "$VCLUSTER" down "$(basename "$name")" || true
    done
    rm -rf --one-file-system "$TMP"
}
trap cleanup EXIT
trap 'exit 143' INT TERM HUP
export SAGO_CLUSTER_TIMEOUT=60

PROBE=$TMP/probe
"mpicc.$SAGO_MPI" -std=c11 -O1 -Wall -Wextra -o "$PROBE" "$CLUSTER_DIR/vcluster_probe.c"
LINKS=$(ip -o link | cut -d: -f2)

run() { # cluster, args of the probe...
    "$VCLUSTER" run "$1" --mpi "$SAGO_MPI" --ranks-per-node 2 -- "$PROBE" "${@:2}"
}

check_equal() { # what, expected, found
    [ "$2" = "$3" ] || cluster_fail "$1: expected"$'\n'"$2"$'\n'"found"$'\n'"$3"
    echo "ok: $1"
}

check_between() { # what, least, most, found
    if [ "$4" -lt "$2" ] || [ "$4" -gt "$3" ]; then cluster_fail "$1: $4 is not in $2..$3"; fi
    echo "ok: $1 ($4)"
}

any_rank() { # whether ranks run on a cluster of ours
    grep -qszF "SAGO_CLUSTER_GLOBAL=$SAGO_CLUSTER_STATE/" /proc/[0-9]*/environ
}

# No directory, mount, interface, process or namespace of ours is left.
check_nothing_left() { # what, namespaces that were (as the kernel writes them)
    local ns
    [ ! -e "$SAGO_CLUSTER_STATE" ] || cluster_fail "$1: left $(ls "$SAGO_CLUSTER_STATE")"
    ! grep -F "$SAGO_CLUSTER_STATE" /proc/self/mountinfo || cluster_fail "$1: left mounts"
    check_equal "$1: interfaces as before" "$LINKS" "$(ip -o link | cut -d: -f2)"
    ! any_rank || cluster_fail "$1: left processes"
    for ns in $2; do
        ! grep -qsF ":[$ns]" /proc/[0-9]*/mountinfo || cluster_fail "$1: namespace $ns is still mounted"
        ! { stat -L -c %i /proc/[0-9]*/ns/{net,mnt,uts,ipc} 2>/dev/null || true; } | grep -qx "$ns" ||
            cluster_fail "$1: namespace $ns is still in use"
    done
}

wait_gone() { # seconds
    local i
    for ((i = 0; i < $1 * 10; i++)); do
        [ -e "$SAGO_CLUSTER_STATE" ] || return 0
        sleep 0.1
    done
    cluster_fail "still there after $1 seconds: $(ls "$SAGO_CLUSTER_STATE")"
}

test_places() {
    check_equal "hosts and shared-memory groups" "rank 0 host n1 shared 2 leader 0
rank 1 host n1 shared 2 leader 0
rank 2 host n2 shared 2 leader 2
rank 3 host n2 shared 2 leader 2
rank 4 host n3 shared 2 leader 4
rank 5 host n3 shared 2 leader 4" "$(run main where)"
    check_equal "global, rack and private directories" "rank 0 global 6 rack 4 scratch 2 shm 2
rank 1 global 6 rack 4 scratch 2 shm 2
rank 2 global 6 rack 4 scratch 2 shm 2
rank 3 global 6 rack 4 scratch 2 shm 2
rank 4 global 6 rack 2 scratch 2 shm 2
rank 5 global 6 rack 2 scratch 2 shm 2" "$(run main dirs)"
}

test_congestion() {
    local k found=
    for k in 1 2 3; do found+=" $("$VCLUSTER" exec main $k -- cat /proc/sys/net/ipv4/tcp_congestion_control)"; done
    check_equal "congestion control of every node" " reno reno reno" "$found"
}

test_wire() {
    local bytes=8388608 before after near far put words
    before=$("$VCLUSTER" counters main)
    words=$(run main wire $bytes)
    after=$("$VCLUSTER" counters main)
    read -r _ near _ far _ put <<<"$words"
    check_between "bytes on the wire, within a node" 0 200000 "$near"
    check_between "bytes on the wire, message between nodes" $bytes $((bytes * 11 / 10)) "$far"
    check_between "bytes on the wire, put between nodes" $bytes $((bytes * 11 / 10)) "$put"
    check_between "counters" $((4 * bytes)) $((4 * bytes * 12 / 10)) $((after - before))
}

test_shape() {
    local bytes=8388608 start end
    "$VCLUSTER" shape main 200mbit
    start=$(date +%s%N)
    run main wire $bytes >/dev/null # 4 transfers of 67 Mbit: 1.3 s
    end=$(date +%s%N)
    "$VCLUSTER" shape main off
    check_between "milliseconds of the shaped run" 1200 20000 $(((end - start) / 1000000))
}

test_status() {
    local status=0
    run main exit 0 || status=$?
    check_equal "status 0" 0 $status
    run main exit 5 >/dev/null 2>&1 || status=$?
    check_equal "status of a failed rank" 5 $status
    status=0
    "$VCLUSTER" run main --timeout 2 -- "$PROBE" hang >/dev/null 2>&1 || status=$?
    check_equal "status after the timeout" 124 $status
    ! any_rank || cluster_fail "processes after the timeout"
}

test_two_at_once() {
    local other=$TMP/other
    "$VCLUSTER" up second 2
    run second where >"$other" &
    check_equal "first of two clusters" 6 "$(run main where | grep -c '^rank')"
    wait $! || cluster_fail "second of two clusters: status $?"
    check_equal "second of two clusters" 4 "$(grep -c '^rank' "$other")"
    ! "$VCLUSTER" up second 2 2>/dev/null || cluster_fail "a name was given twice"
    "$VCLUSTER" down second
    check_equal "first after the second's end" 6 "$(run main where | grep -c '^rank')"
}

test_killed() { # signal
    "$VCLUSTER" with 2 -- "$PROBE" hang >/dev/null 2>&1 &
    local pid=$! i
    for ((i = 0; i < 100; i++)); do # until the ranks run
        ! any_rank || break
        sleep 0.1
    done
    kill "-$1" $pid
    wait $pid 2>/dev/null || true
    wait_gone 15
    check_nothing_left "after SIG$1" ""
}

"$VCLUSTER" up main 3
NAMESPACES=$(stat -L -c %i "$SAGO_CLUSTER_STATE"/main/ns/*)
test_places
test_congestion
test_wire
test_shape
test_status
test_two_at_once
"$VCLUSTER" down main
check_nothing_left "after down" "$NAMESPACES"
cluster_mpi_test 4 2 "$PROBE" where
check_nothing_left "after with" ""
test_killed TERM
test_killed KILL
