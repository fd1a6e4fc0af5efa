#!/bin/sh
# RUN: timeout=240
# `sago ckpt`: every action on a directory of the waveguide; what is exported is what the format's description in
# Python (bindings/python/sago/reader.py) and VTK read.
set -eu

sago=$SAGO_BUILD/bin/sago
root=${TMPDIR:-/tmp}
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    root=/dev/shm
fi
tmp=$(mktemp -d "$root/sago-ckpt.XXXXXX")
job=
finish() { # processes of a job that was ended may still write for a moment
    [ -z "$job" ] || kill "$job" 2>/dev/null || true
    for _ in $(seq 20); do
        ! rm -rf "$tmp" 2>/dev/null || return 0
        sleep 0.5
    done
    rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp"

fail() {
    echo "FAIL: $*"
    exit 1
}
mpi() { # ranks, program, arguments...
    n=$1
    shift
    "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 "$n" "$@"
}
ckpt() { # arguments...: output in $tmp/out, expected to succeed
    timeout 60 "$sago" ckpt "$@" >out 2>&1 || { cat out; fail "sago ckpt $*: exit code $?"; }
}
refuses() { # exit code, pattern, arguments...
    code=0 wanted=$1 pattern=$2
    shift 2
    timeout 60 "$sago" ckpt "$@" >out 2>&1 || code=$?
    [ "$code" -eq "$wanted" ] || { cat out; fail "sago ckpt $*: exit code $code, not $wanted"; }
    says "$pattern"
}
says() {
    grep -q -- "$1" out || { cat out; fail "expected: $1"; }
}
python() { # expression about `data`, the JSON in out
    python3 -c "import json; data = json.load(open('out')); assert $1, data" || fail "$1"
}

mpi 3 "$SAGO_BUILD/bin/examples/waveguide" --cells 8 --length 4 --steps 60 --every 20 --reference 0 \
    --dir "$tmp/d" >log 2>&1 || { cat log; fail "the waveguide"; }

echo "== ls, show, verify"
ckpt ls d
[ "$(grep -c ' complete$' out)" -eq 3 ] || { cat out; fail "three steps"; }
! grep -q late out || { cat out; fail "nothing is late"; }
ckpt ls d --json
python "[s['step'] for s in data['steps']] == [20, 40, 60]"
python "all(s['levels']['global']['complete'] and s['arrays'] == 7 and s['ranks'] == 3 for s in data['steps'])"
ckpt show d
says '^step 60, complete'
says '^Ey  *array  *float64 .* 32 x 8 x 16$'
ckpt show d 40 --json
python "data['step'] == 40 and {a['name']: a['kind'] for a in data['data']}['run'] == 'shared'"
ckpt verify d
[ "$(grep -c ': good$' out)" -eq 3 ] || { cat out; fail "all are good"; }
mpi 2 "$sago" ckpt verify "$tmp/d" 20 60 >out 2>&1 || { cat out; fail "verify on two ranks"; }
[ "$(grep -c ': good$' out)" -eq 2 ] || { cat out; fail "two were asked for"; }

echo "== a save of a job that had been replaced"
cp -r d late
ckpt rm late 20 # another owner, who writes down what it has found
cp -r late/step-*40-* "late/step-$(printf %019d 99)-5347000001ffffff"
ckpt ls late
says '99 .* late$'
says '^1 late: made by a job that another one had replaced'
ckpt ls late --json
python "[(s['step'], s['state'], s['late']) for s in data['steps']] == [(40, 'complete', False), (60, 'complete', False), (99, 'late', True)]"

echo "== dump, against what the reader in Python says"
ckpt dump d 40
[ "$(grep -c ': min .*, max .*, mean .*, deviation ' out)" -eq 6 ] || { cat out; fail "statistics of six arrays"; }
grep -q '^run  *bytes that are the same on all ranks, not an array$' out || { cat out; fail "dump: what is no array"; }
cp out statistics
ckpt dump d 40 --array Ey
cp out whole
ckpt dump d 40 --array Ey --slice 3:30:4,-2:,1::5 --format csv
cp out slice
ckpt dump d 40 --array Ey --slice 2 --stats
says '^Ey  *float64  *1 x 8 x 16: min'
python3 "$SAGO_SOURCE/bindings/python/sago/reader.py" d 40 Ey Ey.dumped
python3 - <<'END' || fail "the numbers that dump prints"
import array, re
data = array.array("d", open("Ey.dumped", "rb").read())
at = lambda i, j, k: data[(i * 8 + j) * 16 + k]
found = [float(word) for line in open("whole") for word in line.split()[1:]]
assert found == list(data), len(found)
assert open("whole").readlines()[9].startswith("(1,1,0) "), open("whole").readlines()[9]
rows = [line.split(",") for line in open("slice")]
wanted = [(i, j, k) for i in range(3, 30, 4) for j in (6, 7) for k in range(1, 16, 5)]
assert [tuple(map(int, row[:3])) for row in rows] == wanted
assert [float(row[3]) for row in rows] == [at(*index) for index in wanted]
low, high, mean = re.search(r"^Ey .*: min (\S+), max (\S+), mean (\S+),", open("statistics").read(), re.M).groups()
close = lambda text, value: abs(float(text) - value) <= 1e-8 * max(abs(x) for x in data)
assert close(low, min(data)) and close(high, max(data)) and close(mean, sum(data) / len(data))
END
! python3 "$SAGO_SOURCE/bindings/python/sago/reader.py" nowhere >out 2>&1 || fail "the reader reads what is not there"
[ "$(cat out)" = 'nowhere: No such file or directory' ] || { cat out; fail "what the reader says"; }
mpi 2 "$sago" ckpt dump "$tmp/d" 40 --array Ey >out 2>&1 || { cat out; fail "dump on two ranks"; }
cmp out whole || fail "two ranks dump something else"
refuses 1 'is no slice' dump d --array Ey --slice 1:2:0
refuses 1 'is no slice' dump d --array Ey --slice 1,2,3,4
refuses 1 'bytes that are the same on all ranks' dump d --array run
refuses 2 'csv is for the numbers' dump d --array Ey --format csv --stats
refuses 2 'csv is for the numbers' dump d --format csv
refuses 2 'must be text or csv' dump d --array Ey --format vti

echo "== export, against a reader of its own"
read_checkpoint=$SAGO_SOURCE/bindings/python/sago/reader.py
python3 "$read_checkpoint" d >out
[ "$(cat out)" = "$(printf 'step %s: 196656 bytes, 3 ranks\n' 20 40 60)" ] || { cat out; fail "the steps in Python"; }
for name in Ex Ey Ez Hx Hy Hz; do
    python3 "$read_checkpoint" d 40 $name $name.bytes
done
ckpt export d 40 --format raw --output raw
for name in Ex Ey Ez Hx Hy Hz; do
    cmp raw.$name.raw $name.bytes || fail "$name differs"
done
cmp -s Ey.bytes Hz.bytes && fail "two components are the same"
python3 - raw.xmf <<'END' || fail "raw.xmf"
import sys, xml.dom.minidom
items = xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("Attribute")
assert [item.getAttribute("Name") for item in items] == ["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"]
assert items[1].getElementsByTagName("DataItem")[0].firstChild.data == "raw.Ey.raw"
END
python3 "$read_checkpoint" d 40 Ey Ey.npy
tail -c +129 Ey.npy | cmp - Ey.bytes || fail "the .npy file"
ckpt export d 40 --output pic
mpi 3 "$sago" ckpt export "$tmp/d" 40 --output "$tmp/pic3" >out 2>&1 || { cat out; fail "export on three ranks"; }
cmp pic.vtk pic3.vtk || fail "three ranks export something else"
ckpt export d 40 --format vti --output pic --array Ey --array Hz
python3 "$SAGO_SOURCE/tools/picture.py" pic.vtk Ey pic.png >/dev/null
head -c 4 pic.png | grep -q PNG || fail "no picture"
refuses 1 'pic.vtk: is there already' export d 40 --output pic
ckpt export d 40 --output pic --force
refuses 1 'not all arrays' export d --array nothing
refuses 1 'not an array' export d --array run

echo "== VTK reads it"
reader=
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import vtk' 2>/dev/null; then
        reader=$python
    fi
done
if [ -n "$reader" ]; then
    "$reader" "$SAGO_SOURCE/tests/scripts/read_vtk.py" pic.vtk Ex Ex.bytes Ey Ey.bytes Ez Ez.bytes Hz Hz.bytes
    "$reader" "$SAGO_SOURCE/tests/scripts/read_vtk.py" pic.vti Ey Ey.bytes Hz Hz.bytes
else
    echo "python3-vtk9 is not installed: VTK was not asked"
fi

echo "== the reader in Python passes over what is no complete step, and what does not count"
cp -a d r
reads() { # steps
    PYTHONPATH=$SAGO_SOURCE/bindings/python/sago timeout 20 python3 -c \
        'import reader, sys; assert reader.Directory("r").numbers == eval(sys.argv[1]), reader.Directory("r").numbers' "$1" ||
        fail "the reader does not find $1"
}
reads "[20, 40, 60]"
truncate -s 1 r/step-*60-*/file-000000.data
mv "$(ls -d r/step-*40-*)" r/step-0000000000000000041-5347000001000001
rm r/step-*20-*/intent
mkfifo "$(ls -d r/step-*20-*)/intent"
reads "[]"
rm -r r && cp -a d r
python3 - <<'END'
import struct
body = b"SAGOCKPT" + struct.pack("<IIqqq", 8, 1, 56, 77, 0) # nothing was found
try:
    import xxhash
    sum = xxhash.xxh3_128_intdigest(body)
except ImportError:
    sum = 0
open("r/found.00000077", "wb").write(body + struct.pack("<QQ", sum & (1 << 64) - 1, sum >> 64))
END
reads "[]"

echo "== damage"
data=$(ls d/step-*40-*/file-000000.data)
printf 'X' | dd of="$data" bs=1 seek=70001 conv=notrunc 2>/dev/null
refuses 1 '^step 40: DAMAGED' verify d
grep -q '^    global: .* damaged' out || fail "verify does not say what is damaged"
! grep -q ': 0 bytes good, 0 pieces damaged, 0 parts missing' out || fail "verify tells of levels that have nothing"
says '^step 60: good'
refuses 1 '"good": false' verify d 40 --json
refuses 1 '^step 40: cannot be repaired' repair d
rm d/step-*20-*/*.part
refuses 1 '^step 20: damaged' verify d
refuses 1 '"report": "damaged"' verify d 20 60 --json
ckpt ls d
says ' damaged$'
ckpt repair d 60
says '^step 60: good'
ckpt repair d 40 --remove
says '^step 40: removed'

echo "== what is set aside"
[ "$(ls d | grep -c '^damaged-0*20-')" -eq 1 ] || fail "opening did not set step 20 aside"
ckpt ls d
says '^ *20 .* damaged$'
says '^1 damaged, .* set aside as damaged-'
ckpt ls d --json
python "[s['state'] for s in data['steps']] == ['damaged', 'complete'] and data['steps'][0]['damaged']"
refuses 1 '^step 20: damaged, cannot be repaired: set aside' repair d
says '^step 60: good'
refuses 1 'set aside' rm d 20
[ "$(ls d | grep -c '^damaged-')" -eq 1 ] || fail "step 20 is gone"
ckpt rm d --damaged
says '^step 20: what was set aside as damaged is removed'
! ls d | grep -q '^damaged-' || fail "step 20 is still there"

echo "== a restart goes back to what is whole"
run_on() { # steps
    mpi 3 "$SAGO_BUILD/bin/examples/waveguide" --cells 8 --length 4 --steps "$1" --every 20 --reference 0 --dir "$tmp/d" \
        >log 2>&1 || { cat log; fail "the waveguide goes on to $1"; }
}
run_on 100
printf 'X' | dd of="$(ls d/step-*100-*/file-000000.data)" bs=1 seek=70001 conv=notrunc 2>/dev/null
run_on 120
grep -q '^restored step 80 ' log || { cat log; fail "it did not go back to step 80"; }
grep -q '^passed over: .*step 100' log || { cat log; fail "it does not say what it passed over"; }
[ "$(ls d | grep -c '^damaged-0*100-')" -eq 1 ] || fail "the damaged step 100 is not set aside when it is saved again"
ckpt verify d 100
ckpt rm d --damaged
ckpt rm d 80 100 120

