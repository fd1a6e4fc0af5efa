#!/bin/sh
# deb.sh mpich|openmpi: Debian packages of this tree for one MPI, in build/deb.
#
# The folder debian/ is made here from packaging/debian: versions come from sago.h and CHANGELOG.md, the licence from LICENSE.
set -eu

family=$1
case $family in
mpich) mpi=mpich mpi_bin=mpich mpi_name=MPICH ;;
openmpi) mpi=openmpi mpi_bin=openmpi-bin mpi_name="Open MPI" ;;
*) echo "deb.sh: mpich or openmpi, not '$family'" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define SAGO_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/sago/sago.h | paste -sd.)
out=$PWD/build/deb
tree=$out/sago-$version
rm -rf "$out"
mkdir -p "$tree"
tar cf - --exclude=./build --exclude=./.git --exclude=__pycache__ . | tar xf - -C "$tree"
cp -r packaging/debian "$tree/debian"
cd "$tree/debian"
sed -i "s/@MPI@/$mpi/g; s/@MPI_BIN@/$mpi_bin/g; s/@MPI_NAME@/$mpi_name/g; s/@FAMILY@/$family/g" control rules
{
    sed "/^@LICENSE@/,\$d; s/@COPYRIGHT@/$(sed -n 's/^Copyright (c) *//p' ../LICENSE)/" copyright.in
    sed '1,/^Copyright/d; s/^$/./; s/^/ /' ../LICENSE | sed '1{/^ \.$/d}'
} >copyright
rm copyright.in
cat >changelog <<END
sago ($version) unstable; urgency=medium

  * Version $version for $mpi_name; CHANGELOG.md tells what is new.

 -- The Sago developers <sago@users.noreply.github.com>  $(LC_ALL=C date -uR -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")
END
cd ..
dpkg-buildpackage --build=binary --no-sign -j"${JOBS:-2}" >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log"; exit 1; }
rm -rf "$tree"
ls "$out"/*.deb
