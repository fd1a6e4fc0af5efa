"""`tools/figures.py --cluster`: Sago beside its peers on several nodes of one machine (tests/cluster/vcluster).

A cell is one pattern on one cluster under one MPI library: R = MPICH's ROMIO, O = Open MPI's OMPIO, Y = Open MPI's
ROMIO, each with GIO beside it where both build trees were made with GIO=PREFIX.  In a cell the engines take turns, and two
turns, one in each order, are a pair.  A cell is measured until the 95% interval of every median ratio ends within
15% of it, for at most a minute; then it is called undecided.  What was measured is kept in a JSON file after every
few seconds: a cell that is done is not measured again, one that is not goes on.

Both MPI libraries yield while they wait: there are more ranks than cores.  Storage is `free`, one tmpfs in all nodes, or
`linked`, a striped file system behind links of its own (vcluster --help).  There all engines get the hint striping_unit,
by which the peers align what they write.  A route that is faster only because storage is free does not count.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

VCLUSTER = "tests/cluster/vcluster"
RUNS = {  # peer: build tree, options of vcluster run, engines
    "R": ("mpich", [], ["mpiio", "gio"]),
    "O": ("openmpi", ["--mca", "io", "ompio"], ["mpiio", "gio"]),
    "Y": ("openmpi", ["--mca", "io", "romio321"], ["mpiio"]),
}
PATTERNS = {  # what it is called in the table: what it is
    "32 pieces of 47,008, one call": "ior-hard --blocks 32 --runs 32",
    "357 pieces of 47,008, one call": "ior-hard --blocks 357 --runs 357",
    "32 pieces of 47,008, a call each": "ior-hard --blocks 32",
    "mpi-io-test, 32 calls of 47,008": "mpi-io-test --block 47008 --blocks 32",
    "1,000 bytes of every 2,000": "checkerboard --block 1000 --blocks 1500",
    "contiguous, 1 KiB a rank": "contiguous --bytes 1K",
    "contiguous, 4 KiB a rank": "contiguous --bytes 4K",
    "contiguous, 47,008 bytes a rank": "contiguous --bytes 47008",
    "contiguous, 1.5 MiB a rank": "contiguous --bytes 1536K",
    "contiguous, 16 MiB a rank": "contiguous --bytes 16M",
    "contiguous, 64 MiB a rank": "contiguous --bytes 64M",
    "3-D blocks, 128^3 doubles": "block3d --dims 128",
    "3-D blocks, 256^3 doubles": "block3d --dims 256",
    "3-D blocks, 400^3 doubles": "block3d --dims 400",
    "E3SM F, 20,000 runs a rank": "e3sm-f --runs 20000",
    "E3SM F, 50,000 runs of 4 bytes": "e3sm-f --c 1 --runs 50000",
    "E3SM G, 400 cells a rank": "e3sm-g --cells 400",
    "S3D, 40^3": "s3d --dims 40",
    "BTIO, 48^3": "btio --dims 48 --steps 1",
    "FLASH, 10 blocks a rank": "flash --blocks 10",
    "HACC, array by array": "hacc-aos --particles 25000",
    "HACC, region by region": "hacc-soa --particles 25000",
    "HACC, records": "hacc-records --particles 25000",
    "4 KiB of every 8": "checkerboard --block 4K --blocks 256",
    "random runs": "random --runs 8000",
}
LARGE = ("contiguous, 64 MiB a rank", "3-D blocks, 400^3 doubles")  # 64 MiB a rank: only where ranks are few
SHAPES, LINKS, STORES = "4x2,4x8,8x2", "off,10gbit,1gbit", "free,linked:4"
WIDEST = 0.15  # of an interval, either way
FEWEST_PAIRS = 6  # with fewer there is no 95% interval
MOST_SECONDS = 60  # of a cell
BATCH = 10  # seconds of one run
DIRECTIONS = ("write", "read")


# ---- Ratios -------------------------------------------------------------------------------------------------------

def pair_ratios(peer, sago):
    """Of one run: turns two by two, as `sago bench` does it."""
    return [(peer[i] + peer[i + 1]) / (sago[i] + sago[i + 1]) for i in range(0, len(sago) - 1, 2)]


def estimate(ratios):
    """Median, the sign test's 95% interval and the number of pairs; with fewer than six the interval is the whole range."""
    ordered, n = sorted(ratios), len(ratios)
    cut, below = 0, 0.0
    while cut < n // 2 and below + math.comb(n, cut) / 2**n <= 0.025:
        below += math.comb(n, cut) / 2**n
        cut += 1
    first = max(cut - 1, 0)
    return statistics.median(ordered), ordered[first], ordered[n - 1 - first], n


