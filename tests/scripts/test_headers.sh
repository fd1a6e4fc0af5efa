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
# Every struct that has a macro to begin with, with all the warnings that people ask for.
{
    for header in sago/*.h; do
        echo "#include <$header>"
    done
    echo 'int main(void) {'
    sed -n 's/^#define \(SAGO_[A-Z_]*_INIT\)[ ].*/\1/p' sago/*.h | sort -u | while read -r macro; do
        name=$(echo "${macro%_INIT}" | tr '[:upper:]' '[:lower:]')
        echo "    $name a_$name = $macro; (void)a_$name;"
    done
    echo '    return 0;'
    echo '}'
} >"$tmp/all.c"
grep -q 'sago_var a_sago_var = SAGO_VAR_INIT' "$tmp/all.c" || failed=1
# Of the MPI libraries' own headers nothing is asked.
wrapped=$("$SAGO_MPICC" -show | tr ' ' '\n' | sed -n 's/^-I/-isystem /p' | tr '\n' ' ')
for standard in c11 c++11 c++14 c++17 c++20; do
    language=${standard%%[0-9]*}
    # shellcheck disable=SC2086
    "$SAGO_MPICC" -x "$language" -std="$standard" -Wall -Wextra -pedantic -Werror -DOMPI_SKIP_MPICXX \
        -DMPICH_SKIP_MPICXX $wrapped $includes -fsyntax-only "$tmp/all.c" || failed=1
done
cd "$SAGO_SOURCE/src"
for header in */*.h; do
    compile c gnu11 "$header"
done
exit $failed
