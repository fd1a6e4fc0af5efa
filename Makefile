# Sago's commands; CMake underneath.  `make help` lists them.

# What users build is for the MPI that `mpicc` is, where that is Debian's Open MPI; all else is for MPICH unless told.
ifeq ($(origin MPI),undefined)
MPI := mpich
ifneq ($(filter build demo install uninstall sim docs deb,$(or $(MAKECMDGOALS),build)),)
ifneq ($(shell d=$$(command -v mpicc) && o=$$(command -v mpicc.openmpi) && [ "$$(readlink -f "$$d")" = "$$(readlink -f "$$o")" ] && echo yes),)
MPI := openmpi
endif
endif
endif
MPICC    ?=
MPIEXEC  ?=
SANITIZE ?=
GIO      ?=
PREFIX   ?= /usr/local
PYTHON   ?= $(firstword $(wildcard /usr/bin/python3) python3)
JOBS     ?= $(shell nproc)
ifeq ($(origin CC),default)
CC := gcc
endif

# check runs under both MPIs unless one was asked for; the thread sanitizer needs only one.
# With MPICC=/path/to/mpicc there is one, whose build tree has the wrapper's name.
MPIS := $(if $(MPICC),$(subst /,-,$(patsubst /%,%,$(MPICC))),$(if $(filter-out file,$(origin MPI)),$(MPI),mpich $(if $(filter thread,$(SANITIZE)),,openmpi)))

# build/mpich, build/openmpi-asan, build/mpich-clang-tsan, ...
SANITIZER := $(if $(findstring fuzzer,$(SANITIZE)),fuzz,$(if $(findstring thread,$(SANITIZE)),tsan,$(if $(findstring address,$(SANITIZE)),asan,ubsan)))
SUFFIX    := $(if $(filter-out gcc,$(CC)),-$(notdir $(CC)))$(if $(SANITIZE),-$(SANITIZER))
TREE      := build/$(if $(MPICC),$(MPIS),$(MPI))$(SUFFIX)

# The compiler goes by the environment: with -DCMAKE_C_COMPILER, CMake drops every other setting of a tree, SAGO_MPI too,
# when the same name has come to mean another compiler.
CONFIGURE = CC="$(CC)" cmake -S . -B $(TREE) --log-level=WARNING \
            $(if $(MPICC),-DSAGO_MPICC=$(MPICC) $(if $(MPIEXEC),-DSAGO_MPIEXEC=$(MPIEXEC)),-DSAGO_MPI=$(MPI)) \
            -DSAGO_SANITIZE=$(SANITIZE) $(if $(filter-out file,$(origin GIO)),-DSAGO_GIO=$(GIO))
