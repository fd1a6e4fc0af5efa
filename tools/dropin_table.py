#!/usr/bin/env python3
"""Measures the drop-in against the plain MPI library; writes the table, build/dropin-speed.md, and its summary in docs/.

Runs of `sago bench --engines mpiio,plain`, two a cell, with the drop-in preloaded: `mpiio` makes the calls of a
program, which the drop-in serves, and `plain` calls the MPI library's own functions, past it.  Both take turns in
one process, on files of their own; a pair is two turns, in the second of which they go the other way round, since who
comes second finds other caches; a ratio is the time of plain over that of mpiio, pair by pair, the pairs of two
processes together.  What is timed is the collective calls alone, from the first rank's start to the last one's end;
opening files and setting views is not.  The drop-in is loaded while `plain` runs, too, but is given none of its calls
on files.

Finished cells are kept in a file (--state), so a run can be stopped and continued, or split by --mpi, --patterns,
--sizes and --ranks; cells measured with other --pairs or --seconds are measured again.  The table is made of all
cells there are.
"""
import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = {  # name: build tree, launcher, what its MPI-IO is
    "mpich": ("mpich", ["mpiexec.mpich"], "MPICH, ROMIO"),
    "ompio": ("openmpi", ["mpiexec.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
              "Open MPI, OMPIO, yielding"),
    "romio": ("openmpi", ["mpiexec.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca", "io",
                          "romio321"], "Open MPI, ROMIO, yielding"),
}
KINDS = {"write": "write", "read": "read", "first_write": "first write", "first_read": "first read"}
THRESHOLD = 0.95


def largest_prime(number):
    """The largest prime factor, or 1: so many blocks of an array lie side by side, if not more."""
    factor = 2
    while factor < number:
        if number % factor:
            factor += 1
        else:
            number //= factor
    return number


def cube(points, ranks):
    """The side of a cube of so many points, at least 4, and large enough for all ranks."""
    return max(4, largest_prime(ranks), round(points ** (1 / 3)))


def block(size, largest):
    """A power of two that divides `size` into at least 8 blocks."""
    return min(largest, size // 8)


def flash(size):
    """Blocks of 98304 bytes (8^3 cells, 24 variables of 8 bytes), smaller ones for less."""
    shapes = ((8, 24), (4, 8), (2, 4), (2, 1))
    side, variables = next((s, v) for s, v in shapes if s ** 3 * v * 8 <= size or v == 1)
    return f"--blocks {max(1, size // (side ** 3 * variables * 8))} --side {side} --variables {variables}"


def e3sm_g(size):
    """About 312 bytes a cell and level, and 128 a cell."""
    levels = 80 if size > 1 << 20 else 8 if size > 1 << 14 else 1
    return f"--levels {levels} --cells {max(1, size // (312 * levels + 128))}"


# Options that make about `size` bytes a rank.
PATTERNS = {
    "contiguous": lambda size, ranks: f"--bytes {size}",
    "interleaved": lambda size, ranks: f"--block {block(size, 65536)} --transfer {block(size, 65536)} "
                                       f"--segments {size // block(size, 65536)}",
    "block3d": lambda size, ranks: f"--dims {cube(size * ranks / 8, ranks)}",
    "s3d": lambda size, ranks: f"--dims {cube(size * ranks / 128, ranks)}",
    "btio": lambda size, ranks: f"--dims {cube(size * ranks / 40, ranks)} --steps 1",
    "hacc-aos": lambda size, ranks: f"--particles {size // 38}",
    "hacc-soa": lambda size, ranks: f"--particles {size // 38}",
    "hacc-records": lambda size, ranks: f"--particles {size // 38}",
    "flash": lambda size, ranks: flash(size),
    "e3sm-f": lambda size, ranks: f"--runs {max(1, size // 14)}",
    "e3sm-g": lambda size, ranks: e3sm_g(size),
    "mpi-io-test": lambda size, ranks: f"--block {block(size, 1 << 20)} --blocks {size // block(size, 1 << 20)}",
    "checkerboard": lambda size, ranks: f"--block {block(size, 4096)} --blocks {size // block(size, 4096)}",
    "random": lambda size, ranks: f"--runs {max(1, size // 128)}",
}


def parse_size(text):
    """"64K" -> 65536"""
    unit = "KMG".find(text[-1]) + 1
    return int(text[:-1] if unit else text) << (10 * unit)


def square(number):
    """Is it a square number?"""
    return int(number ** 0.5 + 0.5) ** 2 == number


def key_of(cell):
    return (cell["peer"], cell["pattern"], cell["size"], cell["ranks"])


def run_bench(peer, pattern, size, ranks, options, pairs, seed=1, environment=()):
    """One process of each rank: the report of `sago bench`, or why there is none."""
    tree, launcher, _ = PEERS[peer]
    library = os.path.abspath(f"build/{tree}/lib/libsago-mpiio.so")
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="sago-dropin-") as work:
        command = launcher + [
            "-n", str(ranks), "env", f"LD_PRELOAD={library}", *environment,
            f"build/{tree}/bin/sago", "bench", pattern, *PATTERNS[pattern](parse_size(size), ranks).split(),
            "--engines", "mpiio,plain", "--dir", work, "--repeat", str(2 * pairs), "--cold", str(2 * pairs),
            "--seed", str(seed), "--seconds", str(options.seconds), "--verify", "first", "--json", f"{work}/out.json"]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  timeout=options.timeout, check=False)
        except subprocess.TimeoutExpired:
            return None, f"not done in {options.timeout} s"
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            own = [line for line in said if line.startswith("sago")]
            return None, (own or said or [f"exit status {done.returncode}"])[-1]
        with open(f"{work}/out.json", encoding="utf-8") as file:
            return json.load(file), None


