#!/bin/sh
# run.sh [--long] BUILD_FOLDER...
#
# Runs the tests of the build trees with ctest, then prints what failed, what was skipped and why, and the sum.
# More options for ctest (-R NAME, for one) come in CTEST_ARGS.
set -u
here=$(dirname "$0")

choice=
if [ "$1" = --long ]; then
    choice="-C long -L long"
    shift
fi

# CMake 3.20 has no reports: there ctest's own words have to do.
report="--output-junit tests.xml --test-output-size-passed 100000"
ctest --help | grep -q -e --output-junit || report=

reports= status=0
for tree in "$@"; do
    echo "== tests in $tree"
    rm -f "$tree/tests.xml"
    # shellcheck disable=SC2086
    ctest --test-dir "$tree" --output-on-failure --no-tests=ignore $report -j "${JOBS:-2}" $choice ${CTEST_ARGS:-} || status=1
    reports="$reports $tree/tests.xml"
done
[ -n "$report" ] || exit $status
# shellcheck disable=SC2086
exec python3 "$here/summary.py" $reports
