#!/bin/sh
# The table of the drop-in beside the plain MPI library: measured, continued and made again, at a tiny size.
set -u
table=$SAGO_SOURCE/tools/dropin_table.py
if [ "$(realpath "$SAGO_BUILD")" != "$(realpath "$SAGO_SOURCE/build/$SAGO_MPI")" ]; then
    echo "SKIP: not the build tree that the table is made with"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/sago-table.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAIL: $*"
    cat "$work/log"
    exit 1
}
make_table() { # expected number of measured cells, options...; exit status 1: something was slow, which is no failure here
    cells=$1
    shift
    "$table" --pairs 2 --seconds 2 --dir "$work" --state "$work/state" --output "$work/table.md" "$@" >"$work/log" 2>&1
    [ $? -le 1 ] || fail "$*: exit status"
    measured=$(grep -c '^\[[0-9]' "$work/log")
    [ "$measured" -eq "$cells" ] || fail "$*: $measured cells measured, not $cells"
}

[ "$SAGO_MPI" = mpich ] && mpi=mpich || mpi=ompio
make_table 1 --mpi $mpi --patterns contiguous --sizes 1K --ranks 2
make_table 2 --mpi $mpi --patterns contiguous,btio,random --sizes 1K --ranks 2 --pairs 1 # others than before; btio needs a square
make_table 0 --table --summary "$work/summary.md"
[ "$(grep -c "^| \(btio\|contiguous\|random\) |" "$work/summary.md")" -eq 2 ] || fail "the summary"
python3 - "$work/state" "$work/table.md" <<'END' || fail "cells or table"
import json, sys
cells = [json.loads(line) for line in open(sys.argv[1])]
table = open(sys.argv[2]).read()
assert len(cells) == 3 and not any("error" in cell for cell in cells), cells
assert all(cell["write"]["ratio"] > 0 and cell["first_read"]["pairs"] >= 1 for cell in cells), cells
assert cells[0]["bytes"] == 1024 and cells[0]["served"] > 0, cells[0]
assert "8 ratios of 2 cells" in table and "### random" in table, table
END
"$table" --patterns nonsense >"$work/log" 2>&1
[ $? -eq 2 ] || fail "a pattern that there is not"
echo "all passed"
