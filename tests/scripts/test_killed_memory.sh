#!/bin/bash
# RUN: 8
# RUN-LONG: 200
# A job that is killed leaves no shared memory behind: it has no name, and goes with the last process that has it.
#     test_killed_memory.sh JOBS
set -euo pipefail

jobs=${1:-8}
names() { find /dev/shm -maxdepth 1 -name 'sago-*' -type f 2>/dev/null | sort; }
log=$(mktemp)
before=$(mktemp)
trap 'rm -f "$log" "$before"' EXIT

names >"$before"
killed=0
for ((job = 1; job <= jobs; job++)); do
    status=0
    "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$SAGO_BUILD/tests/mpi/test_leftovers" "$job" >"$log" 2>&1 || status=$?
    if [ $status = 124 ]; then
        cat "$log"
        echo "FAIL: job $job"
        exit 1
    fi
    [ $status = 0 ] || killed=$((killed + 1))
done
left=$(names | comm -13 "$before" -)
[ -z "$left" ] || { echo "FAIL: left behind:"; echo "$left"; exit 1; }
echo "$killed of $jobs jobs were killed, and left nothing"
[ $killed -ge $((jobs / 2)) ] || { echo "FAIL: too few were killed to prove anything"; exit 1; }
