#!/bin/sh
# RUN: timeout=400
# Reports of real jobs: native and under the drop-in, killed ones too; `sago report`; variables that are wrong.
set -eu

sago=$SAGO_BUILD/bin/sago
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
launch="$SAGO_MPIEXEC -n 4"
if [ "$SAGO_MPI" = openmpi ]; then
    launch="$SAGO_MPIEXEC --oversubscribe --allow-run-as-root -n 4"
fi
bench="$sago bench block3d --dims 32x32x32 --engines sago --repeat 3 --dir $tmp"
native="$SAGO_BUILD/bin/examples/write_view $tmp/native.dat"

# With the drop-in.  A library with a sanitizer cannot be preloaded into a launcher without: there the programs are
# linked with it, and variables say what options do.
dropin() { # the report's file or nothing, what to do with statistics, command...
    report=$1 stats=$2
    shift 2
    if [ -n "${SAGO_SANITIZE:-}" ]; then
        env ${report:+SAGO_REPORT="$report"} SAGO_STATS="$stats" "$@"
    else
        "$sago" run ${report:+--report "$report"} --stats "$stats" -- "$@"
    fi
}

# ---- A job that ends, its JSON checked by another program than ours ----
# shellcheck disable=SC2086
SAGO_REPORT=run.html SAGO_TRACE=trace.json SAGO_STATS=json:stats.json $launch $bench >out 2>err || fail "the bench failed: $(cat err)"
[ ! -s err ] || fail "something was said: $(cat err)"
python3 - <<'PY' || failed=1
import json
r = json.load(open("run.json"))
s = json.load(open("stats.json"))
assert r["schema"] == "sago-report" and r["schema_version"] == 1 and r["complete"], r
files = r["files"]
writes = sum(f["job"]["collective_writes"] for f in files)
assert writes > 0 and writes == s["writes"], (writes, s)
assert sum(f["job"]["bytes_written"] for f in files) == s["write_bytes"] == 32**3 * 8 * writes, s
assert sum(n for f in files for _, n in f["sizes"]["write"]) == 4 * writes
heat = sum(v for f in files for row in f["heat"]["write"] for v in row)
assert abs(heat - s["write_bytes"]) < 0.01 * s["write_bytes"], (heat, s)
assert len(r["timeline"]["rows"]) == 4 and r["spans"]["data"] and r["verdict"]
assert r["around"]["open"]["calls"] == sum(f["opens"] for f in files) and r["around"]["close"]["seconds"] > 0, r["around"]
PY
python3 "$SAGO_SOURCE/tests/report/check_trace.py" trace.json 4 >out || failed=1
grep -q ' 0 dropped$' out || fail "the trace: $(cat out)"

# ---- Text, pages ----
"$sago" report run.json >text || fail "sago report"
grep -q 'in Sago.s calls' text && grep -q 'rank seconds' text || fail "the text: $(cat text)"
cp run.json other.json
"$sago" report --compare run.json other.json | grep -q 'second/first' || fail "sago report --compare"
"$sago" report --compare --html both.html run.json other.json 2>err || fail "a page of two"
grep -q '</html>' both.html || fail "the page of two is not whole"
echo '{"schema": "sago-report", "schema_version": 99}' >future.json
if "$sago" report future.json 2>err; then fail "a schema that nobody knows was taken"; fi
grep -q 'schema 99' err || fail "which schema? $(cat err)"
echo '{"schema": ' >broken.json
if "$sago" report broken.json 2>err; then fail "broken JSON was taken"; fi

# ---- Under the drop-in ----
# shellcheck disable=SC2086
dropin drop.html off $launch "$SAGO_BUILD/tests/dropin/test_handed" >out 2>err || fail "test_handed: $(cat err)"
python3 - <<'PY' || failed=1
import json
r = json.load(open("drop.json"))
assert r["program"] == "test_handed" and r["complete"], r["program"]
assert any(f["handed"] for f in r["files"]), "calls were handed on"
for kind in "independent", "collective":  # and who did them, and for how long
    by = [f["by_mpi"][kind] for f in r["files"]]
    assert sum(b["writes"] for b in by) > 0 and sum(b["bytes_written"] for b in by) > 0, (kind, by)
    assert sum(b["seconds"] for b in by) > 0, (kind, by)
assert r["around"]["open"]["calls"] == r["around"]["close"]["calls"] > 0 < r["around"]["open"]["seconds"], r["around"]
mpi = r["timeline"]["phases"].index("mpi")
assert sum(row["seconds"][mpi] for row in r["timeline"]["rows"]) > 0
PY

# ---- A path that cannot be written costs a line, not the job ----
# shellcheck disable=SC2086
SAGO_REPORT=/nonexistent/run.html $launch $bench >out 2>err || fail "an unwritable path cost the job"
[ "$(grep -c '' err)" -eq 1 ] && grep -q '^sago: SAGO_REPORT=/nonexistent/run.html: No such file' err || fail "said: $(cat err)"

