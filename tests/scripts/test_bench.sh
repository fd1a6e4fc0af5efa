#!/bin/sh
# RUN: timeout=240
# `sago`: every pattern of `sago bench` at a tiny size with 1, 2 and 4 ranks (btio: 1, 4 and 9), all engines,
# every byte verified, the JSON complete, no file left behind; `sago plan`, `hints`, `version`; wrong command
# lines are refused with exit status 2.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sago=$SAGO_BUILD/bin/sago
work=$(mktemp -d "${TMPDIR:-/tmp}/sago-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# bench RANKS PATTERN [OPTIONS]: must succeed, verify and leave nothing.
bench() {
    ranks=$1 pattern=$2 cold=1
    shift
    [ "$ranks" -lt 4 ] || cold=0 # more ranks than cores: MPI-IO is slow
    # shellcheck disable=SC2016
    if ! "$here/../run-mpi.sh" -t 60 "$ranks" sh -c 'exec "$@" --dir "$SAGO_TEST_DIR"' - "$sago" bench "$@" \
        --repeat 1 --warmup 0 --cold $cold --json "$work/out.json" >"$work/log" 2>&1; then
        fail "$ranks ranks: sago bench $*"
        cat "$work/log"
    elif grep -q '^.\{81\}' "$work/log"; then
        fail "$ranks ranks: sago bench $*: a line is wider than a terminal: $(grep '^.\{81\}' "$work/log")"
    elif ! check_json "$pattern" "$ranks"; then
        fail "$ranks ranks: the JSON of sago bench $*"
    fi
}

check_json() {
    python3 - "$work/out.json" "$1" "$2" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["pattern"] == sys.argv[2] and r["ranks"] == int(sys.argv[3]) and r["nodes"] == 1, r
assert r["mpi"] and r["mpiio"] in ("ROMIO", "OMPIO") and r["bytes"] > 0 and r["runs"] > 0, r
assert r["options"]["repeat"] == 1
engines = {e["name"]: e for e in r["engines"]}
assert sorted(engines) == ["limit", "mpiio", "sago"], engines
for e in engines.values():
    assert e["verified"] is True
    assert all(e["write_s"][k] > 0 for k in ("best", "median")), e
    assert not r["options"]["cold"] or all(e["write_s"][k] > 0 for k in ("first", "fresh")), e
    assert all(e["read_s"][k] > 0 for k in ("best", "median")), e
sago = engines["sago"]
assert {"flatten", "plan", "gather", "exchange", "store", "wait"} <= set(sago["phases"]), sago
assert sago["stats"]["plan_hits"] >= 0 and sago["stats"]["decision"]
for name in ("ratios", "ratios_low", "ratios_high"):
    for direction in ("write", "read"):
        assert all(r[name][direction][k] > 0 for k in ("mpiio", "limit")), r[name]
END
}

# refused WORDS... -- ARGUMENTS: exit status 2 and a message with these words.
refused() {
    words=$1
    shift
    "$sago" "$@" >"$work/log" 2>&1
    code=$?
    [ $code -eq 2 ] || fail "sago $*: exit status $code instead of 2"
    grep -q -e "$words" "$work/log" || fail "sago $*: no '$words' in: $(cat "$work/log")"
}

# What is measured is compared by plain reads.
# shellcheck disable=SC2016
if SAGO_SUBFILES=2 "$here/../run-mpi.sh" -t 60 2 sh -c 'exec "$@" --dir "$SAGO_TEST_DIR"' - "$sago" bench contiguous --bytes 20001 \
    >"$work/log" 2>&1; then
    fail "sago bench measured a file in subfiles"
fi
grep -q "one plain file" "$work/log" || fail "no word of subfiles in: $(cat "$work/log")"

# ---- Patterns ----

for n in 1 2 4; do
    bench $n contiguous --bytes 20001
    bench $n interleaved --block 512 --transfer 256 --segments 5
    bench $n block3d --dims 9x10x11
    bench $n s3d --dims 8 --steps 2
    bench $n hacc-aos --particles 101
    bench $n hacc-soa --particles 101
    bench $n hacc-records --particles 101
    bench $n flash --blocks 3 --side 4 --variables 3
    bench $n e3sm-f --runs 500
    bench $n e3sm-g --cells 20 --levels 7
    bench $n mpi-io-test --block 100 --blocks 3
    bench $n ior-hard --blocks 20
    bench $n checkerboard --block 64 --blocks 9
    bench $n random --runs 300
done
for n in 1 4 9; do
    bench $n btio --dims 12 --steps 2
done
bench 2 e3sm-f --runs 500 --c 1
bench 2 e3sm-f --runs 500 --c 4 --seed 7
bench 2 flash --blocks 3 --side 4 --file corners
bench 2 hacc-records --particles 101 --declared off
bench 4 btio --dims 12 --steps 2 --declared on
bench 2 s3d --dims 8 --grid 1x1x2
bench 2 s3d --dims 8 --steps 2 --calls nonblocking --declared off
grep -q '"nonblocking": true' "$work/out.json" || fail "--calls nonblocking is not in the JSON"
bench 2 hacc-records --particles 101 --views each --declared off --hint sago_defer=on
bench 2 ior-hard --blocks 60 --hint sago_defer=on
bench 2 ior-hard --blocks 60 --runs 20
bench 2 s3d --dims 8 --steps 2 --views each --declared off
bench 2 block3d --dims 8 --memory-check --hint sago_memory=32M
grep -q pss_rise "$work/out.json" || fail "no pss_rise"

# One ratio, of two or three repetitions, has no interval; two have a range.
for repeat in "3 pairs\$" "4 pairs \[range\]\$"; do
    # shellcheck disable=SC2016
    "$here/../run-mpi.sh" -t 60 2 sh -c 'exec "$@" --dir "$SAGO_TEST_DIR"' - "$sago" bench contiguous --bytes 4K --engines sago,mpiio \
        --repeat "${repeat%% *}" >"$work/log" 2>&1 || fail "--repeat ${repeat%% *}: $(cat "$work/log")"
    grep -q "ratio of ${repeat#* }" "$work/log" || fail "the head of: $(cat "$work/log")"
done
[ "$(grep -c 'as fast \[[0-9.]*, [0-9.]*\]$' "$work/log")" = 2 ] || fail "no range of two ratios: $(cat "$work/log")"

# GIO, where it is built in; else it is refused.
if "$sago" bench contiguous --engines gio --repeat 0 2>&1 | grep -q "without gio"; then
    refused "without gio" bench contiguous --engines sago,gio
    echo "built without GIO: not measured"
else
    for pattern in "contiguous --bytes 20001" "interleaved --block 512 --transfer 256 --segments 5" \
        "flash --blocks 3 --side 4 --variables 3" "checkerboard --block 64 --blocks 9" "e3sm-f --runs 50"; do
        # shellcheck disable=SC2086,SC2016
        "$here/../run-mpi.sh" -t 60 2 sh -c 'exec "$@" --dir "$SAGO_TEST_DIR"' - "$sago" bench $pattern --repeat 2 \
            --engines sago,gio --json "$work/out.json" >"$work/log" 2>&1 || { fail "GIO: $pattern"; cat "$work/log"; }
        python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert all(r["ratios"][way]["gio"] > 0 and len(r["turns"]["gio"][way]) == 2 for way in ("write", "read")), r
' "$work/out.json" || fail "the JSON of GIO: $pattern"
    done
    if "$here/../run-mpi.sh" -t 60 2 "$sago" bench contiguous --bytes 10 --dir /proc --engines gio >"$work/log" 2>&1; then
        fail "GIO wrote to /proc"
    fi
    grep -q "sago bench contiguous: " "$work/log" || fail "no reason in: $(cat "$work/log")"
fi

# The drop-in beside the MPI library it stands in front of; a limit of time; verified before the repetitions only.
if [ -z "${SAGO_SANITIZE:-}" ]; then
    # shellcheck disable=SC2016
    "$here/../run-mpi.sh" -t 60 2 sh -c 'export SAGO_STATS=json:$0.stats; export LD_PRELOAD=$1; shift
        exec "$@" --dir "$SAGO_TEST_DIR"' "$work/out" "$SAGO_BUILD/lib/libsago-mpiio.so" "$sago" bench random \
        --runs 50 --engines mpiio,plain --repeat 900 --cold 2 --seconds 1 --verify first --json "$work/out.json" \
        >"$work/log" 2>&1 || { fail "sago bench --engines mpiio,plain"; cat "$work/log"; }
    python3 - "$work/out.json" "$work/out.stats" <<'END' || fail "the JSON of --engines mpiio,plain"
import json, sys
r, stats = (json.load(open(name)) for name in sys.argv[1:])
ratios = r["mpiio_over_plain"]
assert sorted(e["name"] for e in r["engines"]) == ["mpiio", "plain"]
assert sorted(ratios) == ["first_read", "first_write", "fresh_write", "read", "write"], ratios
assert all(0 < e["low"] <= e["ratio"] <= e["high"] for e in ratios.values()), ratios
assert ratios["first_write"]["pairs"] == 1 and 1 <= ratios["write"]["pairs"] <= 450, ratios
# mpiio's calls came to the drop-in (first and fresh ones, as many as there was time for, two to warm up,
# repetitions), plain's did not
cold = len(r["turns"]["mpiio"]["opened_write"])
repeated = stats["writes"] - (cold + cold + 2)
assert repeated // 2 == ratios["write"]["pairs"] == len(ratios["write"]["each"]), (stats, ratios)
END
    rm -f "$work/out.stats"
fi

# ---- Exchange ----

# One machine: everything is local.
if ! "$here/../run-mpi.sh" -t 60 4 sh -c 'exec "$@" --dir "$SAGO_TEST_DIR" --local /tmp' - "$sago" bench exchange \
    --block 10000 --blocks 5 --repeat 2 --json "$work/out.json" >"$work/log" 2>&1; then
    fail "sago bench exchange"
    cat "$work/log"
fi
python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["ranks"] == 4 and r["neighbourhoods"] == 1 and r["blocks"] == r["local_blocks"] == 40, r
assert all(0 < r[w]["least_s"] <= r[w]["mean_s"] <= r[w]["most_s"] for w in ("global", "by_storage")), r
' "$work/out.json" || fail "the JSON of sago bench exchange"
refused "is no option" bench exchange --wibble 3
"$sago" bench exchange --local "$work/missing" >"$work/log" 2>&1 && fail "sago bench exchange --local missing"
grep -q missing "$work/log" || fail "sago bench exchange does not name the directory: $(cat "$work/log")"
find /tmp "$work" . -maxdepth 1 -name '.sago-exchange-*' -user "$(id -un)" | grep . && fail "files of sago bench exchange left"

# ---- Progress: on a terminal only, also through a launcher ----

launch="$SAGO_MPIEXEC -n 2"
[ "$SAGO_MPI" != openmpi ] || launch="$SAGO_MPIEXEC --oversubscribe --allow-run-as-root -n 2"
long="$sago bench contiguous --bytes 16M --engines sago --repeat 1000 --seconds 4 --dir $work"
if command -v script >/dev/null; then
    for before in "" "$launch"; do
        script -qec "$before $long" "$work/typed" >"$work/log" 2>&1 </dev/null || fail "on a terminal: $(cat "$work/log")"
        grep -q 'contiguous: repetition [0-9]* of 1000, [3-9] s' "$work/typed" || fail "no progress: ${before:-alone}"
        script -qec "$before $long 2>$work/err" "$work/typed" >"$work/log" 2>&1 </dev/null || fail "no terminal: $(cat "$work/log")"
        [ ! -s "$work/err" ] || fail "progress in a file: $(cat "$work/err")"
    done
    rm -f "$work/err" "$work/typed"
fi

# ---- Storage ----

if ! "$here/../run-mpi.sh" -t 60 4 sh -c 'exec "$@" --dir "$SAGO_TEST_DIR" --local /tmp' - "$sago" bench storage \
    --bytes 10000 --repeat 2 --json "$work/out.json" >"$work/log" 2>&1; then
    fail "sago bench storage"
    cat "$work/log"
fi
python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
for place in ("global", "local"):
    assert r[place]["neighbourhoods"] == 1 and r[place]["write_s"] > 0, r
    assert all(0 < r[place][way]["least_s"] <= r[place][way]["mean_s"] for way in ("auto", "exhaustive", "heuristic")), r
assert r["global"]["exhaustive"]["creates"] > r["global"]["auto"]["creates"], r
' "$work/out.json" || fail "the JSON of sago bench storage"
refused "is no option" bench storage --wibble 3
find /tmp . -maxdepth 1 -name '.sago-bench-storage-*' -user "$(id -un)" | grep . && fail "files of sago bench storage left"

# ---- The other commands ----

"$sago" --help | grep -q bench || fail "sago --help"
"$sago" bench --help | grep -q -e '--particles' || fail "sago bench --help"
[ "$("$sago" bench list | grep -c '^  [a-z]')" -eq 15 ] || fail "sago bench list"
"$sago" bench list --json | python3 -c '
import json, sys
patterns = json.load(sys.stdin)
assert len(patterns) == 15 and patterns[0]["name"] == "contiguous" and patterns[0]["sizes"] == {"bytes": "64M"}, patterns
' || fail "sago bench list --json"
"$sago" version | grep -q '^sago [0-9]' || fail "sago version"
"$sago" hints | grep -q '^sago_memory ' || fail "sago hints"
! "$sago" hints | grep '^Other' || fail "a hint has no purpose in tools/cmd_hints.c"
"$sago" hints | awk 'length > 110 { exit 1 }' || fail "sago hints: a line is too long"
[ "$("$sago" hints sago_window | grep -c '^sago_')" = 1 ] || fail "sago hints NAME"
"$sago" hints sago_seive 2>&1 | grep -q 'did you mean sago_sieve?' || fail "sago hints: a misspelt name"
"$sago" hints seive 2>&1 | grep -q 'did you mean sago_sieve?' || fail "sago hints: a misspelt name without sago_"
"$sago" plan contiguous --nodes 1 --ranks-per-node 1 --bytes 1 | grep -q 'access: 1 B in 1 run (mean 1 B)' || fail "sago plan: 1 run"
"$sago" hints cb_nodes | grep -q '^sago_aggregators ' || fail "sago hints, by another name"
! "$sago" hints nonsense 2>/dev/null || fail "sago hints nonsense"
"$sago" tier merge nowhere.dat 2>&1 | grep -qv 'nowhere.*nowhere' || fail "sago tier merge: a path is named twice"
"$sago" sim --help >/dev/null || fail "sago sim --help"
"$sago" hints --json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)) > 10' || fail "sago hints --json"
"$sago" plan block3d | grep -q range || fail "sago plan block3d"
for pattern in $("$sago" bench list | sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p'); do
    "$sago" plan "$pattern" --nodes 8 --ranks-per-node 2 --stripe-unit 1M --stripe-count 4 --json |
        python3 -c 'import json, sys; json.load(sys.stdin)' || fail "sago plan $pattern --json"
done

# ---- Wrong command lines ----

refused "no command" nonsense
refused "no command given"
refused "no pattern given" bench
refused "blocking or nonblocking" bench contiguous --calls later
refused "once or each" bench contiguous --views never
refused "no pattern 'x'; 'sago bench list'" bench x
refused "did you mean bench?" bnech
refused "did you mean report?" Report
refused "did you mean e3sm-f?" bench e3sm
refused "did you mean block3d?" plan block-3d
refused "a pattern comes first" plan --nodes 4
refused "did you mean --nodes?" plan contiguous --nodse 4
refused "did you mean --bytes?" plan contiguous --byte 4
refused "did you mean --dir?" bench ckpt --dri x
refused "Try 'sago bench ckpt --help'" bench ckpt --dri x
refused "from 1 to 1T$" plan contiguous --bytes 0
refused "at least 0$" plan contiguous --seed -1
refused "did you mean --hint?" run --hnt a=b true
refused "come after '--'" run --wibble a=b true
refused "contiguous has no --particles, but --bytes" bench contiguous --particles 3
refused "is no option" bench contiguous --wibble 3
refused "must be a size" bench contiguous --bytes lots
refused "must be a size" bench contiguous --bytes 0
refused "must be a size" bench contiguous --bytes 9999P
refused "N0xN1xN2" bench block3d --dims 3x4
refused "checkpoint|plotfile" bench flash --file all
refused "must be a number" bench random --repeat -1
refused "needs a value" bench random --repeat
refused "no engine 'warp'" bench random --engines sago,warp
refused "KEY=VALUE" bench random --hint sago_memory
refused "on or off" bench random --declared maybe
refused "all or first" bench random --verify some
refused "not expected" bench random stray
refused "No such file" bench random --dir "$work/missing"
refused "out.json cannot be written: No such file" bench random --dir "$work" --json "$work/missing/out.json"
refused "iB free" bench contiguous --dir "$work" --bytes 900G
refused "too small" plan block3d --dims 1 --nodes 8 --ranks-per-node 1
refused "is not a grid of 1 ranks" bench s3d --dims 8 --grid 2x2x2
refused "square number" plan btio --nodes 2 --ranks-per-node 1
refused "stripe-count" plan block3d --stripe-unit 1M
refused "sago_memory" plan block3d --hint sago_memory=tiny
refused "not expected" hints --stray

rest=$(ls "$work")
case $rest in
"log
out.json") ;;
*) fail "files left: $rest" ;;
esac
[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
