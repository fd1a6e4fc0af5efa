#!/bin/bash
# The plans that the papers' machines get, against tests/golden/plan/: what `sago plan` prints, with the settings of
# paper 000 (T6). After a change that is meant, run with SAGO_GOLDEN_UPDATE=1 and look at the difference.
# Pictures and explanations of the same plans are drawn too, and looked at as far as a program can.
set -euo pipefail

SAGO=$SAGO_BUILD/bin/sago
GOLDEN=$SAGO_SOURCE/tests/golden/plan
MACHINES=$SAGO_SOURCE/machines
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

golden() { # name, arguments of sago plan...
    local name=$1
    shift
    "$SAGO" plan "$@" --svg "$scratch/$name.svg" >"$scratch/$name.txt"
    if [ -n "${SAGO_GOLDEN_UPDATE:-}" ]; then cp "$scratch/$name.txt" "$GOLDEN/$name.txt"; fi
    diff -u "$GOLDEN/$name.txt" "$scratch/$name.txt" || fail "$name differs"
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$scratch/$name.svg"
}

# HACC-IO, 25,000 particles a rank, about 1 MB.
HACC=(hacc-aos --particles 25000)
# Figure 11: 16 aggregators per Pset, 16 MB buffers, one file per Pset, which holds what its nodes write together.
golden mira-hacc "${HACC[@]}" --machine "$MACHINES/mira-1024.sago" \
    --hint sago_aggregators=128 --hint sago_window=16M --subfiles gateway --hint sago_subfile_block=1946157056
# The same with the block left to the first write, which makes the same rule.
golden mira-subfiles "${HACC[@]}" --machine "$MACHINES/mira-1024.sago" \
    --hint sago_aggregators=128 --hint sago_window=16M --subfiles gateway
diff "$GOLDEN/mira-hacc.txt" "$GOLDEN/mira-subfiles.txt" || fail "the rule of the first write is not a block for each Pset"
# One file for all, and nothing hinted: runs of 100 KiB do not fill GPFS's blocks, so they are gathered.
golden mira-blocks "${HACC[@]}" --machine "$MACHINES/mira-1024.sago"
# Figure 9: the micro-benchmark, 1 MB a rank in one piece; 32 aggregators per Pset, buffers of 32 MB, one file per Pset.
golden mira-micro contiguous --bytes 1000000 --machine "$MACHINES/mira-1024.sago" --hint sago_aggregators=256 \
    --hint sago_window=32M --subfiles gateway
# Figure 10: the micro-benchmark, 1 MB a rank in one piece; 48 aggregators, stripes and buffers of 8 MB.
golden theta-512 contiguous --bytes 1000000 --machine "$MACHINES/theta.sago" --nodes 512 \
    --stripe-unit 8M --stripe-count 48 --hint sago_aggregators_per_target=1 --hint sago_strategy=aggregated
# Figures 13 and 14: 4 and 8 aggregators per OST, stripes and buffers of 16 MB.
golden theta-1024 "${HACC[@]}" --machine "$MACHINES/theta.sago" --nodes 1024 \
    --stripe-unit 16M --stripe-count 48 --hint sago_aggregators_per_target=4
golden theta-2048 "${HACC[@]}" --machine "$MACHINES/theta.sago" --nodes 2048 \
    --stripe-unit 16M --stripe-count 48 --hint sago_aggregators_per_target=8

# A rank with little data fills a column of the picture, not the whole row.
"$SAGO" plan contiguous --machine "$MACHINES/theta.sago" --nodes 1024 --bytes 1M --svg "$scratch/little.svg" >"$scratch/little.txt"
python3 - "$scratch/little.svg" <<'END' || fail "a column with little data"
import re, sys
rows = re.findall(r'<rect x="[0-9.]+" y="([0-9.]+)" width="([0-9.]+)"[^>]* fill="#f0f3f6"[^>]*/>\s*<rect x="[0-9.]+" y="([0-9.]+)" width="([0-9.]+)"',
                  open(sys.argv[1]).read())
rows = [(float(all), float(some)) for y, all, same, some in rows if y == same]
assert rows and max(some / all for all, some in rows) < 0.1, rows
END

# Where the dearer strategy is taken, the plan says why: the model cannot tell such times apart.
for nodes in 16 32 64 128 256; do
    "$SAGO" plan hacc-soa --machine "$MACHINES/theta.sago" --nodes $nodes | awk '
        /strategy: .* would take/ {
            alone = $9; together = $12 + 0; said = /a difference of less than a thirty-second/
            dearer = $2 == "direct," ? alone > together : together > alone
            if (alone != together && dearer != said) { print; exit 1 }
        }' || fail "$nodes nodes: the reason above"
done

# Without a number of stripes a file has as many as the described storage has targets.
"$SAGO" plan "${HACC[@]}" --machine "$MACHINES/theta.sago" --nodes 64 --stripe-unit 16M \
    --hint sago_aggregators_per_target=1 --hint sago_strategy=aggregated >"$scratch/targets.txt"
grep -q "for each of 56 storage targets" "$scratch/targets.txt" || fail "$(tail -12 "$scratch/targets.txt")"

# The NUMA domains of a node are shown, and each has a local aggregator.
"$SAGO" plan interleaved --machine "$MACHINES/frontera.sago" --nodes 8 --hint sago_strategy=aggregated >"$scratch/numa.txt"
grep -q "56 cores in 2 NUMA domains each" "$scratch/numa.txt" || fail "$(head -3 "$scratch/numa.txt")"
grep -q "local aggregators: at least one in each of 2 NUMA domains" "$scratch/numa.txt" || fail "$(cat "$scratch/numa.txt")"
"$SAGO" topo "$MACHINES/frontera.sago" >"$scratch/out"
grep -q "56 cores and 192 GiB of memory in 2 NUMA domains" "$scratch/out" ||
    fail "$("$SAGO" topo "$MACHINES/frontera.sago" | grep nodes)"

