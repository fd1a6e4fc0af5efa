#!/bin/bash
# `sago topo` of the machines that ship, of this one, and of what is wrong; pictures are XML whose texts do not overlap.
set -euo pipefail
sago=$SAGO_BUILD/bin/sago
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*" >&2
    exit 1
}

for file in "$SAGO_SOURCE"/machines/*.sago; do
    name=$(basename "$file" .sago)
    "$sago" topo "$name" >"$work/text"
    grep -q "^machine   $name$" "$work/text" || fail "$name: text"
    "$sago" topo "$file" --json | python3 -c '
import json, sys
machine = json.load(sys.stdin)
places = 1
for extent in machine["network"]["extent"]:
    places *= extent
assert machine["machine"] == sys.argv[1] and places == machine["network"]["places"] >= machine["nodes"] > 0
assert all(level["bandwidth"] > 0 for level in machine["network"]["levels"])' "$name" || fail "$name: JSON"
    "$sago" topo "$name" --svg --output "$work/$name.svg"
done

# What is inside a node, by hwloc: two NUMA domains of 8 cores with interfaces of their own.
HWLOC_XMLFILE=$SAGO_SOURCE/tests/topo/two_numa.xml "$sago" topo --json --output "$work/inside.json"
python3 - "$work/inside.json" <<'END' || fail "inside a node"
import json, sys
node = json.load(open(sys.argv[1]))["node"][0]
assert node["cores"] == 16 and node["numa"] == 2, node
assert node["nics"] == [{"name": "ens1", "numa": 0}, {"name": "mlx5_0", "numa": 0}, {"name": "ens2", "numa": 1}], node
END
HWLOC_XMLFILE=$SAGO_SOURCE/tests/topo/two_numa.xml "$sago" topo --svg --output "$work/inside.svg"
grep -q mlx5_0 "$work/inside.svg" && grep -q 'NUMA domain 1: 8 cores' "$work/inside.svg" || fail "picture of a node"

# This machine, 3 ranks; the site file and the hint count.
cat >"$work/site" <<END
inside latency 1us bandwidth 5GB/s
sago_local_dirs $work
END
mpi() { "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 3 env SAGO_SITE="$work/site" "$sago" topo "$@"; }
mpi --json --output "$work/here.json"
python3 - "$work/here.json" "$work" <<'END' || fail "this machine"
import json, sys
machine = json.load(open(sys.argv[1]))
assert machine["nodes"] == 1 and machine["node"][0]["ranks"] == 3 and machine["node"][0]["memory_available"] > 0
assert machine["network"]["levels"][-2]["bandwidth"] == 5e9
assert [d["path"] for d in machine["directories"]] == [sys.argv[2], "."]
assert machine["directories"][0]["share_of_node"] == [0] and machine["directories"][0]["problem"] is None
assert machine["directories"][0]["file_operations"] == 11, machine["directories"][0]
END
mpi --svg --output "$work/here.svg"

python3 - "$work"/*.svg <<'END' || fail "pictures"
import sys
import xml.etree.ElementTree as tree
SVG = "{http://www.w3.org/2000/svg}"
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = []
    for text in root.iter(SVG + "text"):
        size, x, y = (float(text.get(name)) for name in ("font-size", "x", "y"))
        wide = 0.55 * size * len(text.text or "")
        x -= {"start": 0, "middle": wide / 2, "end": wide}[text.get("text-anchor")]
        assert x >= 0 and x + wide <= width and 0 < y <= height, (path, text.text)
        boxes.append((x, y - 0.7 * size, x + wide, y, text.text))
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (path, a, b)
END

! "$sago" topo --machine x 2>"$work/err" || fail "an option that is none"
grep -q "no option" "$work/err" || fail "message: $(cat "$work/err")"
status=0
"$sago" topo nonesuch 2>"$work/err" || status=$?
[ $status = 2 ] || fail "a machine that is not there: exit status $status, which sago plan gives 2"
grep -q "no machine nonesuch; there are .*theta" "$work/err" || fail "message: $(cat "$work/err")"
printf 'name x\ntopology flat 0\n' >"$work/bad.sago"
! "$sago" topo "$work/bad.sago" 2>"$work/err" || fail "a wrong description"
grep -q "bad.sago:2: " "$work/err" || fail "message: $(cat "$work/err")"
! SAGO_SITE=$work/nowhere "$sago" topo 2>"$work/err" || fail "a site file that is not there"
[ "$(grep -c nowhere "$work/err")" = 1 ] || fail "message: $(cat "$work/err")"
echo ok
