#!/bin/sh
# Every header can be included alone; the public ones also in C++.
set -eu

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
includes="-I$SAGO_SOURCE/include -I$SAGO_SOURCE/src -I$SAGO_BUILD/include"
failed=0
compile() { # language, standard, header
    echo "#include <$3>" >"$tmp/one.c"
    # shellcheck disable=SC2086
    "$SAGO_MPICC" -x "$1" -std="$2" -D_GNU_SOURCE -Wall -Werror $includes -fsyntax-only "$tmp/one.c" || failed=1
}

cd "$SAGO_SOURCE/include"
for header in sago/*.h; do
    compile c c11 "$header"
    compile c++ c++11 "$header"
done
cd "$SAGO_SOURCE/src"
for header in */*.h; do
    compile c gnu11 "$header"
done
exit $failed
