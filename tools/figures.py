#!/usr/bin/env python3
"""Runs `sago bench` against three peers and prints the ratios as a table (the README's figures).

usage: tools/figures.py [--ranks 2,4,8] [--repeat 20] [--patterns NAME,...] [--json FILE]

Peers: R = MPICH's ROMIO, O = Open MPI's OMPIO, Y = Open MPI's ROMIO, yielding while it waits.
Both build trees must be there (make build MPI=mpich, make build MPI=openmpi).  Files go to /dev/shm.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

OPENMPI = ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none"]
PEERS = {
    "R": ("mpich", ["mpiexec.mpich"]),
    "O": ("openmpi", OPENMPI),
    "Y": ("openmpi", OPENMPI + ["--mca", "io", "romio321", "--mca", "mpi_yield_when_idle", "1"]),
}


def run(tree, launcher, ranks, pattern, repeat):
    """One benchmark run; its JSON, or None with the reason on stderr."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = launcher + ["-n", str(ranks), f"build/{tree}/bin/sago", "bench", *pattern.split(),
                              "--dir", "/dev/shm", "--repeat", str(repeat), "--json", out.name]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{' '.join(command)}: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return None
        return json.load(open(out.name))


def cell(result, way, against):
    """A ratio with its interval."""
    if result is None:
        return "failed"
    low, high = result["ratios_low"][way][against], result["ratios_high"][way][against]
    return f"{result['ratios'][way][against]:.2g} [{low:.2g}, {high:.2g}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--patterns", default="e3sm-f,block3d,hacc-aos,hacc-records,contiguous")
    parser.add_argument("--peers", default="R,O,Y")
    parser.add_argument("--json", help="keep all results in this file")
    options = parser.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    results = []
    print("| pattern | ranks | peer | write | read | write, of the limit | read, of the limit |")
    print("|---|---|---|---|---|---|---|")
    for pattern in options.patterns.split(","):
        for ranks in map(int, options.ranks.split(",")):
            for peer in options.peers.split(","):
                result = run(*PEERS[peer], ranks, pattern, options.repeat)
                results.append({"peer": peer, "pattern": pattern, "ranks": ranks, "result": result})
                row = [cell(result, way, against) for against in ("mpiio", "limit") for way in ("write", "read")]
                print(f"| {pattern} | {ranks} | {peer} | " + " | ".join(row) + " |", flush=True)
    if options.json:
        with open(options.json, "w") as out:
            json.dump(results, out, indent=1)


main()
