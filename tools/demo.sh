#!/bin/sh
# demo.sh BUILD_FOLDER: a short side-by-side benchmark in memory (/dev/shm) and its table; then a simulation that is
# killed, goes on from its checkpoint, and ends with a picture.
set -eu
tree=$1
tools=$(dirname "$0")
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
python3 "$tools/demo_table.py" $reports

echo
echo "A wave travels along a waveguide, on 2 ranks; a checkpoint every 50 steps; a rank is killed after step 130."
saved=$(mktemp -d /dev/shm/sago-demo.XXXXXX)
trap 'rm -rf "$saved"' EXIT
trap 'exit 1' HUP INT TERM
waveguide() {
    $launch -n 2 "$tree/bin/examples/waveguide" --cells 24 --length 6 --waves 3 --steps 250 --every 50 \
        --dir "$saved/ckpt" "$@"
}
if waveguide --die-at 130 >"$out/killed.txt" 2>&1; then
    echo "it should have been killed"
    exit 1
fi
grep -E '^(waveguide|checkpoint)' "$out/killed.txt" # without what the launcher says of it
echo
echo "Killed.  What is there:"
"$tree/bin/sago" ckpt ls "$saved/ckpt"
echo
echo "Started again:"
waveguide --verify 1
echo
"$tree/bin/sago" ckpt verify "$saved/ckpt"
"$tree/bin/sago" ckpt export "$saved/ckpt" --array Ey --output "$out/waveguide" --force
python3 "$tools/picture.py" "$out/waveguide.vtk" Ey "$out/waveguide.png"
