#!/usr/bin/env python3
"""Figures of docs/memory.md: little memory, and memory that differs from node to node, on the virtual cluster.

    sudo SAGO_BUILD=build/mpich tools/figures_memory.py windows|drawn [--mean MiB ...] [--json FILE]

windows   IOR's pattern with 32 to 2 MiB for the buffers of a node: Sago's two windows have half of it each
drawn     four benchmarks; what a node may use is a real limit (cgroup): what the program takes (--base), and eight times what is
          drawn from N(mean, 50) MiB, at least 1, since Sago's plans use an eighth of what is free.  Compared are Sago, which is
          told nothing, the MPI library with a buffer of the mean on every node, and the MPI library as it is by default.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VCLUSTER = os.path.join(HERE, "..", "tests", "cluster", "vcluster")
MB = 1 << 20
NODES = 4
BENCHMARKS = {
    "IOR": ["interleaved", "--block", "64K", "--segments", "256"],
    "coll_perf": ["block3d", "--dims", "256x256x256"],
    "FLASH": ["flash", "--blocks", "160"],
    "MPI-IO-test": ["mpi-io-test", "--block", "2M", "--blocks", "8"],
}
ROMIO = ["romio_cb_write=enable", "romio_cb_read=enable"]


def run(args, pattern, engines, hints, memory=None):
    """One job: {engine: {"write": MiB/s, "read": MiB/s, "rounds": ...}}, or {} if it was killed."""
    sago = os.path.join(os.path.abspath(os.environ["SAGO_BUILD"]), "bin", "sago")
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [VCLUSTER, "with", str(NODES), "--mpi", args.mpi, "--ranks-per-node", "2", "--shape", args.shape, "--storage",
                   args.storage, "--timeout", "300"]
        command += ["--memory", ",".join(str(m) for m in memory)] if memory else []
        command += ["--", sago, "bench", *pattern, "--engines", engines, "--dir", "@GLOBAL@", "--repeat", str(args.repeat),
                    "--warmup", "0", "--cold", "0", "--verify", "first", "--json", out.name]
        for hint in hints:
            command += ["--hint", hint]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            result = json.load(open(out.name))
        except ValueError:
            sys.stderr.write(done.stdout[-500:] + done.stderr[-500:])
            return {}
    return {e["name"]: {way: result["bytes"] / e[way + "_s"]["median"] / MB for way in ("write", "read")}
            for e in result["engines"]}


def windows(args):
    for mb in args.mean or [32, 16, 8, 4, 2]:
        got = run(args, BENCHMARKS["IOR"], "sago",
                  ["sago_strategy=aggregated", f"sago_aggregators={NODES}", f"sago_window={mb * MB // 2}"])
        got.update(run(args, BENCHMARKS["IOR"], "mpiio", ROMIO + [f"cb_buffer_size={mb * MB}"]))
        tell(args, {"windows": mb, **got})


def drawn(args):
    draw = random.Random(args.seed)
    for mean in args.mean or [8, 32, 128]:
        memory = [max(1, int(draw.gauss(mean, 50))) for _ in range(NODES)]
        limits = [(args.base + 8 * m) * MB for m in memory]
        for name in args.benchmark or BENCHMARKS:
            got = run(args, BENCHMARKS[name], "sago,mpiio", ROMIO if args.enable else [], limits)
            fixed = run(args, BENCHMARKS[name], "mpiio", ROMIO + [f"cb_buffer_size={mean * MB}"], limits)
            tell(args, {"drawn": mean, "memory": memory, "benchmark": name, **got, "fixed": fixed.get("mpiio")})


def tell(args, row):
    print(json.dumps(row), flush=True)
    if args.json:
        with open(args.json, "a") as out:
            out.write(json.dumps(row) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["windows", "drawn"])
    parser.add_argument("--mean", type=int, nargs="*", help="MiB")
    parser.add_argument("--benchmark", nargs="*", choices=list(BENCHMARKS))
    parser.add_argument("--base", type=int, default=400, help="MiB that the program and MPI take on a node")
    parser.add_argument("--enable", action="store_true", help="collective buffering always, in the MPI library's default, too")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--shape", default="1gbit")
    parser.add_argument("--storage", default="linked:2:100:1000:100000000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json")
    args = parser.parse_args()
    (windows if args.what == "windows" else drawn)(args)


if __name__ == "__main__":
    main()