# shellcheck disable=SC2086
SAGO_SITE=/nonexistent/site $launch $bench >out 2>err && fail "a site file that is not there"
grep -q 'the site file (hint sago_site, SAGO_SITE): opening /nonexistent/site: No such file' err || fail "said: $(cat err)"
[ "$(grep -o 'sago_open' err | wc -l)" -eq 1 ] || fail "the call is named twice: $(cat err)"
SAGO_TRACE=/nonexistent/t.json $launch $bench >out 2>err || fail "an unwritable trace cost the job"
[ "$(grep -c '' err)" -eq 1 ] && grep -q '^sago: SAGO_TRACE=/nonexistent/t.json: No such file' err || fail "said: $(cat err)"
for way in native dropin; do
    set -- env SAGO_STATS=json:/nonexistent/s.json
    [ $way = native ] || set -- dropin "" json:/nonexistent/s.json
    # shellcheck disable=SC2086
    "$@" $launch $native >out 2>err || fail "unwritable statistics cost the job"
    [ "$(head -n 1 err)" = "sago: SAGO_STATS=json:/nonexistent/s.json: No such file or directory: the statistics will be printed" ] || fail "said: $(cat err)"
    grep -q 'collective write' err || fail "the statistics are lost: $(cat err)"
done

# What is at a path stays what it is: a link, a directory, a FIFO that somebody reads or nobody.
mkdir kinds kinds/real kinds/folder kinds/page.json
ln -s real/stats.json kinds/link
mkfifo kinds/fifo kinds/unread
cat kinds/fifo >fifo.out &
reader=$!
# shellcheck disable=SC2086
SAGO_STATS=json:kinds/link SAGO_TRACE=kinds/fifo SAGO_REPORT=kinds/folder $launch $bench >out 2>err || fail "outputs cost the job: $(cat err)"
wait $reader
[ -L kinds/link ] && grep -q '"writes"' kinds/real/stats.json || fail "a link was replaced"
[ -p kinds/fifo ] && python3 -c 'import json; json.load(open("fifo.out"))' || fail "a FIFO was replaced"
[ "$(cat err)" = "sago: SAGO_REPORT=kinds/folder: Is a directory: there will be no report" ] || fail "said: $(cat err)"
# shellcheck disable=SC2086
SAGO_STATS=json:kinds/unread SAGO_REPORT=kinds/page.html $launch $bench >out 2>err || fail "outputs cost the job: $(cat err)"
[ "$(head -n 1 err)" = "sago: SAGO_REPORT=kinds/page.html: Is a directory: there will be no report" ] || fail "said: $(cat err)"
grep -q '^sago: SAGO_STATS=json:kinds/unread: nobody reads from it; the statistics are:' err && grep -q 'collective writes' err || fail "said: $(cat err)"
[ "$(echo kinds/*)" = "kinds/fifo kinds/folder kinds/link kinds/page.json kinds/real kinds/unread" ] || fail "left behind: $(echo kinds/*)"

# ---- Outputs that were given the same file: nothing replaces the report ----
# shellcheck disable=SC2086
SAGO_REPORT=one.html SAGO_TRACE=one.json SAGO_STATS=json:one.json $launch $bench >out 2>err || fail "outputs in one file: $(cat err)"
"$sago" report one.json >text || fail "the report was replaced: $(cat text)"
grep -q '^sago: SAGO_TRACE=one.json: SAGO_REPORT writes that file: there will be no trace' err || fail "said: $(cat err)"
grep -q '^sago: SAGO_STATS=json:one.json: that file is' err && grep -q 'collective writes' err || fail "said: $(cat err)"

# ---- Statistics: the same numbers as text and as JSON, of native programs and of others ----
# shellcheck disable=SC2086
SAGO_STATS=json:native.json $launch $native >out 2>err || fail "the example failed: $(cat err)"
# shellcheck disable=SC2086
SAGO_STATS=summary $launch $native >out 2>native.txt || fail "the example failed: $(cat native.txt)"
# A native program under the drop-in is counted as it is without.
# shellcheck disable=SC2086
dropin "" json:preloaded.json $launch $native >out 2>err || fail "the example failed: $(cat err)"
# shellcheck disable=SC2086
dropin "" json:handed.json $launch "$SAGO_BUILD/tests/dropin/test_handed" >out 2>err || fail "test_handed: $(cat err)"
# shellcheck disable=SC2086
dropin "" summary $launch "$SAGO_BUILD/tests/dropin/test_handed" >out 2>handed.txt || fail "test_handed: $(cat handed.txt)"
python3 - <<'PY' || failed=1
import json, re
native, preloaded, handed = (json.load(open(f + ".json")) for f in ("native", "preloaded", "handed"))
assert set(native) == set(handed) and set(native["all_ranks"]) == set(handed["all_ranks"])
for name in "ranks", "files", "files_taken", "writes", "write_bytes", "reads", "read_bytes", "routes":
    assert native[name] == preloaded[name], (name, native, preloaded)
