#!/bin/bash
# `sago sim` as people use it: text, JSON, the timeline, the costs, and what it says when something is wrong.
set -euo pipefail

SAGO=$SAGO_BUILD/bin/sago
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

THETA=(--machine "$SAGO_SOURCE/machines/theta.sago" --nodes 16 --ranks-per-node 16 --stripe-unit 1M --stripe-count 8)

"$SAGO" sim block3d --dims 256 "${THETA[@]}" --engines sago,tapioca,two-phase,tam:2,ompio,gio \
    --svg "$scratch/line.svg" >"$scratch/text"
for engine in sago tapioca two-phase tam:2 ompio gio; do
    grep -q "^$engine " "$scratch/text" || fail "no $engine in the table"
done
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$scratch/line.svg"
grep -q "aggregator 0" "$scratch/line.svg" || fail "the timeline has no aggregators"

for direction in "" --read; do
    "$SAGO" sim e3sm-g --cells 20 "${THETA[@]}" $direction --engines sago,two-phase,gio --json >"$scratch/json"
    python3 - "$scratch/json" <<'PYTHON' || fail "JSON, $direction"
import json, sys
d = json.load(open(sys.argv[1]))
for e in d["engines"]:
    assert e["seconds"] > 0 and e["bytes"] > 0, e
    assert abs(e["stored_bytes"] - e["bytes"]) < 1 or e["stored_bytes"] > e["bytes"], e
    assert e["busiest_target"]["share"] <= 1.01 and e["busiest_link"]["share"] <= 1.01, e
assert d["engines"][0]["bytes"] == d["engines"][1]["bytes"]
PYTHON
done

# Whose costs: the machine's own, what its description says, and what is assumed, which is said.
WHOSE=(block3d --dims 256 --nodes 16 --ranks-per-node 16 --stripe-unit 1M --stripe-count 8 --engines two-phase)
sed 's/^name .*/name other/' "$SAGO_SOURCE/machines/theta.sago" >"$scratch/other.sago"
sed -e '/^process /s/storage [^ ]*/storage 20MB\/s/' "$scratch/other.sago" >"$scratch/slow.sago"
sed '/^process /d' "$scratch/other.sago" >"$scratch/none.sago"
for which in "$SAGO_SOURCE/machines/theta.sago" "$SAGO_SOURCE/machines/frontera.sago" "$scratch"/{other,slow,none}.sago; do
    "$SAGO" sim "${WHOSE[@]}" --machine "$which" >"$scratch/whose.$(basename "$which" .sago).txt"
    "$SAGO" sim "${WHOSE[@]}" --machine "$which" --json >"$scratch/whose.$(basename "$which" .sago)"
done
"$SAGO" sim "${WHOSE[@]}" >"$scratch/whose.flat.txt"
"$SAGO" sim "${WHOSE[@]}" --json >"$scratch/whose.flat"
"$SAGO" sim "${WHOSE[@]}" --costs jaguar >"$scratch/text"
grep -qx "costs: jaguar" "$scratch/text" || fail "--costs: not said"
python3 - "$scratch/whose." <<'PYTHON' || fail "whose costs were used"
import json, sys
names = ["theta", "frontera", "other", "slow", "none", "flat"]
told = {name: json.load(open(sys.argv[1] + name)) for name in names}
text = {name: [line for line in open(sys.argv[1] + name + ".txt") if line.startswith("costs: ")] for name in names}
assert all(len(lines) == 1 for lines in text.values()), text
assert all(text[name] == [f"costs: {told[name]['costs']['text']}\n"] for name in names), text
assert text["theta"] == ["costs: theta\n"] and not told["theta"]["costs"]["assumed"], told["theta"]["costs"]
for name in ("frontera", "none", "flat"):
    assert "assumed, those of cluster" in text[name][0] and told[name]["costs"]["of"] == "cluster", text
    assert told[name]["costs"]["assumed"] and not told[name]["costs"]["described"], told[name]["costs"]
assert told["other"]["costs"]["described"], told["other"]["costs"]
seconds = {name: told[name]["engines"][0]["seconds"] for name in names}
assert 0.5 < seconds["other"] / seconds["theta"] < 2, seconds
assert seconds["slow"] > 2 * seconds["other"] > 2 * seconds["none"], seconds
PYTHON

# Links of another speed: those that the description has, and slower ones.
"$SAGO" sim block3d --dims 256 "${THETA[@]}" --cost writer=0 --engines two-phase >"$scratch/text"
"$SAGO" sim block3d --dims 256 "${THETA[@]}" --cost writer=0 --engines two-phase --level node=1e8 >"$scratch/slow"
python3 - "$scratch/text" "$scratch/slow" <<'PYTHON' || fail "--level changes nothing"
import sys
fast, slow = (float(open(name).read().split("two-phase")[1].split()[0]) for name in sys.argv[1:])
assert slow > 2 * fast, (fast, slow)
PYTHON

# Where links limit only what nodes send, what one node reads from many targets comes faster.
READER=(contiguous --bytes 9M --nodes 1 --ranks-per-node 4 --costs cluster --stripe-unit 1M --stripe-count 4 --level 0=1e8 --cost target_read=1e8 --read
    --hint sago_strategy=direct --engines sago --json)