echo "== drain and repair, from the storage of the nodes"
mkdir nodes
local="--hint sago_local_dirs=$tmp/nodes"
waveguide() {
    mpi 2 "$SAGO_BUILD/bin/examples/waveguide" --cells 8 --length 4 --every 20 --reference 0 --dir "$tmp/e" $local "$@"
}
# Not in the background, where step 40 may not be complete when it dies.
if waveguide --steps 60 --hint sago_ckpt_global_every=0 --hint sago_ckpt_mode=coio --die-at 50 >log 2>&1; then
    fail "it did not die"
fi
ckpt ls e
! grep -q complete out || { cat out; fail "steps are in the directory before they are drained"; }
ckpt ls e $local --json
python "[s['step'] for s in data['steps']] == [20, 40] and all(s['levels']['local']['complete'] for s in data['steps'])"
blocked=e/$(basename "$(ls -d nodes/*/step-*40-*)")
touch "$blocked"
refuses 1 '^step 40: not everything can be repaired; one level has all of it' repair e 40 $local --remove
rm "$blocked"
[ "$(ls -d nodes/*/step-*40-* | wc -l)" -eq 1 ] || fail "repair --remove has removed a step that is whole on the nodes"
mpi 2 "$sago" ckpt drain "$tmp/e" $local >out 2>&1 || { cat out; fail "drain"; }
says '^step 40: is in the directory'
ckpt verify e
[ "$(grep -c ': good$' out)" -eq 2 ] || { cat out; fail "what was drained is not good"; }
ckpt drain e $local
says 'nothing to do'
mkdir empty
for action in ls verify repair drain export; do
    refuses 1 'empty: it is not a checkpoint directory' $action empty