assert native["all_ranks"]["writes"] == 4 * native["writes"] > 0 and native["write_seconds"] > 0, native
assert handed["files"] > handed["files_taken"] > 0 and sum(handed["handed"].values()) > 0
for stats, name in (native, "native.txt"), (handed, "handed.txt"):
    text = open(name).read()
    assert re.search(r"(\d+) files? opened", text)[1] == str(stats["files"]), text
    for verb in "read", "write":
        calls, size, unit = re.search(rf"(\d+) collective {verb}s?, ([\d.]+) (B|KiB|MiB|GiB) in", text).groups()
        unit = 1024 ** ["B", "KiB", "MiB", "GiB"].index(unit)
        assert int(calls) == stats[verb + "s"], (text, stats)
        assert abs(float(size) - stats[verb + "_bytes"] / unit) < 0.06, (text, stats)
    for route, calls in stats["routes"].items():
        assert (f"{route} {calls}" in text) == (calls > 0), (text, stats)
    by = sum(int(n) for n in re.findall(r"(\d+) calls? handed to MPI", text))
    assert by == sum(stats["handed"].values()), (text, stats)
PY

# Checkpoints are counted, too.
# shellcheck disable=SC2086
SAGO_STATS=json:saves.json $launch "$SAGO_BUILD/bin/examples/waveguide" --cells 8 --length 4 --steps 40 --every 20 --reference 0 \
    --dir "$tmp/saves" >out 2>err || fail "the waveguide failed: $(cat err)"
python3 - <<'PY' || failed=1
import json
saves = json.load(open("saves.json"))["checkpoints"]
assert saves["count"] == 2 and saves["bytes"] == 2 * 196656 and saves["held_seconds"] > 0 and not saves["newest_only"], saves
PY

# ---- Variables ----
# shellcheck disable=SC2086
SAGO_REPROT=x SAGO_STATS=sumary $launch $bench >out 2>err || fail "a misspelt variable cost the job"
grep -q 'SAGO_REPROT means nothing to Sago; did you mean SAGO_REPORT?' err || fail "said: $(cat err)"
grep -q 'SAGO_STATS: "sumary" is not off, summary or json:FILE' err || fail "said: $(cat err)"
[ "$(grep -c '' err)" -eq 2 ] || fail "said more than once: $(cat err)"

# A wrong value is said once, and what follows from it.
preload="env LD_PRELOAD=$SAGO_BUILD/lib/libsago-mpiio.so"
[ -z "${SAGO_SANITIZE:-}" ] || preload=
# shellcheck disable=SC2086
SAGO_WINDOW=wide $launch $preload "$SAGO_BUILD/tests/dropin/test_status" >out 2>err || fail "a wrong value cost the job"
[ "$(grep -c 'SAGO_WINDOW: "wide"' err)" -eq 1 ] && [ "$(grep -c 'is left to the MPI library$' err)" -eq 1 ] || fail "said: $(cat err)"

# ---- A job that is killed ----
# shellcheck disable=SC2086
SAGO_REPORT=killed.html $launch "$sago" bench contiguous --bytes 32M --engines sago --repeat 1000 --dir "$tmp" >out 2>err &
job=$!
# Its records must tell of a write; a machine with much else to do takes long over that.
tries=0
until rm -rf looked && mkdir looked && cp -r killed.html.records looked 2>err && "$sago" report looked 2>err | grep -q wrote; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { fail "the job that is to be killed records no write: $(cat err)"; break; }
    sleep 1
done
for pid in $(cat /proc/[0-9]*/stat 2>/dev/null | awk -v j="$job" '$4 == j { print $1 }') "$job"; do
    kill -9 "$pid" 2>/dev/null || true
done
wait "$job" 2>/dev/null || true
# The ranks go with their launcher.
i=0
while [ "$(ls /proc/[0-9]*/cwd -l 2>/dev/null | grep -c "$tmp\$")" -gt 1 ] && [ $i -lt 20 ]; do
    for link in /proc/[0-9]*/cwd; do
        pid=${link#/proc/}
        pid=${pid%/cwd}
        if [ "$pid" != $$ ] && [ "$(readlink "$link" 2>/dev/null)" = "$tmp" ] && grep -q bench "/proc/$pid/cmdline" 2>/dev/null; then kill -9 "$pid" 2>/dev/null || true; fi
    done
    i=$((i + 1))
    sleep 0.5
done
[ ! -e killed.html ] || fail "a job that was killed has a report"
[ -d killed.html.records ] || fail "it has no records"
"$sago" report . >text 2>err || fail "no page of a killed job: $(cat err)"
grep -q 'did not come to' text && grep -q 'wrote' text || fail "its text: $(cat text)"
grep -q '</html>' killed.html || fail "its page"
"$sago" report killed.json | grep -q wrote || fail "its JSON"

exit $failed
