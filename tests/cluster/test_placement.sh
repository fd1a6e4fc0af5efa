#!/bin/bash
# RUN: timeout=480
# Aggregators on several nodes: memory decides who may be one, links and data decide who is.  Placement and bytes are
# judged, throughput is shown.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
[ -z "${SAGO_SANITIZE:-}" ] || cluster_skip "a rank with the sanitizer has no room on nodes of 256 MiB, which are what is tested"
NAME=placement-$$
work=$(mktemp -d)
clean() {
    "$VCLUSTER" down "$NAME" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap clean EXIT
PROGRAM=$(cluster_program test_hosts)

# What the nodes' interfaces have sent, everything included.
sent() { "$VCLUSTER" counters "$NAME" | grep -oE '[0-9]+' | head -1; }

run() { # on the cluster that is up: hints..., -- arguments of test_hosts
    local options=(--mpi "$SAGO_MPI" --ranks-per-node 2 --timeout 60 -x SAGO_STRATEGY=aggregated)
    while [ "$1" != -- ]; do
        options+=(-x "$1")
        shift
    done
    "$VCLUSTER" run "$NAME" "${options[@]}" "$@" >"$work/out" 2>&1 || {
        cat "$work/out"
        cluster_fail "$*"
    }
    grep '^#' "$work/out"
}

echo "== memory: 256 MiB, 256 MiB, 2 GiB, 2 GiB; the poor nodes cannot host"
"$VCLUSTER" up "$NAME" 4 --memory 256M,256M,2G,2G --owner $$
for placement in auto memory; do
    run SAGO_HOST_MEMORY=64M SAGO_PLACEMENT=$placement -- "$PROGRAM" interleaved 4096 4194304 n3,n4
    stored=$(grep -c 'stored' "$work/out")
    [ "$stored" -ge 2 ] || cluster_fail "one aggregator only"
done
echo "the MPI library's own two-phase beside it, with its default buffers, on the same nodes:"
sago=$(cluster_program sago)
"$VCLUSTER" run "$NAME" --mpi "$SAGO_MPI" --ranks-per-node 2 --timeout 100 -x SAGO_STRATEGY=aggregated -x SAGO_HOST_MEMORY=64M \
    -- "$sago" bench interleaved --engines sago,mpiio --repeat 5 --transfer 4K --block 4K --segments 512 --dir @GLOBAL@ \
    --json "$work/beside.json" >"$work/out" 2>&1 || { cat "$work/out"; cluster_fail "the MPI library beside it"; }
python3 - "$work/beside.json" <<'END' || cluster_fail "behind the MPI library's own"
import json, statistics, sys
data = json.load(open(sys.argv[1]))
for direction, count in ("write", "repeat"), ("read", "read"):
    wire = {engine: data["wire"][engine][count] for engine in ("sago", "mpiio")}
    seconds = {engine: statistics.median(data["turns"][engine][direction]) for engine in ("sago", "mpiio")}
    print(f"{direction}: bytes on the wire {wire['sago']} and {wire['mpiio']}, seconds {seconds['sago']:.4f} and {seconds['mpiio']:.4f}")
    assert wire["sago"] <= wire["mpiio"] * 1.05, "more bytes on the wire"
END
"$VCLUSTER" down "$NAME"

echo "== links: n1 behind 100 Mbit, the others at 1 Gbit; one aggregator"
cat >"$work/slow.sago" <<'END'
name slow-link
topology flat 4
level all latency 50us bandwidth 125MB/s
link at 0 bandwidth 12.5MB/s
ranks-per-node 2
memory 1GiB
END
"$VCLUSTER" up "$NAME" 4 --owner $$
"$VCLUSTER" shape "$NAME" 1gbit
"$VCLUSTER" shape "$NAME" 100mbit n1
# All but n1's part of the data crosses the slow link, both ways, or only n1's part does: what n1 sends is what it hands out
# when all read, or what it has itself when all write; starting the ranks included.
sent_by_n1() { "$VCLUSTER" counters "$NAME" -v | sed -n 's/^n1 //p'; }
begin=$(sent_by_n1)
echo "by rank:"
run SAGO_AGGREGATORS=1 SAGO_PLACEMENT=rank -- "$PROGRAM" interleaved 4096 2097152 n1
middle=$(sent_by_n1)
echo "by cost:"
run SAGO_AGGREGATORS=1 SAGO_MACHINE="$work/slow.sago" -- "$PROGRAM" interleaved 4096 2097152 n2,n3,n4
end=$(sent_by_n1)
echo "n1 sent $((middle - begin)) and $((end - middle)) bytes"
[ $((end - middle)) -lt $(((middle - begin) / 2)) ] || cluster_fail "more than half as many bytes cross the slow link"
"$VCLUSTER" down "$NAME"

echo "== data: the ranks of n3 hold 15 times as much as others, 5/6 of all"
"$VCLUSTER" up "$NAME" 4 --owner $$
for length in 4096 65536 1048576; do
    bytes=$((length > 262144 ? length : 262144)) # of a rank that is not heavy
    all=$((bytes * 36))
    echo "runs of $length bytes, $all bytes in all, evenly spread:"
    begin=$(sent)
    run SAGO_AGGREGATORS=2 SAGO_PLACEMENT=spread -- "$PROGRAM" heavy-3 $length $bytes any
    middle=$(sent)
    echo "where the data is:"
    run SAGO_AGGREGATORS=2 -- "$PROGRAM" heavy-3 $length $bytes n3 $((all / 4))
    end=$(sent)
    # written and read back; half of all, less what is there already, or a sixth
    echo "the interfaces sent $((middle - begin)) and $((end - middle)) bytes, starting the ranks included"
    [ $((end - middle)) -lt $(((middle - begin) * 3 / 4)) ] || cluster_fail "no fewer bytes on the wire"
done
echo "== blocks in turn: every node aggregates its own, and nothing crosses the network"
run SAGO_GROUP_SIZE=4M -- "$PROGRAM" interleaved 1048576 4194304 any 0 0
grep -q '^groups: [2-4], 4 nodes hold blocks in turn' "$work/out" || cluster_fail "no groups of blocks in turn"
echo "== local aggregators: all ranks (P_L = P) is two-phase I/O, one a node sends a message for both ranks"
# 8 windows of 1 MiB, each of which gets data of the 6 ranks on the other 3 nodes
windows=(SAGO_AGGREGATORS=4 SAGO_WINDOW=1M)
run "${windows[@]}" SAGO_LOCAL_AGGREGATORS=2 -- "$PROGRAM" interleaved 4096 1048576 any -1 48
run "${windows[@]}" SAGO_LOCAL_AGGREGATORS=1 -- "$PROGRAM" interleaved 4096 1048576 any -1 24
echo "== a third layer: two nodes a switch, one of which sends on for both"
# each window gets one from its neighbour and one from the other switch, whose relay gets one a round
printf '%s\n' 'name switches' 'topology fat-tree 2 2' 'level 0 latency 50us bandwidth 1GB/s' \
    'level 1 latency 50us bandwidth 1GB/s' 'ranks-per-node 2' 'memory 1GiB' >"$work/switches.sago"
run "${windows[@]}" SAGO_LOCAL_AGGREGATORS=1 SAGO_LAYERS=3 SAGO_MACHINE="$work/switches.sago" -- \
    "$PROGRAM" interleaved 4096 1048576 any -1 20
grep -q '^layers: 3, as hinted' "$work/out" || cluster_fail "no third layer"
"$VCLUSTER" down "$NAME"
echo "ok"
