#!/bin/sh
# run_pnetcdf.sh BUILD SOURCE [PATTERN]
#
# Runs the programs of PnetCDF's own tests in a build tree of it, with plain GIO and with Sago, and prints a line for
# each: whether it passed, both times.  PATTERN (grep -E): only some of them.  Fails if one that passes with plain GIO
# does not with Sago, if none passes with plain GIO, or if no file came to Sago.  The environment is that of tests/CMakeLists.txt; how many ranks:
# RANKS, 4.
set -u

build=$1 source=$2 pattern=${3:-.}
ranks=${RANKS:-4}
sago=$SAGO_BUILD/bin/sago
work=$(mktemp -d "${TMPDIR:-/tmp}/sago-pnetcdf.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
yield=$SAGO_BUILD/lib/libsago_mpich_yield.so # more ranks than cores: see mpich_yield.c
case $SAGO_MPI in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    options="--oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0"
    ;;
*)
    options=
    [ -f "$yield" ] && export LD_PRELOAD="$yield"
    ;;
esac
unset PNETCDF_HINTS

# What a program is given, and how many ranks: some look at files that come with the sources.
arguments() { # folder, program
    case $1/$2 in
    cdf_format/test_inq_format) echo "-q -i $source/test/cdf_format" ;;
    cdf_format/tst_corrupt) echo "$source/test/cdf_format" ;;
    cdf_format/tst_open_cdf5) echo "$source/test/cdf_format/bad_begin.nc5" ;;
    cdl/tst_cdl_hdr_parser) echo "-q -o $work/out/$2.nc -i $source/test/cdl/cdl_header.txt" ;;
    nc_test/nc_test) echo "-d $work/out" ;;
    nc_test/*) echo "$work/out/$2.nc" ;;
    *) echo "-q -o $work/out/$2.nc" ;;
    esac
}
ranks_for() {
    case $1 in
    nc_test) echo 1 ;;
    *) echo "$ranks" ;;
    esac
}
launch() { # log, folder, program, what comes before the launcher
    log=$1 folder=$2 program=$3
    shift 3
    rm -rf "$work/out"
    mkdir "$work/out"
    # shellcheck disable=SC2046,SC2086
    (cd "$build/test/$folder" && timeout --kill-after=5 "${SECONDS_EACH:-60}" "$@" "$SAGO_MPIEXEC" $options \
        -n "$(ranks_for "$folder")" "./$program" $(arguments "$folder" "$program") </dev/null) >"$log" 2>&1
}
word() {
    case $1 in
    0) echo passed ;;
    124 | 137) echo "ran out of time" ;;
    *) echo "FAILED ($1)" ;;
    esac
}

total=0 plain_passed=0 passed=0 worse=0 taken=0
for folder in C cdf_format header testcases nonblocking cdl nc_test; do
    for program in $(find "$build/test/$folder" -maxdepth 1 -type f -executable -printf '%f\n' | sort); do
        echo "$folder/$program" | grep -Eq "$pattern" || continue
        total=$((total + 1))
        launch "$work/plain" "$folder" "$program" env
        plain=$?
        launch "$work/sago" "$folder" "$program" "$sago" run --stats "json:$work/stats.json" --
        code=$?
        files=$(sed -n '1s/.*"files_taken": \([0-9]*\).*/\1/p' "$work/stats.json" 2>/dev/null)
        rm -f "$work/stats.json"
        echo "$folder/$program: GIO $(word $plain), Sago $(word $code), ${files:-0} files"
        taken=$((taken + ${files:-0}))
        [ $plain -eq 0 ] && plain_passed=$((plain_passed + 1))
        [ $code -eq 0 ] && passed=$((passed + 1))
        if [ $code -ne 0 ] && [ $plain -eq 0 ]; then
            worse=$((worse + 1))
            tail -n 20 "$work/sago" | sed 's/^/    /'
        fi
    done
done
echo "$SAGO_MPI: of $total programs $plain_passed pass with plain GIO, $passed with Sago, which took $taken files"
[ $total -gt 0 ] || echo "no program in $build matches '$pattern'"
[ $worse -eq 0 ] && [ $plain_passed -gt 0 ] && [ $taken -gt 0 ]
