#!/usr/bin/env python3
"""validate.py measure|table: `sago sim` against Sago and MPICH's ROMIO on several nodes of one machine.

`measure` runs `sago bench` on clusters of namespaces (tests/cluster/vcluster, as root) whose links are so slow that the
machine's cores have little to do, and keeps what came out in sim/validation.json; a cell that is there is not measured
again, and --seconds ends it after some time, to go on later.  `table` simulates the same cells and writes
docs/sim-validation.md: predicted and measured seconds, errors, the processors' load.  Nothing in the table is written by hand.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

VCLUSTER = "tests/cluster/vcluster"
PATTERNS = {  # name: sizes; the ranks must be a square for btio
    "block3d": "--dims 192",
    "s3d": "--dims 64",
    "btio": "--dims 96 --steps 1",
    "e3sm-f": "--runs 100000",
    "e3sm-g": "--cells 100",
    "hacc-soa": "--particles 100000",
    "hacc-records": "--particles 10000",
    "flash": "--blocks 24",
    "checkerboard": "--block 1000 --blocks 3000",
    "random": "--runs 60000",
    "contiguous": "--bytes 4M",
}
NODES, LINKS, RANKS = (2, 4, 8), ("100mbit", "250mbit"), 2
RATE = {"100mbit": 12.5e6, "250mbit": 31.25e6}
DIRECTIONS = ("write", "read")
ENGINES = {"sago": "sago", "mpiio": "two-phase"}
KEPT, PAGE = "sim/validation.json", "docs/sim-validation.md"


def cells():
    for nodes in NODES:
        for link in LINKS:
            for pattern in PATTERNS:
                if pattern == "btio" and round((nodes * RANKS) ** 0.5) ** 2 != nodes * RANKS:
                    continue
                yield f"{pattern}; {nodes}; {link}"


def processor_time():
    """Busy and all jiffies since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        numbers = [int(word) for word in file.readline().split()[1:]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)


def measure_cell(name, key, options):
    pattern, _, _ = key.split("; ")
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        words = [f"{options.build}/bin/sago", "bench", pattern, *PATTERNS[pattern].split(), "--dir", "@GLOBAL@",
                 "--engines", "sago,mpiio", "--repeat", "3", "--warmup", "1", "--cold", "0", "--verify", "first",
                 "--declared", "off", "--seconds", "6", "--json", out.name]
        before = processor_time()
        done = subprocess.run([VCLUSTER, "run", name, "--mpi", "mpich", "--ranks-per-node", str(RANKS), "--timeout", "60",
                               "--", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "SAGO_BUILD": options.build})
        after = processor_time()
        if done.returncode != 0:
            return {"error": done.stdout.strip()[-300:]}
        result = json.load(open(out.name, encoding="utf-8"))
    return {"seconds": {e: {d: statistics.median(result["turns"][e][d]) for d in DIRECTIONS} for e in ENGINES},
            "bytes": result["bytes"], "load": (after[0] - before[0]) / (after[1] - before[1])}


def measure(options):
    kept = json.load(open(KEPT, encoding="utf-8")) if os.path.exists(KEPT) else {}
    end, at, name = time.monotonic() + options.seconds, None, f"validate-{os.getpid()}"
    try:
        for key in cells():
            if key in kept and "error" not in kept[key] or time.monotonic() > end:
                continue
            _, nodes, link = key.split("; ")
            if at != nodes:
                if at:
                    subprocess.run([VCLUSTER, "down", name], check=True)
                subprocess.run([VCLUSTER, "up", name, nodes, "--owner", str(os.getpid())], check=True)
                at = nodes
            subprocess.run([VCLUSTER, "shape", name, link], check=True)
            kept[key] = measure_cell(name, key, options)
            print(key, kept[key].get("seconds") or kept[key], file=sys.stderr)
            with open(KEPT, "w", encoding="utf-8") as file:
                json.dump(kept, file, indent=1, sort_keys=True)
                file.write("\n")
    finally:
        if at:
            subprocess.run([VCLUSTER, "down", name], check=True)


