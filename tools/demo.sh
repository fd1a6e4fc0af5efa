#!/bin/sh
# demo.sh BUILD_FOLDER: a short side-by-side benchmark in memory (/dev/shm), and its table.
set -eu
tree=$1
out=$tree/demo
mkdir -p "$out"
ranks=4
case $(basename "$tree") in
openmpi*)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    launch="mpiexec.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
    ;;
*) launch="mpiexec.mpich" ;;
esac

set -- e3sm-f block3d hacc-aos contiguous
number=0
reports=
for pattern in "$@"; do
    number=$((number + 1))
    echo "[$number/$#] sago bench $pattern, $ranks ranks"
    $launch -n $ranks "$tree/bin/sago" bench "$pattern" --dir /dev/shm --repeat 5 --engines sago,mpiio,limit \
        --json "$out/$pattern.json" >"$out/$pattern.txt" || { cat "$out/$pattern.txt"; exit 1; }
    reports="$reports $out/$pattern.json"
done
echo
# shellcheck disable=SC2086
exec python3 "$(dirname "$0")/demo_table.py" $reports
