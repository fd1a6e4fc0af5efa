#!/bin/bash
# `sago tune --network` on two racks of two nodes whose links to the other rack are slow: it finds them, and jobs use them.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cluster_require
work=$(mktemp -d /var/tmp/sago-racks.XXXXXX)
name=racks$$
trap '"$VCLUSTER" down "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

"$VCLUSTER" up "$name" 4 --owner $$
on() { # node, words of tc...
    "$VCLUSTER" exec "$name" "n$1" -- tc "${@:2}" 2>"$work/err" || cluster_skip "no tc ${*:2}: $(cat "$work/err")"
}
slow() { # node, nodes of the other rack...
    on "$1" qdisc replace dev eth0 root handle 1: htb default 1
    on "$1" class add dev eth0 parent 1: classid 1:1 htb rate 10gbit
    on "$1" class add dev eth0 parent 1: classid 1:2 htb rate 20mbit burst 16k
    for other in "${@:2}"; do
        on "$1" filter add dev eth0 parent 1: protocol ip u32 match ip dst "10.91.0.$other/32" flowid 1:2
    done
}
slow 1 2 4
slow 3 2 4
slow 2 1 3
slow 4 1 3

run() { "$VCLUSTER" run "$name" --mpi "$SAGO_MPI" --ranks-per-node 1 -x SAGO_SITE="$work/site" -- "$@"; }
run "$SAGO_BUILD/bin/sago" tune --network --quick --site "$work/site"
grep -q '^rack n1,n3$' "$work/site" || cluster_fail "no rack of n1 and n3: $(cat "$work/site")"
grep -q '^rack n2,n4$' "$work/site" || cluster_fail "no rack of n2 and n4: $(cat "$work/site")"
grep -q '^between_racks ' "$work/site" || cluster_fail "nothing between racks: $(cat "$work/site")"
run "$SAGO_BUILD/bin/sago" topo >"$work/topo"
grep -q "the site file's racks" "$work/topo" || cluster_fail "$(cat "$work/topo")"
grep -q "fat tree: 2 x 2" "$work/topo" || cluster_fail "$(cat "$work/topo")"
