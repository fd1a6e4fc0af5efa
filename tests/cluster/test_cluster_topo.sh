#!/bin/bash
# Discovery on several nodes: hosts are matched to places, memory limits and shared directories are seen.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cluster_require
work=$(mktemp -d /var/tmp/sago-topo.XXXXXX)
trap 'rm -rf "$work"' EXIT

cat >"$work/four.sago" <<END
name four
topology switches
level all latency 50us bandwidth 1GB/s
ranks-per-node 2
memory 300MiB
switch top switches rack[1-2]
switch rack1 hosts n[1-2]
switch rack2 hosts n[3-4]
END
printf 'link n4 bandwidth 100Mbit/s\n' >"$work/site"
mkdir "$work/slurm"
printf 'SwitchName=a Nodes=n[3-4]\nSwitchName=b Nodes=n[1-2]\nSwitchName=top Switches=a,b\n' >"$work/slurm/topology.conf"

topo() { # options of vcluster...
    CLUSTER_OPTIONS=(--memory 300M "$@")
    cluster_mpi_test 4 2 sago topo --dirs @SCRATCH@:@RACK@:@GLOBAL@ --json --output "$work/topo.json"
}

topo -x SAGO_MACHINE="$work/four.sago" -x SAGO_SITE="$work/site"
python3 - "$work/topo.json" <<'END' || cluster_fail "with a description"
import json, sys
machine = json.load(open(sys.argv[1]))
assert machine["machine"] == "four" and machine["network"]["kind"] == "fat-tree"
assert [(n["host"], n["place"], n["ranks"]) for n in machine["node"]] == [("n%d" % (i + 1), i, 2) for i in range(4)]
assert all(n["memory_available"] <= 300 << 20 for n in machine["node"]), machine["node"]
assert [d["share_of_node"] for d in machine["directories"][:3]] == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
assert machine["network"]["links"] == [{"first": 3, "count": 1, "bandwidth": 12500000}], machine["network"]["links"]
END

topo -x SLURM_CONF="$work/slurm/slurm.conf" -x SAGO_SITE=none
python3 - "$work/topo.json" <<'END' || cluster_fail "with Slurm's tree"
import json, sys
machine = json.load(open(sys.argv[1]))
assert machine["source"].endswith("slurm/topology.conf"), machine["source"]
assert [n["place"] for n in machine["node"]] == [2, 3, 0, 1]
END

echo "# a description of other hosts is refused once, with the same words"
sed 's/hosts n/hosts m/' "$work/four.sago" >"$work/other.sago"
CLUSTER_OPTIONS=(-x SAGO_MACHINE="$work/other.sago")
if cluster_run 4 2 sago topo >"$work/out" 2>&1; then
    cluster_fail "a description of other hosts was taken"
fi
[ "$(grep -c 'host n1 is not among its hosts' "$work/out")" = 1 ] || cluster_fail "$(cat "$work/out")"

CLUSTER_OPTIONS=()
cluster_mpi_test 3 1 sago tune --quick --dir @GLOBAL@ --site "$work/tuned"
grep -q '^network ' "$work/tuned" || cluster_fail "nothing measured between nodes: $(cat "$work/tuned")"
