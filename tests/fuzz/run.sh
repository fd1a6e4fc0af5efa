#!/bin/sh
# run.sh TREE
#
# Runs every fuzz target of a build tree for FUZZ_SECONDS (60) each, or only those named in FUZZ ("site layout").  The
# corpus in tests/fuzz/corpus/NAME is only read; what is found to be new, and inputs that fail, stay in the tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$1
failed=
for source in "$here"/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    case " ${FUZZ:-$name} " in *" $name "*) ;; *) continue ;; esac
    work=$tree/fuzz/$name
    mkdir -p "$work/new"
    echo "fuzz $name: ${FUZZ_SECONDS:-60} seconds"
    if "$tree/tests/fuzz/fuzz_$name" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 \
        -max_len=4096 -artifact_prefix="$work/" "$work/new" "$here/corpus/$name" >"$work/log" 2>&1; then
        grep -E 'Done|stat::number_of_executed' "$work/log" | tail -1
    else
        tail -30 "$work/log"
        failed="$failed $name"
    fi
done
if [ -n "$failed" ]; then
    echo "failed:$failed (inputs in $tree/fuzz)"
    exit 1
fi
