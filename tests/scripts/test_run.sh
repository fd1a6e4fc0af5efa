#!/bin/sh
# RUN: timeout=180
# `sago run` and `sago compare`: launchers, scripts and plain commands; what they set in the environment and what they
# report; wrong command lines; a program of the other MPI; a relocated installation.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sago=$SAGO_BUILD/bin/sago
library=$(realpath "$SAGO_BUILD/lib/libsago-mpiio.so"):$(realpath "$SAGO_BUILD/lib/libsago-gio.so")
app=$SAGO_BUILD/tests/dropin/libs/mpiio_app
work=$(mktemp -d "${TMPDIR:-/tmp}/sago-run.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
unset SAGO_STATS
failures=0

fail() {
    echo "FAIL: $*"
    [ ! -s log ] || cat log
    failures=$((failures + 1))
}

# gives STATUS WORDS ARGUMENTS...: the exit status of sago, and a line with these words.
gives() {
    status=$1 words=$2
    shift 2
    "$sago" "$@" >log 2>&1
    code=$?
    [ $code -eq "$status" ] || fail "sago $*: exit status $code instead of $status"
    [ -z "$words" ] || grep -q -e "$words" log || fail "sago $*: no '$words'"
}

# lacks WORDS: not in what the last one said.
lacks() {
    ! grep -q -e "$1" log || fail "there should be no '$1'"
}

case $SAGO_MPI in
mpich) launch="$SAGO_MPIEXEC -n 2" other=openmpi other_launch="mpiexec.openmpi --oversubscribe -n 2" ;;
*) launch="$SAGO_MPIEXEC --oversubscribe --bind-to none -n 2" other=mpich other_launch="mpiexec.mpich -n 2" ;;
esac

# ---- Wrong command lines ----

gives 0 "usage: sago run" run --help
gives 0 "usage: sago compare" compare --help
for command in run compare; do
    gives 2 "no command given" $command
    gives 2 "no command given" $command --
    gives 2 "no command given" $command --hint sago_memory=32M
    gives 2 "did you mean sago_memory" $command --hint sago_memry=32M -- true
    gives 2 "is not a size" $command --hint sago_memory=much -- true
    gives 2 "give it as sago_aggregators" $command --hint cb_nodes=3 -- true
    gives 2 "MPI_Info" $command --hint striping_unit=1M -- true
    gives 2 "unknown" $command --hint colour=red -- true
    gives 2 "KEY=VALUE" $command --hint sago_memory -- true
    gives 2 "--wibble is no option" $command --wibble 3 -- true
done
gives 2 "off, summary or json:FILE" run --stats loud -- true
gives 2 "off, summary or json:FILE" run --stats json: -- true
gives 2 "must be a number" compare --repeat 0 -- true
gives 2 "not a regular file" compare --file "$work" -- true
SAGO_MEMORY=much gives 2 "SAGO_MEMORY" run -- true
mkdir -p lonely/bin && cp "$sago" lonely/bin/sago
lonely/bin/sago run -- true >log 2>&1
[ $? -eq 2 ] || fail "no library: exit status"
grep -q "libsago-mpiio.so: No such file" log || fail "no library: message"

if [ -n "${SAGO_SANITIZE:-}" ]; then
    echo "the rest is left out: a library with a sanitizer cannot be preloaded into programs without"
    exit $((failures > 0))
fi

# ---- run: environment, status, arguments ----

gives 0 "^$library 32M summary\$" run --hint sago_memory=32M -- \
    sh -c 'echo "$LD_PRELOAD $SAGO_MEMORY $SAGO_STATS"'
gives 0 "^json:$work/s.json\$" run --stats json:s.json sh -c 'echo "$SAGO_STATS"'
gives 0 "^off\$" run --stats=off --hint=sago_io=posix sh -c 'echo "$SAGO_STATS"'
SAGO_STATS=off gives 0 "^off\$" run -- sh -c 'echo "$SAGO_STATS"'
gives 0 "^--help -- a  b\$" run -- sh -c 'echo "$*"' - --help -- "a  b"
LD_PRELOAD=libm.so.6 gives 0 "^libm.so.6:$library\$" run -- sh -c 'echo "$LD_PRELOAD"'
gives 7 "" run -- sh -c 'exit 7'
gives 127 "nonsense: No such file" run -- nonsense

# ---- run: MPI programs ----

gives 0 "3 collective writes" run -- $launch "$app" write out
gives 0 "3 collective reads" run -- $launch "$app" read out
gives 0 "" run --stats off -- $launch "$app" read out
lacks .
SAGO_DISABLE=1 gives 0 "" run -- $launch "$app" read out
lacks collective
gives 0 "" run --stats json:out.json -- $launch "$app" read out
lacks .
python3 - out.json <<'END' || fail "out.json"
import json, sys
stats = json.load(open(sys.argv[1]))
assert stats["ranks"] == 2 and stats["reads"] == 3 and stats["files_taken"] == 1, stats
assert stats["all_ranks"]["reads"] == 6 and stats["all_ranks"]["files_taken"] == 2, stats
END
printf '#!/bin/sh\n# a job script\nset -e\ncd "$1"\n%s "%s" write out\n%s "%s" read out\necho done\n' \
    "$launch" "$app" "$launch" "$app" >job
chmod +x job
gives 0 "^done\$" run -- ./job "$work"
grep -q "3 collective writes" log && grep -q "3 collective reads" log || fail "a job script: summaries"
gives 0 "3 collective reads" run -- "$here/../run-mpi.sh" 2 "$app" read "$work/out"