COMPILE   = env -u MAKEFLAGS -u MAKELEVEL cmake --build $(TREE) --parallel $(JOBS)
TIDY      = --quiet -p $(TREE) --extra-arg=-Wno-unknown-warning-option
SOURCES   = $(wildcard $(foreach d,include/sago src/* tools bench bench/* sim dropin dropin/* dropin/gio/* examples examples/* bindings/* tests/* tests/unit/* tests/dropin/*,$(d)/*.[ch]))

.PHONY: build demo check check-long check-sanitize campaign campaign-summary test-programs fuzz fuzz-programs bench-dropin check-ceph check-gluster check-hang check-gio check-python check-report sim check-sim papers neighbours install format format-check tidy clean help uninstall deb docs check-slurm
.NOTPARALLEL:

build:
	@tools/deps.sh build $(CC) $(MPICC)
	@$(CONFIGURE)
	@$(COMPILE)

demo:
	@tools/deps.sh build $(CC) $(MPICC)
	@$(CONFIGURE)
	@$(COMPILE) --target sago_command example_waveguide
	@tools/demo.sh $(TREE)

check check-long:
	@tools/deps.sh check $(CC) $(MPICC)
	@for mpi in $(MPIS); do $(MAKE) --no-print-directory test-programs MPI=$$mpi || exit; done
	@JOBS=$(JOBS) tests/run.sh $(if $(filter check-long,$@),--long) $(MPIS:%=build/%$(SUFFIX))

# Every test: under ASan and UBSan with both MPIs, under TSan with one.  The second half runs whatever the first says.
check-sanitize:
	@status=0; for sanitizer in address,undefined thread; do \
	    $(MAKE) --no-print-directory check SANITIZE=$$sanitizer || status=1; done; exit $$status

# Long campaigns that can be stopped and go on later: CAMPAIGN="oracle fuzz-site" names some, MINUTES=60 ends them.
campaign:
	@tools/deps.sh check clang
	@for mpi in mpich openmpi; do $(MAKE) --no-print-directory test-programs MPI=$$mpi || exit; done
	@$(MAKE) --no-print-directory fuzz-programs CC=clang MPI=mpich SANITIZE=fuzzer-no-link,address,undefined
	@tests/campaign.py run $(CAMPAIGN) $(if $(MINUTES),--minutes $(MINUTES))

campaign-summary:
	@tests/campaign.py summary

check-ceph check-gluster:
	@tools/deps.sh check $(CC) $(MPICC)
	@tools/deps.sh $(@:check-%=%) $(CC)
	@for mpi in $(MPIS); do $(MAKE) --no-print-directory test-programs MPI=$$mpi || exit; \
	    echo "== $@ under $$mpi"; SAGO_MPI=$$mpi SAGO_BUILD=build/$$mpi$(SUFFIX) tests/storage/check_$(@:check-%=%).sh || exit; done

# Programs in Python, which `make check` runs as far as it finds them.
check-python:
	@tools/deps.sh python
	@$(MAKE) --no-print-directory check CTEST_ARGS='-R dropin.mpi_libraries|scripts.python'

# A Slurm of its own, as root: the job script in examples/ runs until it is done, in several allocations.
check-slurm:
	@tools/deps.sh check $(CC) $(MPICC)
	@tools/deps.sh slurm
	@for mpi in $(MPIS); do $(MAKE) --no-print-directory build MPI=$$mpi || exit; echo "== $@ under $$mpi"; \
	    SAGO_MPI=$$mpi SAGO_SOURCE=$(CURDIR) SAGO_BUILD=$(CURDIR)/build/$$mpi$(SUFFIX) \
	    tests/slurm/check_slurm.sh; code=$$?; [ $$code = 0 ] || [ $$code = 77 ] || exit $$code; done

# The simulator behind `sago sim`; nothing else needs SimGrid.
sim:
	@tools/deps.sh build $(CC)
	@tools/deps.sh sim
	@$(CONFIGURE) -DSAGO_SIM=ON
	@$(COMPILE) --target sago_sim sago_command

check-sim:
	@tools/deps.sh check $(CC)
	@tools/deps.sh sim
	@$(CONFIGURE) -DSAGO_SIM=ON -DSAGO_WERROR=ON
	@$(COMPILE) --target sago_sim sago_command sago_sim_test
	@$(TREE)/tests/sim/test_replay
	@SAGO_BUILD=$(CURDIR)/$(TREE) SAGO_SOURCE=$(CURDIR) tests/sim/test_sim.sh

# docs/papers.md and its pictures: the points of the five papers, simulated (about 10 minutes).
papers: sim
	@sim/papers.py --sim $(TREE)/bin/sago-sim --out docs

# docs/planner-neighbours.md: the planner's choices beside those one decision away, simulated (some minutes).
neighbours: sim
	@sim/neighbours.py --sim $(TREE)/bin/sago-sim --out docs/planner-neighbours.md

# The page of a report in a real browser, of jobs and of a made-up record of 10,000 ranks.
check-report:
	@tools/deps.sh check $(CC)
	@tools/deps.sh report || true
	@for mpi in $(MPIS); do $(MAKE) --no-print-directory test-programs MPI=$$mpi || exit; \
	    echo "== $@ under $$mpi"; SAGO_MPI=$$mpi SAGO_MPIEXEC=mpiexec.$$mpi SAGO_BUILD=$(CURDIR)/build/$$mpi$(SUFFIX) \
	    tests/report/check_report.sh; code=$$?; [ $$code = 0 ] || [ $$code = 77 ] || exit $$code; done

check-hang:
	@tools/deps.sh check $(CC) $(MPICC)
	@for mpi in $(MPIS); do $(MAKE) --no-print-directory test-programs MPI=$$mpi || exit; \
	    echo "== $@ under $$mpi"; SAGO_MPI=$$mpi SAGO_SOURCE=$(CURDIR) SAGO_BUILD=$(CURDIR)/build/$$mpi$(SUFFIX) \
	    tests/hang/hang.sh; code=$$?; [ $$code = 0 ] || [ $$code = 77 ] || exit $$code; done

# PnetCDF with GIO in it, built outside of this tree from GIO_SOURCE=DIR and PNETCDF_SOURCE=DIR; tests/gio/check_gio.sh.
check-gio:
	@tools/deps.sh check $(CC) $(MPICC)
	@status=0; for mpi in $(MPIS); do $(MAKE) --no-print-directory test-programs MPI=$$mpi || exit; echo "== $@ under $$mpi"; \
	    SAGO_MPI=$$mpi SAGO_BUILD=$(CURDIR)/build/$$mpi$(SUFFIX) SAGO_MPICC=mpicc.$$mpi SAGO_MPIEXEC=mpiexec.$$mpi JOBS=$(JOBS) \
	    GIO_SOURCE="$(GIO_SOURCE)" PNETCDF_SOURCE="$(PNETCDF_SOURCE)" tests/gio/check_gio.sh || status=1; done; exit $$status

test-programs:
	@$(CONFIGURE) -DSAGO_WERROR=ON
	@$(COMPILE) --target all tests

fuzz:
	@tools/deps.sh check clang
	@$(MAKE) --no-print-directory fuzz-programs CC=clang MPI=$(MPI) SANITIZE=fuzzer-no-link,address,undefined
	@tests/fuzz/run.sh build/$(MPI)-clang-fuzz

fuzz-programs:
	@$(CONFIGURE) -DSAGO_WERROR=ON
	@$(COMPILE) --target fuzz

# What to measure: BENCH_ARGS="--mpi mpich --sizes 1K --ranks 2"; see tools/dropin_table.py --help.
bench-dropin:
	@for mpi in mpich openmpi; do $(MAKE) --no-print-directory build MPI=$$mpi || exit; done
	@tools/dropin_table.py --summary docs/dropin-speed.md $(BENCH_ARGS)

# CMake's manifest is of the last installation, by whomever: a test installs, too.
install: build
	@cmake --install $(TREE) --prefix $(PREFIX)
	@cp $(TREE)/install_manifest.txt $(TREE)/installed.txt

# What the last `make install` of this tree has installed.
uninstall:
	@packaging/uninstall.sh $(TREE)/installed.txt

# Debian packages in build/deb; the RPM of packaging/sago.spec is made by rpmbuild.
deb:
	@tools/deps.sh deb $(CC)
	@JOBS=$(JOBS) packaging/deb.sh $(MPI)

# The manual as pages with a search, in build/docs.
docs:
	@tools/deps.sh docs $(CC)
	@$(MAKE) --no-print-directory build MPI=$(MPI)
	@$(PYTHON) -B tools/manual.py html build/docs $(TREE)/bin/sago
	@echo build/docs/index.html

format:
	@tools/deps.sh check $(CC) $(MPICC)
	@clang-format -i $(SOURCES)

format-check:
	@tools/deps.sh check $(CC) $(MPICC)
	@clang-format --dry-run -Werror $(SOURCES)

tidy:
	@tools/deps.sh check $(CC) $(MPICC)
	@$(CONFIGURE)
	@printf '%s\n' $(wildcard src/*/*.c) | \
	    xargs -P $(JOBS) -n 1 sh -c 'said=$$(clang-tidy $(TIDY) "$$0" 2>&1) || { echo "$$said"; exit 1; }'

clean:
	@rm -rf build

help:
	@echo 'make demo          a short benchmark beside MPI-IO; a simulation killed and restarted (a minute or two)'
	@echo 'make check         build and run all tests under MPICH and Open MPI'
	@echo 'make check-ceph    stripes and plans on a CephFS of its own;  check-gluster: a GlusterFS (as root)'
	@echo 'make check-hang    checkpoints on storage that hangs at every kind of call (as root, with FUSE)'
	@echo "make check-gio     PnetCDF's own programs with GIO and with Sago: GIO_SOURCE=DIR PNETCDF_SOURCE=DIR"
	@echo 'make sim           the simulator behind sago sim, with SimGrid;  check-sim: its tests'
	@echo "make papers        the papers' results, simulated: docs/papers.md (about 10 minutes)"
	@echo "make neighbours    the planner's choices judged by the simulator: docs/planner-neighbours.md (some minutes)"
	@echo 'make check-slurm   a job that requeues itself until it is done, on a Slurm of its own (as root)'
	@echo 'make check-report  the page of a report in headless Chromium'
	@echo 'make check-long    the longer tests'
	@echo 'make install       install to PREFIX=/usr/local, one MPI per prefix; uninstall;  deb: Debian packages;  docs: HTML manual'
	@echo '                   MPICC=/path/mpicc [MPIEXEC=...] instead of MPI=mpich|openmpi: any MPI of either family'
	@echo 'make check-python  the Python package; mpi4py and h5py with the drop-in of either MPI'
	@echo 'make check-sanitize  all tests under ASan and UBSan with both MPIs, then under TSan (long)'
	@echo 'make campaign      100,000 seeds, an hour of each fuzz target, every long test; stops and goes on (a day;'
	@echo '                   CAMPAIGN="oracle fuzz-site" MINUTES=60);  campaign-summary: what was done with which commit'
	@echo 'make fuzz          fuzz the parsers for FUZZ_SECONDS=60 each; FUZZ="site ..." names some'
	@echo 'make bench-dropin  the drop-in beside the plain MPI libraries: docs/dropin-speed.md, build/dropin-speed.md (hours; BENCH_ARGS=--help)'
	@echo 'make build         build the library, the sago command and the examples (the default)'
	@echo 'make format        format the sources;  format-check: only see whether they are'
	@echo 'make tidy          clang-tidy over src/'
	@echo 'make clean         remove build/'
	@echo
	@echo 'MPI=mpich or openmpi (default: what mpicc in PATH is, else mpich); CC=gcc (default) or clang; JOBS=number of processors'
	@echo 'SANITIZE=address,undefined or thread (unit and MPI tests), in a build tree of its own'
	@echo 'GIO=PREFIX: GIO as installed there, built with the same MPI, is compared with the interface that Sago serves, and an engine of sago bench; kept until GIO= is given'
	@echo 'CTEST_ARGS="-R name": only some tests'