def ratio_of(cell, engine, direction):
    """How many times faster than the engine Sago is; None: not measured."""
    ratios = [r for batch in cell["batches"] if engine in batch["turns"]
              for r in pair_ratios(batch["turns"][engine][direction], batch["turns"]["sago"][direction])]
    return estimate(ratios) if ratios else None


def is_narrow(ratio):
    median, low, high, pairs = ratio
    return pairs >= FEWEST_PAIRS and low >= median * (1 - WIDEST) and high <= median * (1 + WIDEST)


def is_done(cell, most=MOST_SECONDS):
    if cell.get("error") or cell["seconds"] >= most:
        return True
    ratios = [ratio_of(cell, e, d) for e in cell["engines"] for d in DIRECTIONS]
    return all(r and is_narrow(r) for r in ratios)


# ---- Measuring ----------------------------------------------------------------------------------------------------

class Cluster:
    """One that is up, with links as they are wanted; goes down with this process."""

    def __init__(self, nodes, store):
        self.name = f"figures-{os.getpid()}"
        self.link = "off"
        subprocess.run([VCLUSTER, "up", self.name, nodes, "--owner", str(os.getpid()), "--storage", store], check=True)

    def shape(self, link):
        if link != self.link:
            subprocess.run([VCLUSTER, "shape", self.name, link], check=True)
        self.link = link

    def run(self, tree, options, words):
        """Exit status and what it said."""
        command = [VCLUSTER, "run", self.name, "--mpi", tree, "--timeout", str(3 * MOST_SECONDS), *options, "--", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "SAGO_BUILD": f"build/{tree}"})
        return done.returncode, done.stdout

    def down(self):
        subprocess.run([VCLUSTER, "down", self.name], check=True)


def lock_time(store):
    """What Sago is told of the storage's locks: FLUSH of linked:TARGETS:US:FLUSH, microseconds."""
    return (store.split(":") + [""] * 4)[3] or "1000"


def measure_batch(cluster, cell, engines, options):
    """Adds some seconds of turns to the cell; what went wrong, or None."""
    tree, more, _ = RUNS[cell["peer"]]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        words = [f"build/{tree}/bin/sago", "bench", *PATTERNS[cell["pattern"]].split(), "--dir", "@GLOBAL@",
                 "--engines", ",".join(["sago", *engines]), "--repeat", "400", "--warmup", "2", "--cold", "0",
                 "--seconds", str(options.batch), "--verify", "first", "--json", out.name]
        if cell["store"] != "free":
            words += ["--hint", "striping_unit=1048576", "--hint", f"sago_lock_time={lock_time(cell['store'])}"]
        for hint in options.hint:
            words += ["--hint", hint]
        start = time.monotonic()
        status, said = cluster.run(tree, ["--ranks-per-node", cell["shape"].split("x")[1], *more], words)
        cell["seconds"] += time.monotonic() - start
        if status != 0:
            return said.strip()[-300:] or f"exit status {status}"
        result = json.load(open(out.name))
    cell["batches"].append({"turns": result["turns"], "wire": result["wire"], "bytes": result["bytes"]})
    return None


def measure_cell(cluster, cell, engines, options, save):
    """Until it is done; who fails beside Sago is left out and named."""
    cell["engines"] = engines
    while not is_done(cell, options.most) and time.monotonic() < options.end:
        error = measure_batch(cluster, cell, cell["engines"], options)
        if error:
            bad = [e for e in cell["engines"] if f"engine {e}:" in error] or cell["engines"]
            cell["failed"] = {**cell.get("failed", {}), **{e: error for e in bad}}
            cell["engines"] = [e for e in cell["engines"] if e not in bad]
            if not cell["engines"]:
                cell["error"] = error
        save()


