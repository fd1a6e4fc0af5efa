# A Spack recipe: put into a repository of your own as packages/sago/package.py (`spack repo create DIR`, `spack repo add DIR`).
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage  # since Spack 1.0
except ImportError:
    pass


class Sago(CMakePackage):
    """Collective I/O and checkpoints on MPI: a library for C, Fortran and Python, and a drop-in for MPI-IO."""

    homepage = "https://example.org/sago"
    git = "https://example.org/sago.git"  # or a clone: spack develop --path /path/to/sago sago@main

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("fortran", default=True, description="Build the Fortran modules")
    variant("python", default=False, description="Dependencies of the Python package")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("liburing@2:")
    depends_on("xxhash@0.8:")
    depends_on("isa-l")
    depends_on("python@3.8:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type="run", when="+python")
    depends_on("py-mpi4py", type="run", when="+python")
    depends_on("py-xxhash", type="run", when="+python")

    conflicts("platform=darwin", msg="Sago uses futexes, io_uring and /proc of Linux")
    conflicts("platform=windows", msg="Sago uses futexes, io_uring and /proc of Linux")

    def cmake_args(self):
        return [
            self.define("SAGO_MPICC", self.spec["mpi"].mpicc),
            self.define_from_variant("SAGO_FORTRAN", "fortran"),
        ]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", self.prefix.share.sago.python)