"$SAGO" sim "${READER[@]}" >"$scratch/both"
"$SAGO" sim "${READER[@]}" --send-only >"$scratch/sent"
python3 - "$scratch/both" "$scratch/sent" <<'PYTHON' || fail "--send-only changes nothing"
import json, sys
both, sent = (json.load(open(name))["engines"][0]["seconds"] for name in sys.argv[1:])
assert both > 1.5 * sent, (both, sent)
PYTHON

# Sums link by link and SimGrid's flows agree, whether the storage, the network or processors decide.
agree() {
    for model in flows links; do "$SAGO" sim "$@" --model $model --json >"$scratch/$model"; done
    python3 - "$scratch/flows" "$scratch/links" <<'PYTHON' || fail "the two ways of replaying differ: $*"
import json, sys
flows, links = ({e["engine"]: e for e in json.load(open(name))["engines"]} for name in sys.argv[1:])
for engine, f in flows.items():
    l = links[engine]
    assert abs(l["seconds"] / f["seconds"] - 1) < 0.12, (engine, f["seconds"], l["seconds"])
    assert abs(l["wire_bytes"] / max(f["wire_bytes"], 1) - 1) < 1e-9 or l["wire_bytes"] == f["wire_bytes"]
PYTHON
}
for direction in "" --read; do
    agree block3d --dims 256 "${THETA[@]}" $direction --engines sago,tapioca,two-phase,tam:2,ompio
    agree e3sm-f --c 4 --runs 2000 --times 8 "${THETA[@]}" $direction --engines sago,two-phase,tam:1
    agree block3d --dims 256 "${THETA[@]}" $direction --cost writer=0 --cost reader=0 --cost copy=1e12 --cost memory=1e12 \
        --cost target_write=1e12 --cost target_read=1e12 --cost call=0 --cost lock=0 --engines sago,two-phase
done
agree contiguous --bytes 1M --machine "$SAGO_SOURCE/machines/jaguar.sago" --nodes 32 --ranks-per-node 16 \
    --engines coio,rbio,rbio-thread

"$SAGO" sim contiguous --bytes 1M --machine "$SAGO_SOURCE/machines/mira-1024.sago" --nodes 128 \
    --engines coio,rbio,rbio-thread >"$scratch/text"
grep -q perceived "$scratch/text" || fail "no perceived bandwidth"

# Neighbours: the plan itself first, then others, each by the hint that leads there; the planner is near the best of them.
"$SAGO" sim hacc-aos --particles 25000 --machine "$SAGO_SOURCE/machines/theta.sago" --nodes 128 --ranks-per-node 16 \
    --stripe-unit 16M --stripe-count 48 --neighbours --json >"$scratch/json"
python3 - "$scratch/json" <<'PYTHON' || fail "--neighbours"
import json, sys
engines = json.load(open(sys.argv[1]))["engines"]
names = [e["engine"] for e in engines]
assert names[0] == "sago" and "strategy=direct" in names and "layers=3" in names, names
assert any(n.startswith("window=") for n in names) and any(n.startswith("aggregators") for n in names), names
best = min(e["seconds"] for e in engines)
assert engines[0]["seconds"] <= 1.1 * best, (names, [e["seconds"] for e in engines])
PYTHON

# A job of 100,000 ranks, on a Theta of 17 groups: within 4 GiB; seconds are shown, not judged.
sed 's/groups 9 /groups 17 /' "$SAGO_SOURCE/machines/theta.sago" >"$scratch/large.sago"
for pattern in "s3d --dims 800 --grid 40x50x50" "e3sm-f --c 4 --runs 191 --times 64"; do
    python3 - "$SAGO" sim $pattern --machine "$scratch/large.sago" --nodes 6250 --ranks-per-node 16 --stripe-unit 1M --stripe-count 56 \
        --engines sago,two-phase --json <<'PYTHON' || fail "$pattern with 100,000 ranks"
import json, resource, subprocess, sys
ran = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
engines = json.loads(ran.stdout)["engines"]
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"100,000 ranks: {sys.argv[3]}: {used.ru_utime + used.ru_stime:.0f} s of a processor, at most {used.ru_maxrss >> 10} MiB")
assert [e["engine"] for e in engines] == ["sago", "two-phase"] and all(e["seconds"] > 0 for e in engines), engines
assert engines[0]["bytes"] == engines[1]["bytes"] > 1e10, engines
assert used.ru_maxrss <= 4 << 20, used.ru_maxrss
PYTHON
done

# (Through a file: a grep that has found its words ends, and what is still being written then fails.)
"$SAGO" sim --costs >"$scratch/text"
grep -q "^| match |" "$scratch/text" || fail "no table of costs"
"$SAGO" sim --help >"$scratch/text"
grep -q "^  two-phase " "$scratch/text" || fail "help has no list of engines"
for wrong in "nothing" "block3d --engines none" "block3d --cost match=-1" "block3d --cost none=1" "block3d --nodes 0" \
    "block3d --nodes 2 --level global=1e9" "block3d --nodes 2 --level 0=-1" "block3d --model none" "block3d --costs none"; do
    if "$SAGO" sim $wrong >"$scratch/text" 2>&1; then fail "accepted: $wrong"; fi
    grep -q "^sago sim: " "$scratch/text" || fail "no message for: $wrong"
done

# Without the simulator the command says how to get it.
cp "$SAGO" "$scratch/sago"
if "$scratch/sago" sim block3d >"$scratch/text" 2>&1; then fail "sim without sago-sim"; fi
grep -q "make sim" "$scratch/text" || fail "does not say how to get it"
echo "sago sim: all checks passed"