def has_gio(tree):
    said = subprocess.run([f"build/{tree}/bin/sago", "bench", "contiguous", "--engines", "gio", "--repeat", "0"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return "without gio" not in said


def find_commit():
    """What the table is made with: the build trees must be as new as the sources they are named after."""
    def git(*words):
        return subprocess.run(["git", *words], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    newest = int(git("log", "-1", "--format=%ct", "--", "src", "bench", "include"))
    for tree in ("mpich", "openmpi"):
        if os.path.getmtime(f"build/{tree}/bin/sago") < newest:
            sys.exit(f"build/{tree} is older than the sources: make build MPI={tree}")
    return git("describe", "--always", "--dirty")


def has_ranks(pattern, shape):
    """BTIO wants a square number of ranks; the largest patterns at most eight, for their memory."""
    ranks = math.prod(map(int, shape.split("x")))
    if pattern in LARGE and ranks > 8:
        return False
    return not pattern.startswith("BTIO") or math.isqrt(ranks)**2 == ranks


def wanted_cells(options):
    for store in options.stores.split(","):
        for shape in options.shapes.split(","):
            for link in options.links.split(","):
                for pattern in (p for p in options.cluster_patterns if has_ranks(p, shape)):
                    for peer in options.peers.split(","):
                        yield {"pattern": pattern, "shape": shape, "link": link, "store": store, "peer": peer}


def key_of(cell):
    return "; ".join(cell[part] for part in ("pattern", "shape", "link", "store", "peer"))


def measure_all(options, kept, save):
    gio = {tree: has_gio(tree) for tree in ("mpich", "openmpi")}
    commit = find_commit()
    cluster, at = None, None
    try:
        for wanted in wanted_cells(options):
            if time.monotonic() >= options.end:
                break
            cell = kept.setdefault(key_of(wanted), {**wanted, "commit": commit, "seconds": 0, "batches": []})
            if is_done(cell, options.most) if cell["batches"] else cell.get("error"):
                continue
            place = (cell["shape"].split("x")[0], cell["store"])
            if place != at:
                if cluster:
                    cluster.down()
                cluster, at = Cluster(*place), place
            cluster.shape(cell["link"])
            tree, _, engines = RUNS[cell["peer"]]
            engines = [e for e in engines if (e != "gio" or gio[tree]) and e not in cell.get("failed", {})]
            measure_cell(cluster, cell, engines, options, save)
            print(f"{key_of(cell)}: {cell['seconds']:.0f} s, {len(cell['batches'])} runs", file=sys.stderr)
    finally:
        if cluster:
            cluster.down()


# ---- The table ----------------------------------------------------------------------------------------------------

def ratio_text(ratio):
    if not ratio:
        return "failed"
    few = f" ({ratio[3]})" if ratio[3] < FEWEST_PAIRS else ""
    return f"{ratio[0]:.2f} [{ratio[1]:.2f}, {ratio[2]:.2f}]" + few + ("" if is_narrow(ratio) else " ?")


def verdict(ratios):
    """Against the best peer, who counts."""
    best = min(ratios.items(), key=lambda item: item[1][0], default=None)
    if not best:
        return "-"
    name, ratio = best
    word = "undecided" if ratio[3] < FEWEST_PAIRS or (not is_narrow(ratio) and ratio[1] <= 1 <= ratio[2]) else \
        "ahead" if ratio[1] > 1 else "behind" if ratio[2] < 1 else "equal"
    return f"{word} ({name} {ratio[0]:.2f})"


def ratios_of(cells, direction):
    """Peer -> how many times faster Sago is; `cells` are those of one MPI library: peer -> cell."""
    ratios = {}
    for peer, cell in cells.items():
        for engine in cell.get("engines", []):
            ratio = ratio_of(cell, engine, direction)
            if ratio:
                ratios.setdefault("GIO" if engine == "gio" else peer, ratio)
    return ratios


def row_of(cells, direction):
    ratios = ratios_of(cells, direction)
    first = next(iter(cells.values()))
    batch = first["batches"][0] if first["batches"] else None
    wire = "-"
    if batch:
        count = "repeat" if direction == "write" else "read"
        wire = ", ".join(f"{name} {values[count] / 1e6:.1f}" for name, values in batch["wire"].items())
    sago = [t for cell in cells.values() for b in cell["batches"] for t in b["turns"]["sago"][direction]]
    time_text = f"{1e3 * statistics.median(sago):.1f}" if sago else "-"
    alone = "no pair of turns" if any(cell.get("engines") for cell in cells.values()) else "failed"
    peers = ", ".join(f"{peer} {ratio_text(r)}" for peer, r in ratios.items()) or alone
    failed = sorted({f"{peer if e == 'mpiio' else 'GIO'} failed" for peer, c in cells.items() for e in c.get("failed", {})})
    return " | ".join([time_text, ", ".join([peers, *failed]), verdict(ratios), wire])


def measured(options, kept):
    """(pattern, (shape, link, store, MPI)) -> peer -> cell, of what was wanted and measured."""
    found = {}
    for wanted in wanted_cells(options):
        cell = kept.get(key_of(wanted))
        if cell and (cell["batches"] or cell.get("error")):
            place = (cell["shape"], cell["link"], cell["store"], RUNS[cell["peer"]][0])
            found.setdefault((cell["pattern"], place), {})[cell["peer"]] = cell
    return found


def place_text(place, between):
    shape, link, store, tree = place
    return between.join([shape, "unshaped" if link == "off" else link, store, tree])


def print_rows(found):
    print("Sago's median time in ms; how many times faster it is than each peer (its 95% interval; with fewer than six "
          "pairs their number and range; ?: wider than 15%, or so few); "
          "against the best peer; MB sent by all nodes.\n")
    print("| pattern | nodes x ranks | links | storage | MPI | call | Sago, ms | Sago is faster than | judged | MB sent |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for (pattern, place), cells in found.items():
        for direction in DIRECTIONS:
            print(f"| {pattern} | {place_text(place, ' | ')} | {direction} | {row_of(cells, direction)} |")


def best_text(cells, direction):
    """Against the best peer: 1.31 GIO, with a ? if that is undecided."""
    ratios = ratios_of(cells or {}, direction)
    if not ratios:
        return "-"
    name, ratio = min(ratios.items(), key=lambda item: item[1][0])
    return f"{ratio[0]:.2f} {name}" + (" ?" if verdict(ratios).startswith("undecided") else "")


def print_overview(found):
    """A row a pattern, a column a place: write / read against the best peer."""
    places = list(dict.fromkeys(place for _, place in found))
    print("How many times faster Sago is than the best peer, which is named: write / read.  ?: undecided.\n")
    print("| pattern | " + " | ".join(place_text(place, ", ") for place in places) + " |")
    print("|---" * (len(places) + 1) + "|")
    for pattern in dict.fromkeys(pattern for pattern, _ in found):
        row = (" / ".join(best_text(found.get((pattern, place)), d) for d in DIRECTIONS) for place in places)
        print(f"| {pattern} | " + " | ".join(row) + " |")


def print_counts(found):
    all_ratios = [ratios_of(cells, d) for cells in found.values() for d in DIRECTIONS]
    all_ratios = [ratios for ratios in all_ratios if ratios]
    least = [min(r[0] for r in ratios.values()) for ratios in all_ratios]
    words = [verdict(ratios).split()[0] for ratios in all_ratios]
    counts = ", ".join(f"{words.count(word)} {word}" for word in ("ahead", "equal", "behind", "undecided"))
    print(f"\n{len(least)} cells: {counts}; the median is at least 1.0 in {sum(x >= 1.0 for x in least)}, "
          f"at least 0.9 in {sum(x >= 0.9 for x in least)}.")


def print_table(options, kept):
    found = measured(options, kept)
    if options.rows:
        print_rows(found)
    else:
        print_overview(found)
    print_counts(found)
    print("Measured with " + ", ".join(sorted({c["commit"] for cells in found.values() for c in cells.values()})) + ".")


# ---- All of it ----------------------------------------------------------------------------------------------------

def add_options(parser):
    group = parser.add_argument_group("with --cluster", "--peers, --patterns (parts of their names, with commas between) "
                                      "and --json (what is measured is kept there; build/cluster.json) as above, and")
    group.add_argument("--shapes", default=SHAPES, help=f"nodes x ranks a node ({SHAPES})")
    group.add_argument("--links", default=LINKS, help=f"rates of the links, as tc writes them ({LINKS})")
    group.add_argument("--stores", default=STORES, help=f"storage, as vcluster --storage has it ({STORES})")
    group.add_argument("--hint", action="append", default=[], help="KEY=VALUE for all engines; may be repeated")
    group.add_argument("--limit", type=int, default=10**9, help="no longer than so many seconds now")
    group.add_argument("--batch", type=int, default=BATCH, help=f"seconds of one run ({BATCH})")
    group.add_argument("--most", type=int, default=MOST_SECONDS, help=f"seconds of one cell ({MOST_SECONDS})")
    group.add_argument("--table", action="store_true", help="measure nothing, print what there is")
    group.add_argument("--rows", action="store_true", help="print a row for each cell, with times, intervals and bytes")


def main(options):
    path = options.json or "build/cluster.json"
    parts = (options.patterns or "").split(",")
    options.cluster_patterns = [p for p in PATTERNS if any(part in p for part in parts)]
    options.end = time.monotonic() + options.limit
    kept = json.load(open(path)) if os.path.exists(path) else {}

    def save():
        with open(path + ".new", "w") as out:
            json.dump(kept, out, indent=1)
        os.replace(path + ".new", path)

    if not options.table:
        measure_all(options, kept, save)
    print_table(options, kept)