# What was decided, and what else it would have cost.
"$SAGO" plan "${HACC[@]}" --machine "$MACHINES/theta.sago" --nodes 1024 --stripe-unit 16M --stripe-count 48 \
    --explain >"$scratch/explained.txt"
for word in elections alternatives sago_placement=rank sago_placement=memory "between nodes" "aggregators compared" \
    "[*] sago_layers=2" "  sago_layers=3" "^    layers: 2, 256 relays of switches would make it slower"; do
    grep -q -- "$word" "$scratch/explained.txt" || fail "no '$word' in what --explain says"
done

"$SAGO" plan "${HACC[@]}" --machine "$MACHINES/mira-1024.sago" --subfiles gateway --explain >"$scratch/subfiles.txt"
grep -q "^subfiles: 8, one for each set of nodes that shares gateways; blocks of 1.8 GiB, as the first write makes them" \
    "$scratch/subfiles.txt" || fail "--explain does not say why there are 8 subfiles"
# A rank alone writes no rule but the default.
"$SAGO" plan "${HACC[@]}" --machine "$MACHINES/mira-1024.sago" --subfiles gateway --kind independent --explain >"$scratch/alone.txt"
grep -q "blocks of 16 MiB in turn, if the first write fills no better ones" "$scratch/alone.txt" || fail "the rule of a rank alone"
grep -q "sago_subfile_block=1946157056" "$scratch/subfiles.txt" || fail "--explain does not name the block of one range each"

# Windows that are shorter than the file system's blocks or stripes: no domain lies before the access.  (Each plan is
# checked before it is printed.)
short_windows() { # options...
    "$SAGO" plan flash --declared off --calls --machine "$MACHINES/mira.sago" --ranks-per-node 1 \
        --hint sago_strategy=aggregated --read "$@" >"$scratch/out" 2>&1 || fail "$* $(cat "$scratch/out")"
}
short_windows --nodes 32 --stripe-unit 2M --stripe-count 48 --hint sago_window=64K --hint sago_group_size=2199098
short_windows --nodes 16 --stripe-unit 2M --stripe-count 2 --memory 28114377 --hint sago_group_size=164217

# A window of a thousand stripes on 2,000 targets is planned in no time (it took 6 seconds).
timeout 60 "$SAGO" plan contiguous --bytes 64G --nodes 64 --ranks-per-node 16 --stripe-unit 64K --stripe-count 2000 \
    --hint sago_strategy=aggregated --hint sago_window=64M >"$scratch/out" || fail "a wide window is not planned"

# A window that is longer than what was wanted does not say that it is no longer than that.
"$SAGO" plan flash --machine "$MACHINES/xeon-ddr.sago" --nodes 11 --ranks-per-node 2 --hint sago_strategy=aggregated \
    --subfiles node >"$scratch/out"
grep -q "^ *window: longer than" "$scratch/out" && grep -q "^ *window: .*at most" "$scratch/out" &&
    fail "$(grep window: "$scratch/out")"

# A million ranks within a second and 64 MiB; seconds are shown, not judged.
"$SAGO" plan --scale | tee "$scratch/scale.txt"
awk '$1 == 1000000 && $9 + 0 > 64 { bad = 1 } $1 == 1000000 { n++ } END { exit bad || n < 6 }' "$scratch/scale.txt" ||
    fail "planning for a million ranks takes more than 64 MiB"

# In a job of Slurm's, without mpiexec: its nodes, tasks and switches, unless something else is said.
printf 'SwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Nodes=n[3-4]\nSwitchName=top Switches=s[0-1]\n' >"$scratch/topology.conf"
in_job() { # nodes, options...
    SLURM_CONF=$scratch/slurm.conf SLURM_JOB_NODELIST=$1 SLURM_TASKS_PER_NODE='2(x3),1' "$SAGO" plan interleaved "${@:2}"
}
in_job 'n[1-4]' >"$scratch/out"
grep -q "^interleaved: 4 nodes with 2 ranks" "$scratch/out" || fail "$(cat "$scratch/out")"
grep -q "^the nodes of this job (SLURM_JOB_NODELIST); network: $scratch/topology.conf" "$scratch/out" ||
    fail "$(cat "$scratch/out")"
in_job 'n[1-4]' --nodes 3 >"$scratch/out"
grep -q "^interleaved: 3 nodes" "$scratch/out" || fail "--nodes does not count in a job"
in_job 'n[4-1' >"$scratch/out"
grep -q "^interleaved: 1 node with" "$scratch/out" || fail "a list of nodes that is wrong"
in_job 'other[1-2]' >"$scratch/out"
grep -q "network: nothing is known" "$scratch/out" || fail "nodes that topology.conf does not have"

# Bad input
for bad in "--machine $scratch/none.sago" "--machine $MACHINES/mira-1024.sago --nodes 2000" \
    "--machine $MACHINES/theta.sago --subfiles several" "--svg $scratch/no/such/place.svg --nodes 2" "--scale" \
    "--calls --json"; do
    # shellcheck disable=SC2086
    if "$SAGO" plan contiguous $bad >"$scratch/out" 2>&1; then fail "$bad was taken"; fi
    grep -q "^sago" "$scratch/out" || fail "no message for $bad"
done
echo "plans of Mira and Theta as reviewed"