SERVED = {}  # by peer and pattern


def check_served(peer, pattern, size, ranks, options):
    """How many calls of a pattern the drop-in serves, and hands on why; in a run of its own, since counting takes time."""
    if (peer, pattern) not in SERVED:
        with tempfile.NamedTemporaryFile(dir=options.dir, prefix="sago-dropin-") as file:
            _, wrong = run_bench(peer, pattern, size, ranks, options, 1, 1, [f"SAGO_STATS=json:{file.name}"])
            if wrong:
                return {"error": wrong}
            with open(file.name, encoding="utf-8") as written:
                stats = json.load(written)
        SERVED[peer, pattern] = {"served": stats["writes"] + stats["reads"],
                                 "handed": {why: n for why, n in stats["handed"].items() if n}}
        if stats["writes"] + sum(stats["handed"].values()) == 0:
            SERVED[peer, pattern] = {"error": "the drop-in has not seen a single call"}
    return SERVED[peer, pattern]


def estimate(ratios):
    """Median and the 95% interval of the sign test, as in bench/quantiles.c."""
    ordered, n = sorted(ratios), len(ratios)
    cut, below = 0, 0.5 ** n
    while cut < n // 2 and below <= 0.025:
        cut += 1
        below += math.comb(n, cut) * 0.5 ** n
    first = max(0, cut - 1)
    return {"ratio": statistics.median(ordered), "low": ordered[first], "high": ordered[n - 1 - first], "pairs": n}


