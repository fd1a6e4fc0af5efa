#!/bin/sh
# Fortran programs, through mpif.h, the module mpi and the module mpi_f08: they give the same file with the MPI
# library alone and with the drop-in, which serves every collective call.
set -eu

. "$SAGO_SOURCE/tests/dropin/lib.sh"
mpif90=$(echo "$SAGO_MPICC" | sed 's/mpicc/mpif90/')
command -v "$mpif90" >/dev/null || skip "$mpif90 is not installed"
command -v gfortran >/dev/null || skip "gfortran is not installed"
cd "$tmp"
printf 'program uses_mpi\nuse mpi\nend program\n' >uses_mpi.f90
"$mpif90" -c uses_mpi.f90 -o uses_mpi.o 2>/dev/null || skip "$mpif90 has no module mpi: an MPI without Fortran"

check() { # source, collective calls of a rank
    name=$(basename "$1" | sed 's/\..*//')
    file=${name#collective_}
    echo "== $name"
    "$mpif90" -o "$name" "$SAGO_SOURCE/tests/dropin/fortran/$1" >log 2>&1 || { cat log; fail "compiling $1"; }
    plain 3 "$tmp/$name"
    mv "$run/$file" "$name.plain"
    with_sago 3 "$tmp/$name"
    cmp "$run/$file" "$name.plain" || fail "the files differ"
    stat_is files_taken 3
    served=$(($(stat_of reads) + $(stat_of writes)))
    [ "$served" -eq $((3 * $2)) ] || { cat "$run/stats.json"; fail "$served calls served, not $((3 * $2))"; }
}

check collective_mpifh.f 6
check collective_mpi.f90 5
check collective_f08.f90 6

echo "== crossed_mpi"
"$mpif90" -o crossed "$SAGO_SOURCE/tests/dropin/fortran/crossed_mpi.f90" >log 2>&1 || { cat log; fail "compiling it"; }
with_sago 3 "$tmp/crossed"
stat_is writes 6
stat_is reads 6
