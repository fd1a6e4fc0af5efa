#!/bin/sh
# `sago bench ckpt` runs, verifies what it restores, and leaves nothing behind.
set -eu

root=${TMPDIR:-/tmp}
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    root=/dev/shm
fi
tmp=$(mktemp -d "$root/sago-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
fail() {
    echo "FAIL: $*"
    exit 1
}

mkdir "$tmp/dir"
"$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$SAGO_BUILD/bin/sago" bench ckpt --dir "$tmp/dir" --size 128K --repeat 2 \
    --saves 2 --rate 64M --json "$tmp/json" || fail "it does not run"
[ -z "$(ls "$tmp/dir")" ] || fail "left behind: $(ls "$tmp/dir")"
python3 - "$tmp/json" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as text:
    data = json.load(text)
assert data["verified"] and data["ranks"] == 2 and data["bytes"] == 2 * 128 * 1024, data
for mode in ("threaded", "rbio", "coio"):
    assert 0 < data[mode]["raw"] < 64e6 * 1.1, data  # the store is not faster than it may be
    assert data[mode]["perceived"] > 0 and data[mode]["total_s"] > 0, data
END
code=0
"$SAGO_BUILD/bin/sago" bench ckpt --frob 1 >"$tmp/out" 2>&1 || code=$?
[ "$code" -eq 2 ] || fail "a wrong option: exit code $code"
