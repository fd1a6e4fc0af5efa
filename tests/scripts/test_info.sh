#!/bin/sh
# `sago info`: what it must tell, what is wrong is said with advice, as text and as JSON.
set -eu

sago=$SAGO_BUILD/bin/sago
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset SAGO_SITE
fail() {
    echo "FAIL: $*"
    cat "$tmp/out"
    exit 1
}
says() {
    grep -q -- "$1" "$tmp/out" || fail "expected: $1"
}

"$sago" info >"$tmp/out" 2>&1 || fail "exit status $?"
for line in '^  version  *[0-9]' '^  MPI  *.*MPI.*mpicc' '^  MPI here' '^  compiler' '^  features  *io_uring' '^  kernel  *Linux' \
    '^  io_uring  *\(yes\|no: \)' '^  /dev/shm  *[0-9.]* .*free' '^  open files' '^Sago can run here'; do
    says "$line"
done
case $SAGO_MPI in
mpich) says '^  MPI here  *MPICH' ;;
*) says '^  MPI here  *Open MPI' ;;
esac

# mpicc in PATH is another MPI's than Sago's, or the same.
mkdir "$tmp/opal" "$tmp/mpich"
echo '#!/bin/sh' >"$tmp/opal/opal_wrapper"
printf '#!/bin/sh\n# MPICH\n' >"$tmp/mpich/mpicc"
ln -s opal_wrapper "$tmp/opal/mpicc"
chmod +x "$tmp"/opal/* "$tmp/mpich/mpicc"
case $SAGO_MPI in
mpich) own=mpich other=opal make=openmpi ;;
*) own=opal other=mpich make=mpich ;;
esac
PATH=$tmp/$own:$PATH "$sago" info >"$tmp/out" || fail "with mpicc"
says "^  mpicc  *$tmp/$own/mpicc, of "
if grep -q 'make MPI=' "$tmp/out"; then fail "a warning of one's own MPI"; fi
PATH=$tmp/$other:$PATH "$sago" info >"$tmp/out" || fail "with another mpicc"
says "or Sago by make MPI=$make"

echo 'inside latency 1us bandwidth 1GB/s' >"$tmp/site"
SAGO_SITE=$tmp/site SAGO_WINDOW=8M "$sago" info >"$tmp/out" || fail "with variables"
says "^  site file  *$tmp/site"
says '^  SAGO_WINDOW  *8M'
(ulimit -n 64 && "$sago" info) >"$tmp/out" || fail "few descriptors"
says '-> ulimit -n'

SAGO_FOO=1 "$sago" info >"$tmp/out" || fail "a variable that nobody knows"
[ "$(grep -c 'SAGO_FOO means nothing to Sago' "$tmp/out")" = 1 ] || fail "SAGO_FOO"
SAGO_REPROT=x SAGO_STATS=loud "$sago" info >"$tmp/out" || fail "variables without effect"
says 'SAGO_REPROT means nothing to Sago; did you mean SAGO_REPORT?'
says '"loud" is not off, summary or json:FILE'
[ "$(grep -c '^  /dev/shm  *tmpfs' "$tmp/out")" -le 1 ] || fail "a folder twice"
if SAGO_SITE=/nonexistent "$sago" info >"$tmp/out"; then fail "a site file that is not there"; fi
says '/nonexistent: No such file'

code=0
SAGO_WINDOW=nonsense "$sago" info >"$tmp/out" || code=$?
[ $code = 1 ] || fail "a wrong variable: $code"
says '!! every call'
says 'cannot run here'
SAGO_WINDOW=nonsense "$sago" info --json >"$tmp/out" && fail "a wrong variable as JSON"
python3 - "$tmp/out" <<'END' || fail "JSON"
import json, sys
data = json.load(open(sys.argv[1]))
wrong = [fact for fact in data["facts"] if fact["verdict"] == "broken"]
assert data["verdict"] == "broken" and len(wrong) == 1 and "sago_window" in wrong[0]["value"].lower(), wrong
assert {fact["topic"] for fact in data["facts"]} >= {"build", "paths", "machine", "file systems"}
END
code=0
"$sago" info nonsense >"$tmp/out" 2>&1 || code=$?
[ $code = 2 ] || fail "usage"

# Every command has its help.
for command in run compare report bench plan topo tune ckpt subfile tier hints info version; do
    "$sago" $command --help >"$tmp/out" 2>&1 || fail "$command --help: $?"
    says '^usage: .*sago '$command
done
"$sago" hints sago_window --json >"$tmp/out" && says '"name": "sago_window"' || fail "hints NAME --json"

"$sago" help run >"$tmp/out" && says '^usage: sago run'
for command in subfile tier; do
    code=0
    "$sago" $command >"$tmp/out" 2>&1 || code=$?
    [ $code = 2 ] && says 'merge.*?$'
done
if "$sago" help nonsense >"$tmp/out" 2>&1; then fail "help of a command that is not there"; fi

# Output that is lost is an error of every command.
for command in info hints version help; do
    code=0
    "$sago" $command >/dev/full 2>"$tmp/out" || code=$?
    [ $code = 1 ] || fail "$command on a full disk: $code"
    says 'not all of the output'
done
