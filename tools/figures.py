#!/usr/bin/env python3
"""Runs `sago bench` against three peers and prints the ratios as a table (the README's figures).

usage: tools/figures.py [--ranks 2,4,8] [--repeat 20] [--seconds N] [--patterns NAME,...] [--dropin | --gio] [--json FILE]
       tools/figures.py --cluster [--shapes 4x2,...] [--links off,1gbit,...] [--stores free,linked:4] [--limit SECONDS]

With --gio the peer is GIO under that MPI (both trees made with GIO=PREFIX). With --dropin the same programs' MPI-IO calls go through the drop-in, and are compared with calls past it.

Peers: R = MPICH's ROMIO, O = Open MPI's OMPIO, Y = Open MPI's ROMIO, yielding while it waits.
Both build trees must be there (make build MPI=mpich, make build MPI=openmpi).  Files go to /dev/shm.
--cluster measures on several nodes made of namespaces, as root: see tools/figures_cluster.py.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import figures_cluster  # noqa: E402

OPENMPI = ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none"]
PEERS = {
    "R": ("mpich", ["mpiexec.mpich"]),
    "O": ("openmpi", OPENMPI),
    "Y": ("openmpi", OPENMPI + ["--mca", "io", "romio321", "--mca", "mpi_yield_when_idle", "1"]),
}
DROPIN_CALLS = ("write", "read", "first_write", "first_read")


def run(peer, ranks, pattern, options):
    """One benchmark run; its JSON, or None with the reason on stderr."""
    tree, launcher = PEERS[peer]
    library = os.path.abspath(f"build/{tree}/lib/libsago-mpiio.so")
    dropin = (["env", f"LD_PRELOAD={library}"], ["--engines", "mpiio,plain"]) if options.dropin else ([], [])
    if options.gio:
        dropin = ([], ["--engines", "sago,gio,limit"])
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = launcher + ["-n", str(ranks), *dropin[0], f"build/{tree}/bin/sago", "bench", *pattern.split(),
                              "--dir", "/dev/shm", "--repeat", str(options.repeat), "--seconds", str(options.seconds),
                              "--json", out.name, *dropin[1]]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{' '.join(command)}: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return None
        return json.load(open(out.name))


def text(ratio, low, high):
    return f"{ratio:.2g} [{low:.2g}, {high:.2g}]"


def engine_row(result, peer):
    """Ratios with their intervals."""
    names = ("ratios", "ratios_low", "ratios_high")
    return [text(*(result[name][way][against] for name in names)) for against in (peer, "limit")
            for way in ("write", "read")]


def dropin_row(result):
    found = result["mpiio_over_plain"]
    return [text(*(found[call][name] for name in ("ratio", "low", "high"))) for call in DROPIN_CALLS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=0, help="most for the repetitions of a run; 0: no limit")
    parser.add_argument("--patterns", help="e3sm-f,block3d,hacc-aos,hacc-records,contiguous unless told otherwise")
    parser.add_argument("--peers", default="R,O,Y")
    parser.add_argument("--dropin", action="store_true", help="measure the drop-in instead of the library")
    parser.add_argument("--gio", action="store_true", help="GIO instead of MPI-IO")
    parser.add_argument("--cluster", action="store_true", help="several nodes")
    figures_cluster.add_options(parser)
    parser.add_argument("--json", help="keep all results in this file")
    options = parser.parse_args()
    if options.cluster:
        return figures_cluster.main(options)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    results = []
    print("| pattern | ranks | peer | write | read | " +
          ("first write | first read |" if options.dropin else "write, of the limit | read, of the limit |"))
    print("|---|---|---|---|---|---|---|")
    for pattern in (options.patterns or "e3sm-f,block3d,hacc-aos,hacc-records,contiguous").split(","):
        for ranks in map(int, options.ranks.split(",")):
            for peer in options.peers.split(","):
                result = run(peer, ranks, pattern, options)
                results.append({"peer": peer, "pattern": pattern, "ranks": ranks, "result": result})
                row = ["failed"] * 4 if result is None else dropin_row(result) if options.dropin else engine_row(
                    result, "gio" if options.gio else "mpiio")
                print(f"| {pattern} | {ranks} | {peer} | " + " | ".join(row) + " |", flush=True)
    if options.json:
        with open(options.json, "w") as out:
            json.dump(results, out, indent=1)


main()
