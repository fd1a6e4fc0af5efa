#!/bin/sh
# What earlier versions left is still read: tests/compat/VERSION has a directory of checkpoints (arrays, shared and local
# data, two steps), a file in subfiles, what a killed job left in local storage, and a site file, written by that version.
set -eu

sago=$SAGO_BUILD/bin/sago
root=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || root=/dev/shm
tmp=$(mktemp -d "$root/sago-compat.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAIL: $*"
    cat "$tmp/out"
    exit 1
}
mpi() { # ranks, command...
    n=$1
    shift
    "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 "$n" "$@" >"$tmp/out" 2>&1
}
numbers() { # file, first, count: are its doubles first, first + 1, ...?
    python3 - "$@" <<'END' || fail "$1 has other numbers"
import struct, sys
path, first, count = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
data = open(path, "rb").read()
assert len(data) == 8 * count, len(data)
assert list(struct.unpack(f"<{count}d", data)) == [first + i for i in range(count)]
END
}

versions=0
for sample in "$SAGO_SOURCE"/tests/compat/*/; do
    versions=$((versions + 1))
    version=$(basename "$sample")
    cp -a "$sample" "$tmp/$version"
    cd "$tmp/$version"

    echo "== $version: checkpoints"
    mpi 2 "$sago" ckpt verify "$PWD/ckpt" || fail "verify"
    [ "$(grep -c ': good$' "$tmp/out")" -eq 2 ] || fail "two good steps"
    "$sago" ckpt export ckpt 7 --array field --format raw --output seven >"$tmp/out" 2>&1 || fail "export"
    numbers seven.field.raw 0 60
    python3 "$SAGO_SOURCE/bindings/python/sago/reader.py" ckpt 8 field eight || fail "the reader in Python"
    numbers eight 100 60
    mpi 1 "$sago" ckpt rm "$PWD/ckpt" 7 || fail "rm" # that is, the directory can be taken over and changed
    "$sago" ckpt ls ckpt >"$tmp/out" 2>&1 && ! grep -q '^ *7 ' "$tmp/out" || fail "ls"

    echo "== $version: subfiles"
    "$sago" subfile merge subfiled merged >"$tmp/out" 2>&1 || fail "subfile merge"
    numbers merged 0 6000

    echo "== $version: left in local storage"
    "$sago" tier ls local >"$tmp/out" 2>&1 || fail "tier ls"
    grep -q '480 bytes' "$tmp/out" || fail "tier ls says"
    mpi 2 "$sago" tier merge "$PWD/global/data" --local "$PWD/local" --force || fail "tier merge"
    numbers global/data 0 60

    echo "== $version: site file"
    SAGO_SITE=$PWD/site "$sago" topo >"$tmp/out" 2>&1 || fail "the site file"
    grep -q 'theta, named by the site file' "$tmp/out" && grep -q '^tuned .*2 aggregators .* 32 MiB .* 16 MiB ' "$tmp/out" && grep -q '^  *groups of 1 GiB' "$tmp/out" ||
        fail "the site file was not used"
done
[ "$versions" -ge 1 ] || fail "no samples"