def machine(nodes, link):
    return (f"name vcluster\ntopology flat {nodes}\nlevel all latency 100us bandwidth {RATE[link] / 1e6}MB/s\n"
            f"inside latency 2us bandwidth 4GB/s\nio latency 0us bandwidth 4GB/s\nnodes {nodes}\nranks-per-node {RANKS}\n"
            f"cores 2\nmemory 4GiB\n")


def predict(key, read, options):
    pattern, nodes, link = key.split("; ")
    with tempfile.NamedTemporaryFile("w", suffix=".sago") as file:
        file.write(machine(nodes, link))
        file.flush()
        words = [options.sim, pattern, *PATTERNS[pattern].split(), "--machine", file.name, "--nodes", nodes,
                 "--ranks-per-node", str(RANKS), "--costs", "cluster", "--repeated", "--declared", "off", "--shared-cores", str(os.cpu_count()),
                 "--engines", ",".join(ENGINES.values()), "--json", *(["--read"] if read else [])]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return {e["engine"]: e["seconds"] for e in json.loads(done.stdout)["engines"]}


def compare(kept, options):
    rows = []
    for key in cells():
        if "seconds" not in kept.get(key, {}):
            continue
        for direction in DIRECTIONS:
            told = predict(key, direction == "read", options)
            rows.append({"key": key, "direction": direction, "load": kept[key]["load"],
                         "measured": {e: kept[key]["seconds"][e][direction] for e in ENGINES},
                         "predicted": {e: told[ENGINES[e]] for e in ENGINES}})
    return rows


def error(row, engine):
    return row["predicted"][engine] / row["measured"][engine] - 1


def faster(times):
    return min(times, key=times.get)


def summary(rows):
    errors = [abs(error(r, e)) for r in rows for e in ENGINES]
    apart = [r for r in rows if max(r["measured"].values()) > 1.1 * min(r["measured"].values())]
    right = sum(faster(r["measured"]) == faster(r["predicted"]) for r in apart)
    return statistics.mean(errors), statistics.median(errors), right, len(apart)


def write_page(rows, out):
    mean, median, right, apart = summary(rows)
    print(f"""# How well `sago sim` predicts

Made by `sim/validate.py measure` and `sim/validate.py table`. Sago and MPICH's ROMIO (`two-phase`) on {", ".join(sorted({r["key"].split("; ")[1] for r in rows}))} nodes of
namespaces on one machine, {RANKS} ranks each, links of 100 and 250 Mbit/s, storage that costs nothing; calls that repeat a shape, one
collective call a variable; medians of three. All nodes share the machine's {os.cpu_count()} processors, and so they do in the simulation. The last
column is the share of the time in which those were busy, starting the job, checking every byte and MPICH's waiting, which does not
sleep, included: short times are the processors', not the network's.

Mean absolute error {100 * mean:.0f}%, median {100 * median:.0f}% ({len(rows)} cells of two engines). Where the engines differ by more than 10% the
faster one is named correctly in {right} of {apart} cells ({100 * right / max(apart, 1):.0f}%).

| pattern | nodes | link | direction | Sago ms | predicted | error | ROMIO ms | predicted | error | load |
|---|---|---|---|---|---|---|---|---|---|---|""", file=out)
    for r in rows:
        pattern, nodes, link = r["key"].split("; ")
        cells_ = [pattern, nodes, link, r["direction"]]
        for e in ENGINES:
            cells_ += [f"{1e3 * r['measured'][e]:.0f}", f"{1e3 * r['predicted'][e]:.0f}", f"{100 * error(r, e):+.0f}%"]
        print("|", " | ".join(cells_ + [f"{100 * r['load']:.0f}%"]), "|", file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "table"))
    parser.add_argument("--build", default="build/mpich", help="build tree of MPICH")
    parser.add_argument("--sim", default="build/mpich/bin/sago-sim")
    parser.add_argument("--seconds", type=float, default=1e9, help="measure no longer than this")
    options = parser.parse_args()
    if options.what == "measure":
        measure(options)
        return
    rows = compare(json.load(open(KEPT, encoding="utf-8")), options)
    with open(PAGE, "w", encoding="utf-8") as out:
        write_page(rows, out)
    mean, _, right, apart = summary(rows)
    print(f"{PAGE}: mean absolute error {100 * mean:.0f}%, {right} of {apart} named correctly")


if __name__ == "__main__":
    main()
