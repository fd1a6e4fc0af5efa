#!/bin/sh
# Builds and runs check_cuda.c: on a machine with an NVIDIA GPU, with any C compiler.  Exits as it does.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$root"
${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude -Isrc -o "$out/check_cuda" tests/device/check_cuda.c \
    src/base/device.c src/base/status.c src/base/budget.c src/extent/copy.c src/extent/staging.c \
    src/extent/cursor.c src/extent/pattern.c src/extent/repeat.c -lpthread -ldl
"$out/check_cuda"
