#!/bin/sh
# Installs to a folder of its own, builds programs outside the tree against that by CMake and by pkg-config, and
# tries to mix two MPIs: when compiling, when running, when installing.
set -eu

if [ -n "${SAGO_SANITIZE:-}" ]; then
    echo "SKIP: programs outside the tree are built without the sanitizer"
    exit 77
fi
case $SAGO_MPI in
mpich) name="MPICH" other=openmpi other_name="Open MPI" ;;
*) name="Open MPI" other=mpich other_name="MPICH" ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
prefix=$tmp/prefix

fail() {
    echo "FAIL: $*"
    exit 1
}
says() { # [-i] pattern, file
    insensitive=
    [ "$1" != -i ] || { insensitive=-i; shift; }
    grep -q $insensitive "$1" "$2" || { cat "$2"; fail "expected: $1"; }
}
run() { # mpi, program
    SAGO_MPI=$1 SAGO_MPIEXEC=mpiexec.$1 "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$2"
}

echo "== install"
cmake --install "$SAGO_BUILD" --prefix "$prefix" >"$tmp/log" || { cat "$tmp/log"; fail "make install"; }
for file in include/sago/sago.h include/sago/config.h include/sago/status.h lib/libsago.so bin/sago \
    lib/pkgconfig/sago.pc lib/cmake/sago/sagoConfig.cmake; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done
"$prefix/bin/sago" hints >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "the installed sago command"; }
says sago_memory "$tmp/log"

echo "== found by PATH, from another folder, through a link"
mkdir "$tmp/links"
ln -s "$prefix/bin/sago" "$tmp/links/sago"
for folder in "$prefix/bin" "$tmp/links"; do
    (cd / && PATH=$folder:$PATH sago topo theta) >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "sago topo theta by PATH"; }
    says -i theta "$tmp/log"
done

echo "== documents, man pages, examples, module file"
for file in share/man/man1/sago-info.1 share/man/man3/sago_write_at_all.3 share/man/man3/sago_ckpt_save.3 share/man/man3/sago_site_topology.3 share/doc/sago/LICENSE \
    share/doc/sago/README.md share/doc/sago/examples/declared.c share/sago/fortran/sago.f90 share/sago/modulefile; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
for page in README.md docs/tutorial.md docs/install.md docs/jobs.md docs/faq.md docs/migration.md; do
    for link in $(grep -oE '\]\([A-Za-z./_-]+' "$prefix/share/doc/sago/$page" | cut -c 3- | grep -v '^https*$'); do
        [ -e "$(dirname "$prefix/share/doc/sago/$page")/$link" ] || fail "$page: there is no $link"
    done
done
[ -x "$prefix/share/doc/sago/examples/slurm_requeue.sh" ] || fail "the job script cannot be run"
pages=$(ls "$prefix/share/man/man3" | wc -l)
calls=$(grep -c '^    sago_' "$SAGO_SOURCE/src/sago.map")
[ "$pages" -eq $((calls + 1)) ] || fail "$pages man pages for $calls calls, and the one that a site defines"
"$prefix/bin/sago" info >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "sago info"; }
says "machines  *$prefix/share/sago/machines\$" "$tmp/log"

echo "== the module file, through a link"
mkdir "$tmp/modules"
ln -s "$prefix/share/sago/modulefile" "$tmp/modules/0.2.0"
cat >"$tmp/load.tcl" <<END
foreach command {module-whatis conflict prepend-path} { proc \$command args {} }
proc append-path {name value} { puts "\$name: '\$value'" }
proc setenv {name value} { puts \$value }
set ModulesCurrentModulefile $tmp/modules/0.2.0
source \$ModulesCurrentModulefile
END
if command -v tclsh >/dev/null; then
    tclsh "$tmp/load.tcl" >"$tmp/loaded" || fail "the module file cannot be loaded"
    grep -qx "$prefix" "$tmp/loaded" || fail "the module file takes another folder for its prefix"
    grep -qx "MANPATH: ''" "$tmp/loaded" || fail "with the module file man finds no other pages"
