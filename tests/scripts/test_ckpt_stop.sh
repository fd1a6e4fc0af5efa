#!/bin/bash
# RUN: 1 9 16 31 timeout=240
# RUN-LONG: all
# The owner of a checkpoint directory is stopped before an operation of a save or a removal, for longer than its lease (the
# lock's time is set back); another job takes over and saves twice; then the first one goes on.  Nothing of the second
# one's is lost, and nothing counts that the first one wrote later.
#     test_ckpt_stop.sh OPERATION... | all
set -euo pipefail

root=/tmp
[ -w /dev/shm ] && root=/dev/shm
work=$(mktemp -d "$root/sago-test.XXXXXX")
exec 9<"$work"
flock -n 9
first=0
finish() {
    [ "$first" = 0 ] || kill -KILL "$first" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

run() { "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 1 "$SAGO_BUILD/tests/mpi/test_ckpt_owner" "$@"; }

state() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null || echo gone; }

# Whether there was such an operation.
stop_before() {
    local dir=$work/ckpt-$1 hints="sago_ckpt_keep_global=2"
    [ $(($1 % 2)) = 0 ] || hints="$hints sago_ckpt_lease=2"
    run stop "$dir" "$1" "$hints" >"$work/log" 2>&1 &
    local launcher=$!
    until [ -s "$dir.pid" ] || ! kill -0 $launcher 2>/dev/null; do sleep 0.02; done
    first=$(cat "$dir.pid")
    until [ "$(state "$first")" = T ] || ! kill -0 $launcher 2>/dev/null; do sleep 0.02; done
    if [ "$(state "$first")" != T ]; then
        first=0
        wait $launcher || { cat "$work/log"; echo "FAIL: not stopped"; exit 1; }
        return 1
    fi
    touch -d '1 hour ago' "$dir"/lock.*
    run next "$dir" || { echo "FAIL: taking over, stopped before operation $1"; exit 1; }
    kill -CONT "$first"
    wait $launcher || { cat "$work/log"; echo "FAIL: going on, stopped before operation $1"; exit 1; }
    first=0
    run check "$dir" || { ls -lR "$dir"; echo "FAIL: stopped before operation $1"; exit 1; }
}

stopped=0
if [ "${1:-all}" = all ]; then
    while stop_before $((stopped + 1)); do stopped=$((stopped + 1)); done
else
    for operation in "$@"; do
        stop_before "$operation" || { echo "FAIL: there is no operation $operation"; exit 1; }
        stopped=$((stopped + 1))
    done
fi
echo "stopped before $stopped operations"
[ $stopped -ge 4 ] || { echo "FAIL: too few to prove anything"; exit 1; }
