#!/usr/bin/env python3
# RUN: timeout=360
"""`sago plan` says what a run does: random patterns, kinds of calls and hints, on one node.

The statistics of `sago bench` count the calls of each route.  Each of these routes must be one that `sago plan` names for
some state of the file, and what `sago plan` names for parts that were accessed before must be there.  Usage, to look
further: test_plan_run.py [SEED [RUNS]]."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SAGO = os.path.join(os.environ["SAGO_BUILD"], "bin", "sago")
OPENMPI = os.environ["SAGO_MPI"] == "openmpi"
MPIEXEC = [os.environ["SAGO_MPIEXEC"], *(["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"] if OPENMPI else [])]
PATTERNS = ("contiguous --bytes 1K", "contiguous --bytes 1M", "contiguous --bytes 6M", "interleaved --segments 8", "block3d --dims 32x32x32",
            "e3sm-f --c 1 --runs 500", "e3sm-f --c 1 --runs 10", "hacc-aos --particles 2500", "hacc-soa --particles 2500",
            "hacc-records --particles 500", "flash --blocks 2 --variables 3", "s3d --dims 16x16x16", "random --runs 200",
            "checkerboard --blocks 8", "mpi-io-test --blocks 4", "ior-hard --blocks 4")
HINTS = ("sago_placement=memory", "sago_aggregators=3", "sago_window=1M", "sago_agree=enter", "sago_agree=turn", "sago_map=off", "sago_map=on",
         "sago_move=rma", "sago_merge=on", "sago_local_aggregators=1", "sago_sieve=on", "sago_defer=on", "sago_tier=local",
         "sago_nonblocking=apart", "sago_strategy=aggregated", "sago_strategy=direct", "sago_strategy=mapped", "sago_direct_io=on",
         "sago_io=uring", "sago_series_parts=2", "sago_timing=off", "sago_memory=64M")
# Hints that come by chance too seldom for so few runs, each with a call that it must lead elsewhere.
CHOSEN = (("contiguous --bytes 1K", "collective", 2, ["sago_direct_io=on"]), ("contiguous --bytes 1K", "collective", 2, ["sago_tier=local"]),
          ("contiguous --bytes 1K", "collective", 2, ["sago_defer=on"]), ("contiguous --bytes 6M", "collective", 1, ["sago_defer=on"]),
          ("e3sm-f --c 1 --runs 500", "collective", 1, ["sago_agree=turn"]), ("contiguous --bytes 6M", "nonblocking", 1, []),
          ("interleaved --segments 8", "nonblocking", 2, ["sago_nonblocking=apart"]), ("hacc-soa --particles 2500", "declared", 2, []))


def run(folder, pattern, kind, ranks, hints):
    """The routes that were counted, and how often."""
    out = os.path.join(folder, "result.json")
    command = [*MPIEXEC, "-n", str(ranks), SAGO, "bench", *pattern, *hints, "--engines", "sago", "--repeat", "4", "--warmup", "3", "--cold", "1",
               "--calls", "nonblocking" if kind == "nonblocking" else "blocking", "--declared", "on" if kind == "declared" else "off",
               "--dir", folder, "--json", out]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{' '.join(command)}:\n{made.stderr}"
    with open(out, encoding="utf-8") as result:
        return {route: n for route, n in json.load(result)["engines"][0]["stats"]["routes"].items() if n > 0}


def planned(folder, pattern, kind, ranks, hints, *state):
    """The routes that `sago plan` names, as statistics name them, and whether some ranks go otherwise alone."""
    command = [SAGO, "plan", *pattern, "--ranks-per-node", str(ranks), "--dir", folder, "--kind", kind, *hints, "--calls", *state]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{' '.join(command)}:\n{made.stderr}"
    routes, otherwise = set(), "other ranks otherwise" in made.stdout
    for words in re.findall(r"^call [\d to]+  ([^:]*): ", made.stdout, re.MULTILINE):
        company, *method, _ = words.split(", ")
        if words.endswith((", deferred", ", to local storage first")):
            routes.add("deferred" if words.endswith("deferred") else "local")
        else:  # ranks that convene may go alone, too
            otherwise = otherwise or company == "convening"
            routes.add(f"{company.replace('convening', 'together')}_{re.sub('^one ', '', method[0]).replace('-', '_')}")
    assert routes, made.stdout
    return routes, otherwise


def check(folder, pattern, kind, ranks, hints):
    what = f"{pattern} {kind} {ranks} {hints}"
    call = (pattern.split(), kind, ranks, [word for hint in [*hints, f"sago_local_dirs={folder}/local"] for word in ("--hint", hint)])
    done = run(folder, *call)
    possible, otherwise = set(), False
    for direction in ([], ["--read"]):
        for state in (["--accessed", str(n), *sparse] for n in range(3) for sparse in ([], ["--sparse"])):
            routes, other = planned(folder, *call, *direction, *state)
            possible, otherwise = possible | routes, otherwise or other
        routes, other = planned(folder, *call, *direction, "--accessed", "2")
        assert other or routes & done.keys(), f"{what}: {routes} were planned, {done} happened"
    unplanned = {route for route in done if route not in possible and not (otherwise and route.startswith("alone_"))}
    assert not unplanned, f"{what}: {unplanned} happened, {possible} were planned"
    return set(done)


def main(seed=1, runs=16):
    source = random.Random(int(seed))
    seen = set()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.mkdir(os.path.join(folder, "local"))
        for chosen in CHOSEN:
            seen |= check(folder, *chosen)
        for _ in range(int(runs)):
            seen |= check(folder, source.choice(PATTERNS), source.choice(("collective", "collective", "nonblocking", "declared")),
                          source.choice((1, 2, 2, 3, 4)), source.sample(HINTS, source.choice((0, 1, 1, 2, 3))))
    assert len(seen) >= 6, seen
    print(f"runs took the routes that were planned: {', '.join(sorted(seen))}")


main(*sys.argv[1:])
