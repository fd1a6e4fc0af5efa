#!/bin/sh
# deps.sh build|check|ceph|gluster|python|sim|slurm|deb|docs|report [COMPILER [MPICC]]
#
# Sees to the Debian packages that building, or building and testing, needs: installs what is missing when it
# may, else stops with the command to run.  Does nothing when nothing is missing.  Needs only sh and dpkg.
set -eu

packages="gcc libc6-dev cmake pkg-config python3 libhwloc-dev liburing-dev libxxhash-dev libisal-dev libcmocka-dev"
mpis="mpich libmpich-dev openmpi-bin libopenmpi-dev"
libraries="libhdf5-mpich-dev libhdf5-openmpi-dev hdf5-tools libpnetcdf-dev pnetcdf-bin libnetcdf-mpi-dev"
if [ -n "${3:-}" ]; then # an MPI of the user's own
    mpis= libraries=
fi
packages="$packages $mpis"
if [ "$1" = check ]; then
    packages="$packages clang-format clang-tidy gfortran python3-vtk9 iproute2 procps strace tcl libfuse3-dev fuse3 $libraries"
fi
case $1 in
ceph) packages="ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse ceph-common attr" ;;
gluster) packages="glusterfs-server glusterfs-client" ;;
report) packages="chromium" ;;
python) packages="python3-mpi4py python3-h5py-mpi python3-numpy python3-pip python3-xarray
    python3-dask python3-xxhash python3-netcdf4" ;;
slurm) packages="slurmctld slurmd slurm-client munge" ;;
sim) packages="libsimgrid-dev libcmocka-dev" ;;
deb) packages="$packages build-essential gfortran dpkg-dev debhelper lintian" ;;
docs) packages="$packages python3-markdown mandoc" ;;
esac
case ${2:-gcc} in
*clang*) packages="$packages clang" ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "This is not a Debian system.  Sago needs what these packages of Debian hold:" $packages >&2
    exit 0
fi

missing=
for package in $packages; do
    if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
        missing="$missing $package"
    fi
done
if [ -z "$missing" ]; then
    exit 0
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
        echo "Some packages are missing.  Install them, then run make again:" >&2
        echo "    sudo apt-get update && sudo apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
    sudo="sudo -n"
fi
echo "Installing$missing"
$sudo apt-get update -q
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
