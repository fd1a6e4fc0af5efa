#!/bin/bash
# RUN: 20 timeout=240
# RUN-LONG: 200
# A program that checkpoints is killed at random times, rank by rank, and started again: what it was told is complete is
# always there, bit for bit.
#     test_ckpt_kill.sh LIVES
set -euo pipefail

lives=${1:-20}
root=/tmp
[ -w /dev/shm ] && root=/dev/shm
work=$(mktemp -d "$root/sago-test.XXXXXX")
exec 9<"$work"
flock -n 9
trap 'rm -rf "$work"' EXIT
mkdir "$work/local"

settings=("sago_ckpt_keep_global=3"
    "sago_local_dirs=$work/local sago_ckpt_keep_local=2 sago_ckpt_keep_global=2 sago_ckpt_files=2"
    "sago_ckpt_mode=rbio sago_ckpt_keep_global=2")
killed=0
for ((life = 1; life <= lives; life++)); do
    which=$((life % 3))
    status=0
    "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$SAGO_BUILD/tests/mpi/test_ckpt_kill" "$work/ckpt-$which" $life \
        "${settings[$which]}" >"$work/log" 2>&1 || status=$?
    # An MPI library may complain of a rank that was killed while the others began to talk to it.
    # (Not grep -q behind a pipe: that ends at the first line it finds, and with pipefail the pipe has then failed.)
    complaints=$(grep -v "UCX *ERROR" "$work/log" | grep -c "failed: " || true)
    if [ "$complaints" != 0 ] || [ $status = 124 ]; then
        cat "$work/log"
        echo "FAIL: life $life"
        exit 1
    fi
    [ $status = 0 ] || killed=$((killed + 1))
done
for which in 0 1 2; do
    "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$SAGO_BUILD/tests/mpi/test_ckpt_kill" "$work/ckpt-$which" 0 \
        "${settings[$which]}"
done
aside=$(find "$work" -type d -name 'damaged-*' | wc -l)
echo "$killed of $lives lives ended by kill -9; $aside saves are set aside, since nobody can tell that they never were complete"
[ $killed -ge $((lives / 5)) ] || { echo "FAIL: too few were killed to prove anything"; exit 1; }