fi

echo "== the Python package, in its place"
[ -e "$prefix/share/sago/python/sago/reader.py" ] || fail "no Python package"
"$prefix/share/sago/python/sago/reader.py" "$tmp" || fail "the reader of checkpoints does not run"

echo "== a project that uses find_package(sago)"
cp -r "$SAGO_SOURCE/examples" "$tmp/project"
cmake -S "$tmp/project" -B "$tmp/project/build" -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/project/build" >>"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "the project does not build"; }
for program in write_view declared extents; do
    run "$SAGO_MPI" "$tmp/project/build/$program"
done

echo "== a program built by pkg-config and mpicc"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046
$(pkg-config --variable=mpicc sago) "$SAGO_SOURCE/examples/extents.c" -o "$tmp/extents" \
    $(pkg-config --cflags --libs sago) -Wl,-rpath,"$prefix/lib"
run "$SAGO_MPI" "$tmp/extents"

if [ -e "$SAGO_BUILD/lib/libsago-fortran.so" ]; then
    echo "== a Fortran program, by find_package and by pkg-config"
    run "$SAGO_MPI" "$tmp/project/build/fortran_view"
    # shellcheck disable=SC2046
    $(pkg-config --variable=mpifort sago-fortran) "$SAGO_SOURCE/examples/fortran_view.f90" -o "$tmp/fortran_view" \
        $(pkg-config --cflags --libs sago-fortran) -Wl,-rpath,"$prefix/lib"
    run "$SAGO_MPI" "$tmp/fortran_view"
fi

echo "== compiling with the other MPI is an error"
if mpicc.$other -I"$prefix/include" -c "$SAGO_SOURCE/examples/extents.c" -o "$tmp/other.o" 2>"$tmp/log"; then
    fail "it compiled"
fi
says "error: .*built with $name" "$tmp/log"

echo "== a program that runs on the other MPI is told so"
cat >"$tmp/wrong.c" <<'END'
#include <mpi.h>
#include <sago/sago.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    sago_file *file = NULL;
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    sago_status status = sago_open(MPI_COMM_WORLD, "wrong.dat", mode, MPI_INFO_NULL, &file);
    printf("%s: %s\n", sago_status_string(status), sago_error_message());
    MPI_Finalize();
    return status == SAGO_ERR_WRONG_MPI && file == NULL ? 0 : 1;
}
END
mpicc.$other -DSAGO_CONFIG_H -I"$prefix/include" "$tmp/wrong.c" -o "$tmp/wrong" \
    -L"$prefix/lib" -lsago -Wl,-rpath,"$prefix/lib"
run $other "$tmp/wrong" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "no clear error"; }
cat "$tmp/log"
says "$name" "$tmp/log"
says "$other_name" "$tmp/log"

echo "== a prefix holds Sago for one MPI"
cmake --install "$SAGO_BUILD" --prefix "$prefix" >"$tmp/log" 2>&1 || fail "installing again must work"
sed -i "s/\"$name\"/\"$other_name\"/" "$prefix/include/sago/config.h"
if cmake --install "$SAGO_BUILD" --prefix "$prefix" >"$tmp/log" 2>&1; then
    fail "installed over Sago for $other_name"
fi
says "holds Sago for $other_name" "$tmp/log"

echo "== removed again"
cp "$SAGO_BUILD/install_manifest.txt" "$tmp/manifest" # of the installation that was refused before it began, so of the last one
"$SAGO_SOURCE/packaging/uninstall.sh" "$tmp/manifest" >"$tmp/log" || { cat "$tmp/log"; fail "make uninstall"; }
cp "$SAGO_BUILD/install_manifest.txt" "$tmp/manifest"
if "$SAGO_SOURCE/packaging/uninstall.sh" "$tmp/manifest" >"$tmp/log" 2>&1; then fail "make uninstall, twice"; fi
says "none of the files is there" "$tmp/log"
[ ! -e "$prefix" ] || fail "left behind: $(find "$prefix")"