# The ranks of Open MPI on other nodes get a fresh environment.
if [ "$SAGO_MPI" = openmpi ] && unshare --uts true 2>/dev/null; then
    cat >rsh <<'END'
#!/bin/sh
node=$1
shift
exec env -i PATH="$PATH" HOME="$HOME" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    unshare --uts sh -c "hostname $node; $*"
END
    chmod +x rsh
    gives 0 "^elsewhere 32M .*libsago-mpiio.so" run --hint sago_memory=32M -- "$SAGO_MPIEXEC" -n 1 \
        --mca plm_rsh_agent "$work/rsh" --host elsewhere:1 sh -c 'echo "$(hostname) $SAGO_MEMORY $LD_PRELOAD"'
    gives 0 "^yes\$" run -- $launch -x WORD=yes sh -c 'echo "$WORD"'
fi

# ---- A report that cannot be written: one line, whatever the command does ----

for command in true "$launch $app write out"; do
    # shellcheck disable=SC2086
    gives 2 "^sago compare: --report /nonexistent/x.html: No such file or directory" \
        compare --report /nonexistent/x.html -- $command
    gives 0 "^sago run: --report /nonexistent/x.html: No such file or directory: there will be no report" \
        run --stats off --report /nonexistent/x.html --trace trace.json -- $command
    [ "$(wc -l <log)" -eq 1 ] || fail "an unwritable report: more than one line"
done
[ -s trace.json ] || fail "no trace beside a report that cannot be written"

# ---- A program of the other MPI runs without Sago ----

libs=$here/../dropin/libs
if command -v mpicc.$other >/dev/null && mpicc.$other -I"$libs" -o other "$libs/mpiio_app.c"; then
    gives 0 "another MPI library" run -- $other_launch ./other write out
    [ "$(wc -l <log)" -eq 1 ] || fail "a program of $other: more than one line"
    gives 0 "3 collective reads" run -- $launch "$app" read out
fi

# ---- compare ----

rm -f out
gives 0 "with Sago it is [0-9.]* times as fast" compare --repeat 2 --file out -- $launch "$app" write out
grep -q "Sago did 3 collective writes" log || fail "compare: what Sago did"
grep -q "^out: identical, 192000 bytes, 3 comparisons" log || fail "compare: files"
grep -q "range of 2 pairs" log || fail "compare: pairs"
[ "$(wc -c <out)" -eq 192000 ] || fail "compare leaves the file"
gives 0 "95% interval from 6 pairs" compare --repeat 6 -- true
grep -q "Sago did nothing" log || fail "compare: nothing done"

echo before >out
gives 1 "out: DIFFERS in 5 bytes from byte 4 on" compare --repeat 1 --file out -- \
    sh -c 'if [ "$SAGO_DISABLE" ]; then echo same; else echo sameness; fi >out'
lacks "between two runs"
[ "$(cat out out.with-sago out.without-sago)" = "before
sameness
same" ] || fail "compare: what is left"
rm -f out.*
gives 1 "also differs between two runs" compare --repeat 1 --file out -- sh -c 'date +%N >out'
grep -q DIFFERS log || fail "compare: a file with the time in it"
lacks "these are all 0"
rm -f out.*
gives 1 "with Sago these are all 0" compare --repeat 1 --file out -- \
    sh -c 'if [ "$SAGO_DISABLE" ]; then echo rubbish; else head -c 7 /dev/zero; echo; fi >out'
rm -f out.*
gives 1 "status 3 with Sago" compare --repeat 1 --file out -- sh -c 'echo whine; echo >out; [ "$SAGO_DISABLE" ] || exit 3'
grep -q whine log || fail "compare: the output of a command that failed"
# The launcher's status of ranks that fail: MPICH kills one while the other fails, and may add both up.
gives 1 "failed with status [1-9][0-9]* without Sago" compare --repeat 1 -- $launch sh -c 'exit 3'
lacks LD_PRELOAD # of which Open MPI warns when it is to pass it on and it is not set
gives 1 "ended by signal 9 without Sago" compare -- sh -c 'kill -9 $$'
gives 1 "nonsense: No such file" compare -- nonsense
gives 1 "out after the run without Sago: No such file" compare --file out -- true
[ "$(cat out)" = before ] || fail "compare: a file that was there before is put back"

# Interrupted, it puts files back, too.
"$sago" compare --file out -- sleep 20 >log 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ ! -e out.before-compare ] || break
    sleep 0.2
done
kill -TERM $!
wait $!
[ $? -eq 1 ] || fail "compare: interrupted"
grep -q interrupted log || fail "compare: interrupted, message"
[ "$(cat out)" = before ] || fail "compare: a file is put back after an interrupt"
[ "$(ls out*)" = out ] || fail "files left: $(ls out*)"

# ---- Anywhere else ----

cmake --install "$SAGO_BUILD" --prefix "$work/moved from here" >log 2>&1 || fail "install"
"moved from here/bin/sago" run -- true >log 2>&1
[ $? -eq 2 ] && grep -q "blank" log || fail "a path with blanks"
mv "moved from here" moved
moved/bin/sago run -- $launch "$app" read "$work/moved.none" >log 2>&1 && fail "a file that is not there"
moved/bin/sago run -- $launch "$app" write moved.out >log 2>&1 || fail "an installed sago run"
grep -q "3 collective writes" log || fail "an installed sago run: summary"

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