done
[ -z "$(ls -A empty)" ] || fail "an empty directory has become one of checkpoints"
printf 'X' | dd of="$(ls e/step-*40-*/file-000000.data)" bs=1 seek=70001 conv=notrunc 2>/dev/null
rm e/step-*20-*/*.part
refuses 1 '^step 40: DAMAGED' verify e
ckpt repair e $local
[ "$(grep -c ': repaired$' out)" -eq 2 ] || { cat out; fail "repair"; }
ckpt verify e

echo "== while a job uses the directory"
# Not by the functions: the shell in between would be ended alone.
# shellcheck disable=SC2086
"$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$SAGO_BUILD/bin/examples/waveguide" --cells 8 --length 4 --every 20 \
    --reference 0 --dir "$tmp/e" $local --steps 1000000 --hint sago_ckpt_keep_global=3 >log 2>&1 &
job=$!
for _ in $(seq 300); do
    ckpt ls e
    grep -q '^ *[0-9]\{3,\} .* complete$' out && break # step 100 or later
    sleep 0.2
done
says '^ *[0-9]\{3,\} .* complete$'
refuses 1 'another job uses the directory' rm e 20
kill $job
wait $job || true
job=

echo "== rm"
ckpt ls d
! grep -q '^ *40 ' out || { cat out; fail "step 40 is still there"; }
refuses 1 'which steps' rm d
refuses 1 'no step 99' rm d 99
refuses 1 'no complete step would be left' rm d 60
ckpt rm d 60 --force
ckpt ls d
! grep -q ' complete$' out || { cat out; fail "step 60 is still there"; }

echo "== bad input"
refuses 1 'no such directory' ls nothing
refuses 1 'not a checkpoint directory' ls /
mkdir strange && touch "strange/$(printf 'a\033[31m\nb')"
refuses 1 'it has "a?\[31m b" in it' repair strange
refuses 2 'no action' frob d
refuses 2 'export, dump and rm' frob d
refuses 2 'needs a directory' ls
refuses 2 'not the number of a step' show d x
refuses 2 '--frob is no option' ls d --frob 1
refuses 2 'must be vtk, vti or raw' export d --format png
refuses 1 'no complete step' show d
ckpt --help
says 'drain'