def measure(peer, pattern, size, ranks, options):
    """One cell: the pairs of several processes together, or why there are none.

    Where a process finds its memory and its files' pages decides some of its speed, for as long as it lives; the
    seed decides whose file is made first, which does so, too.  So what looks slow is measured twice more, and all
    pairs count."""
    found = dict(check_served(peer, pattern, size, ranks, options))
    each = {}
    for number in range(0 if "error" in found else 3 * options.processes):
        if number == options.processes and not slow_kinds(found):
            break
        pairs = -(-options.pairs // options.processes)
        report, wrong = run_bench(peer, pattern, size, ranks, options, pairs, number + 1)
        if wrong:
            return {"error": wrong}
        found["bytes"] = report["bytes"] // ranks
        for kind, ratios in report["mpiio_over_plain"].items():
            each.setdefault(kind, []).extend(ratios["each"])
            found[kind] = estimate(each[kind])
    return found


def slow_kinds(cell):
    """What is slower than it may be: even the upper end of the interval."""
    return [kind for kind in KINDS if kind in cell and cell[kind]["high"] < THRESHOLD]


def load(path):
    """Finished cells by key, the last one of each."""
    cells = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                cell = json.loads(line)
                cells[key_of(cell)] = cell
    return cells


def wanted_cells(options):
    """Small ones first: most can be seen early."""
    for size in options.sizes:
        for peer in options.mpi:
            for pattern in options.patterns:
                for ranks in options.ranks:
                    if pattern != "btio" or square(ranks):
                        yield peer, pattern, size, ranks


def run_all(options, cells):
    """Measures what is missing; every finished cell is kept at once."""
    todo = [key for key in wanted_cells(options)
            if options.again or key not in cells or "error" in cells[key] or
            (cells[key]["pairs"], cells[key]["seconds"]) != (options.pairs, options.seconds)]
    start = time.time()
    for number, (peer, pattern, size, ranks) in enumerate(todo):
        print(f"[{number + 1}/{len(todo)}, {time.time() - start:.0f} s] {peer} {pattern}, {size} a rank, "
              f"{ranks} ranks: ", end="", flush=True, file=sys.stderr)
        found = measure(peer, pattern, size, ranks, options)
        cell = {"peer": peer, "pattern": pattern, "size": size, "ranks": ranks, "pairs": options.pairs,
                "seconds": options.seconds, **found}
        cells[key_of(cell)] = cell
        with open(options.state, "a", encoding="utf-8") as file:
            file.write(json.dumps(cell) + "\n")
        slow = slow_kinds(cell)
        print(found.get("error") or " ".join(f"{cell[k]['ratio']:.2f}" for k in KINDS if k in cell) +
              (f"  SLOW: {', '.join(KINDS[k] for k in slow)}" if slow else ""), file=sys.stderr)


# ---- The table ----

def entry(cell, kind):
    """A ratio with its interval."""
    if cell is None or kind not in cell:
        return "failed" if cell and "error" in cell else ""
    e = cell[kind]
    text = f"{e['ratio']:.3g} [{e['low']:.2g}, {e['high']:.2g}]"
    if e["pairs"] < cell["pairs"]:
        text += f" ({e['pairs']})"
    return f"**{text}**" if e["high"] < THRESHOLD else text


def pattern_table(cells, peer, pattern):
    """Lines of one pattern: rows by ranks and kind, columns by size."""
    mine = [cell for cell in cells.values() if (cell["peer"], cell["pattern"]) == (peer, pattern)]
    sizes = sorted({cell["size"] for cell in mine}, key=parse_size)
    lines = [f"### {pattern}", "", "| ranks | call | " + " | ".join(sizes) + " |", "|---" * (len(sizes) + 2) + "|"]
    for ranks in sorted({cell["ranks"] for cell in mine}):
        for kind, name in KINDS.items():
            row = [entry(cells.get((peer, pattern, size, ranks)), kind) for size in sizes]
            lines.append(f"| {ranks} | {name} | " + " | ".join(row) + " |")
    return lines + [""]


def name_of(cell):
    return f"{cell['peer']}, {cell['pattern']}, {cell['size']} a rank, {cell['ranks']} ranks"


def summary(cells):
    """How many are slow, and which."""
    good = [cell for cell in cells.values() if "error" not in cell]
    ratios = [(cell[kind]["ratio"], cell, kind) for cell in good for kind in KINDS if kind in cell]
    slow = [(cell, kind) for cell in good for kind in slow_kinds(cell)]
    lines = [f"{len(ratios)} ratios of {len(good)} cells; {len(slow)} are slow: the upper end of the "
             f"interval is below {THRESHOLD}."]
    if ratios:
        least, cell, kind = min(ratios, key=lambda r: r[0])
        middle = sorted(ratio[0] for ratio in ratios)[len(ratios) // 2]
        lines.append(f"The least: {least:.2f} ({name_of(cell)}, {KINDS[kind]}); the median: {middle:.2f}.")
    lines.append("")
    lines += [f"- slow: {name_of(c)}, {KINDS[k]}: {c[k]['ratio']:.2f} [{c[k]['low']:.2f}, {c[k]['high']:.2f}]"
              for c, k in slow]
    lines += [f"- failed: {name_of(c)}: {c['error']}" for c in cells.values() if "error" in c]
    return lines + [""]


RANKS = {"1 rank": (1, 1), "2 ranks": (2, 2), "3-4 ranks": (3, 4), "more": (5, 10 ** 9)}


def digest(cells, peer):
    """Of each pattern, by number of ranks: the least, the middle and the largest ratio of all sizes and kinds of calls."""
    lines = ["| pattern | " + " | ".join(RANKS) + " |", "|---" * (len(RANKS) + 1) + "|"]
    for pattern in PATTERNS:
        row = []
        for low, high in RANKS.values():
            ratios = sorted(cell[kind]["ratio"] for cell in cells.values() for kind in KINDS if kind in cell
                            and (cell["peer"], cell["pattern"]) == (peer, pattern) and low <= cell["ranks"] <= high)
            row.append(" / ".join(f"{r:.2g}" if r < 100 else f"{r:.0f}" for r in (ratios[0], statistics.median(ratios), ratios[-1]))
                       if ratios else "")
        if any(row):
            lines.append(f"| {pattern} | " + " | ".join(row) + " |")
    return lines + [""]


def write_summary(cells, options):
    lines = ["# The drop-in beside the plain MPI library", "",
             "Made by `make bench-dropin`, which also makes the full table with intervals, `build/dropin-speed.md`; do not edit.",
             "How many times as fast the same collective call is with the drop-in as without, files in memory of one node: the least, the",
             "middle and the largest of the medians for all sizes from 1 KiB to 256 MiB a rank that were measured, repeated and",
             "first calls, writes and reads. The machine has 2 cores: with more ranks than that MPICH, which spins while it waits, is",
             "hundreds of times slower than programs that sleep; see the 1 and 2 ranks for machines with a core for each.", ""]
    lines += summary(cells)
    for peer, (_, _, name) in PEERS.items():
        if any(cell["peer"] == peer for cell in cells.values()):
            lines += [f"## {name}", ""] + digest(cells, peer)
    with open(options.summary, "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip("\n") + "\n")


def write_table(cells, options):
    """Made anew from all cells."""
    lines = ["# The drop-in beside the plain MPI library", "",
             "Made by `make bench-dropin` (`tools/dropin_table.py` explains it); do not edit. How many times as fast",
             "the same collective call is with the drop-in as without, files in memory: the median of pairs and its",
             "95% interval (sign test), columns by bytes a rank. Fewer pairs than asked for, where time ran out, are",
             "given in parentheses. First calls are those on a file just opened. What looked slow was measured twice",
             "more, and all pairs count.", ""]
    lines += summary(cells)
    for peer, (_, _, name) in PEERS.items():
        patterns = [p for p in PATTERNS if any(key[:2] == (peer, p) for key in cells)]
        if patterns:
            lines += [f"## {name}", ""]
        for pattern in patterns:
            lines += pattern_table(cells, peer, pattern)
    with open(options.output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip("\n") + "\n")


def chosen(names):
    """For argparse: a list of some of these."""
    def parse(text):
        words = text.split(",")
        for word in words:
            if names and word not in names:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(names)}")
        return words
    return parse


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    sizes = "1K,16K,256K,4M,32M,256M"
    add("--mpi", type=chosen(PEERS), default=["mpich", "ompio"], help="of mpich,ompio,romio (mpich,ompio)")
    add("--patterns", type=chosen(PATTERNS), default=list(PATTERNS), help="of `sago bench list` (all)")
    add("--sizes", type=chosen(None), default=sizes.split(","), help=f"bytes a rank ({sizes})")
    add("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2, 3, 4, 7, 8],
        help="(1,2,3,4,7,8)")
    add("--pairs", type=int, default=20, help="of repeated calls, and of first calls (20)")
    add("--processes", type=int, default=2, help="runs of a cell, which share the pairs (2)")
    add("--seconds", type=int, default=60, help="most for each of these in a run; 0: no limit (60)")
    add("--timeout", type=int, default=900, help="seconds until a cell is given up (900)")
    add("--dir", default="/dev/shm", help="where the files go (/dev/shm)")
    add("--state", default="build/dropin-speed.jsonl", help="finished cells (build/dropin-speed.jsonl)")
    add("--output", default="build/dropin-speed.md", help="the table (build/dropin-speed.md)")
    add("--summary", help="its summary; docs/dropin-speed.md is the one that is kept")
    add("--again", action="store_true", help="also measure what is finished")
    add("--table", action="store_true", help="measure nothing, only make the table")
    return parser.parse_args()


def main():
    options = parse_options()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    cells = load(options.state)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if not options.table:
            run_all(options, cells)
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
    write_table(cells, options)
    if options.summary:
        write_summary(cells, options)
    slow = sum(bool(slow_kinds(cell)) for cell in cells.values())
    print(f"{options.output}: {len(cells)} cells, {slow} with something slow")
    return 1 if slow or any("error" in cell for cell in cells.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
