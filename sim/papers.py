#!/usr/bin/env python3
"""papers.py: the points of the five papers, simulated by `sago sim`, as docs/papers.md with charts.

Everything on the page comes out of the simulator while this runs, but for the papers' own numbers, which are in this file
with the place they are from.  What was simulated is kept beside the simulator and not simulated again while that is the same.
"""
import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import subprocess
import sys

COLORS = {"sago": "#2f63ad", "two-phase": "#bd5b14", "tam": "#25804a", "tapioca": "#25804a", "MPI-IO": "#bd5b14",
          "normal": "#bd5b14", "coio": "#bd5b14", "rbio": "#25804a", "perceived": "#2f63ad"}
THETA = "--machine machines/theta.sago"


# ---- Simulating ---------------------------------------------------------------------------------------------------

class Simulator:
    def __init__(self, path, under=""):
        self.path, self.under = path, under.split()
        with open(path, "rb") as file:
            known = file.read()
        for name in sorted(os.listdir("machines")):
            with open(os.path.join("machines", name), "rb") as file:
                known += file.read()
        stamp = hashlib.sha256(known).hexdigest()[:16]
        self.folder = os.path.join(os.path.dirname(path), "..", "papers", stamp)
        os.makedirs(self.folder, exist_ok=True)
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def simulate(self, words):
        name = os.path.join(self.folder, hashlib.sha256(words.encode()).hexdigest()[:24] + ".json")
        if not os.path.exists(name):
            done = subprocess.run([*self.under, self.path, *words.split(), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
            if done.returncode:
                sys.exit(f"sago sim {words}\n{done.stderr}")
            with open(name + ".new", "w", encoding="utf-8") as file:
                file.write(done.stdout)
            os.rename(name + ".new", name)
            print("sago sim", words, file=sys.stderr)
        with open(name, encoding="utf-8") as file:
            return {e["engine"]: e for e in json.load(file)["engines"]}

    def all(self, commands):
        """{key: words} -> {key: engines}, several at a time."""
        futures = {key: self.pool.submit(self.simulate, words) for key, words in commands.items()}
        return {key: future.result() for key, future in futures.items()}


def gbs(engine):
    return engine["bytes_per_second"] / 1e9


# ---- The page -----------------------------------------------------------------------------------------------------

class Page:
    def __init__(self, folder):
        self.folder, self.parts, self.rows = folder, [], []
        os.makedirs(os.path.join(folder, "papers"), exist_ok=True)

    def say(self, text):
        self.parts.append(text)

    def point(self, what, paper, simulated, note="", fitted=False, shown=None, low=0.5, high=2.0):
        """`paper` and `simulated` are numbers; `shown` is how the paper puts it."""
        ratio = simulated / paper if paper else math.nan
        good = low <= ratio <= high
        if not fitted:
            self.rows.append(good)
        mark = "fitted" if fitted else "yes" if good else "**missed**"
        self.parts[-1] += f"\n| {what} | {shown or number(paper)} | {number(simulated)} | {ratio:.2f} | {mark} | {note} |"

    def fact(self, what, paper, simulated, good, note=""):
        self.rows.append(good)
        self.parts[-1] += f"\n| {what} | {paper} | {simulated} |  | {'yes' if good else '**missed**'} | {note} |"

    def table(self):
        self.say("\n| point | paper | simulated | ratio | reached | remark |\n|---|---|---|---|---|---|")

    def chart(self, name, title, x_name, y_name, xs, series, log=True):
        with open(os.path.join(self.folder, "papers", name + ".svg"), "w", encoding="utf-8") as file:
            file.write(draw(title, x_name, y_name, xs, series, log))
        self.say(f"\n![{title}](papers/{name}.svg)")


def number(value):
    if value >= 1e6:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def draw(title, x_name, y_name, xs, series, log):
    """Lines over labelled places: {name: [values]} with None for what there is not."""
    width, height, left, right, top, bottom = 620, 340, 70, 150, 44, 52
    values = [v for line in series.values() for v in line if v]
    low, high = min(values), max(values)
    low, high = (low / 1.3, high * 1.3) if log else (0, high * 1.1)

    def at(i, v):
        share = math.log(v / low) / math.log(high / low) if log else (v - low) / (high - low)
        return (left + (width - left - right) * (i + 0.5) / len(xs), height - bottom - (height - top - bottom) * share)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           f'font-family="sans-serif" font-size="12" fill="#1f2933"><title>{title}</title>'
           f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="24" font-size="15">{title}</text>']
    for tick in ticks(low, high, log):
        y = at(0, tick)[1]
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#dde3ea"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i, x in enumerate(xs):
        out.append(f'<text x="{at(i, high)[0]:.1f}" y="{height - bottom + 18}" text-anchor="middle">{x}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">{x_name}</text>'
               f'<text transform="translate(16 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">{y_name}</text>')
    labels = []
    for k, (name, line) in enumerate(series.items()):
        color = COLORS.get(name.split(":")[0].split(",")[0].split(" ")[0], ["#2f63ad", "#bd5b14", "#25804a", "#8a3f9b"][k % 4])
        points = [at(i, v) for i, v in enumerate(line) if v]
        dash = ' stroke-dasharray="6 4"' if "paper" in name or "SoA" in name or name.endswith(" read") else ""
        out.append(f'<polyline fill="none" stroke="{color}" stroke-width="2.2"{dash} points="'
                   + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
        labels.append([points[-1][1], name, color])
    labels.sort()
    for i, label in enumerate(labels):
        if i and label[0] - labels[i - 1][0] < 15:
            label[0] = labels[i - 1][0] + 15
        out.append(f'<text x="{width - right + 6}" y="{label[0] + 4:.1f}" fill="{label[2]}">{label[1]}</text>')
    return "\n".join(out) + "\n</svg>\n"


def ticks(low, high, log):
    if log:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [m * 10.0 ** d for d in decades for m in (1, 2, 5) if low <= m * 10.0 ** d <= high]
        return found if len(found) <= 9 else [t for t in found if f"{t:e}".startswith("1")]
    step = 10 ** math.floor(math.log10(high / 4))
    step *= 1 if high / step <= 6 else 2 if high / step <= 12 else 5
    return [i * step for i in range(int(high / step) + 1)]


# ---- 001: TAM ------------------------------------------------------------------------------------------------------

TAM_NODES, TAM_RANKS = (4, 16, 64, 256), 64
# S3D-IO numbers its ranks as Fortran does, so the most are along x, the file's fastest dimension; with 32 of them 16,384 ranks
# have the requests that the text says.
S3D_GRID = {256: "4x8x8", 1024: "8x8x16", 4096: "16x16x16", 16384: "16x32x32"}


def tam_pattern(app, nodes):
    ranks = nodes * TAM_RANKS
    return {"E3SM F": f"e3sm-f --c 4 --runs {max(1, round(1.22e9 / ranks / 64))} --times 64",
            "E3SM G": f"e3sm-g --cells {max(1, round(3.64e6 / ranks / 8))} --times 8",
            "BTIO": "btio --dims 512 --steps 40",
            "S3D-IO": f"s3d --dims 800 --grid {S3D_GRID[ranks]}"}[app]


def tam(sim, page):
    setting = f"{THETA} --ranks-per-node {TAM_RANKS} --stripe-unit 1M --stripe-count 56"
    apps = ("E3SM F", "E3SM G", "BTIO", "S3D-IO")
    runs = sim.all({(a, n): f"{tam_pattern(a, n)} {setting} --nodes {n} --engines two-phase,tam:{max(1, 256 // n)},sago"
                    for a in apps for n in TAM_NODES})
    sweep = sim.all({a: f"{tam_pattern(a, 256)} {setting} --nodes 256 --engines tam:2,tam:4,tam:16"
                     for a in apps})
    single = sim.all({a: f"{tam_pattern(a, 256)} {setting} --nodes 256 --hint sago_aggregators_per_target=1 --engines sago" for a in apps})
    several = sim.all({a: f"{tam_pattern(a, 256)} {setting} --nodes 256 --per-target 4 --engines tam:1" for a in apps})
    for a in apps:  # one local aggregator for each rank is two-phase
        sweep[a] = {"tam:1": runs[a, 256]["tam:1"], **sweep[a], "tam:64": runs[a, 256]["two-phase"]}
    page.say("""
## 001: TAM, two layers, on Theta (256 nodes of 64 ranks, 56 OSTs, stripes of 1 MiB)

Strong scaling, as in the paper's figure 3: 256 to 16,384 ranks, P_L = 256 local aggregators in all. The paper's numbers for
each application are in figures only; its text gives the range of the gains, BTIO's time, the best P_L and numbers of requests.""")
    gains = {}
    for app in apps:
        at = {n: runs[app, n] for n in TAM_NODES}
        gains[app] = at[256]["two-phase"]["seconds"] / at[256]["tam:1"]["seconds"]
        page.chart(f"tam-{app.split('-')[0].replace(' ', '-').lower()}", f"{app}: bandwidth of a collective write", "ranks", "GB/s",
                   [f"{n * TAM_RANKS:,}" for n in TAM_NODES],
                   {"two-phase": [gbs(at[n]["two-phase"]) for n in TAM_NODES],
                    "tam": [gbs(at[n][f"tam:{max(1, 256 // n)}"]) for n in TAM_NODES],
                    "sago": [gbs(at[n]["sago"]) for n in TAM_NODES]})
    page.table()
    page.point("largest gain over two-phase at 16,384 ranks", 29, max(gains.values()), f"{max(gains, key=gains.get)}; match and receive are fitted to it", True)
    page.point("smallest gain there", 3, min(gains.values()), min(gains, key=gains.get))
    for app in apps:
        page.fact(f"gain of TAM, {app}", "3 to 29", f"{gains[app]:.1f}", 1.5 <= gains[app] <= 58)
    for app in apps:
        times = {256 * int(e.split(":")[1]): v["seconds"] for e, v in sweep[app].items()}
        best = min(times, key=times.get)
        swept = ", ".join(f"{p}: {s:.3g} s" for p, s in sorted(times.items()))
        page.point(f"best P_L at 16,384 ranks, {app}", 256, best, swept +
                   ("" if app != "S3D-IO" else f". Asked for here, although the paper does not say which P_L was the best of S3D-IO: it took the 256 found by "
                    f"E3SM \"for all cases\", and found them better than two-phase, as they are here ({times[16384] / times[256]:.2g} times). "
                    f"From 256 to 1,024 the times differ by {100 * (times[256] / times[best] - 1):.0f}%: the first layer, whose bytes one process copies, takes what fewer messages save."))
    bt = runs["BTIO", 256]["tam:1"]
    page.point("BTIO with TAM at 16,384 ranks, seconds", 40, bt["seconds"], "writer is fitted to it", True)
    for n, requests, joined in ((16, 335544320, 84377600), (64, 671088640, 43171840), (256, 1342177280, 23552000)):
        e = runs["BTIO", n][f"tam:{256 // n}"]
        page.point(f"BTIO, requests of {n * 64:,} ranks", requests, e["requests"], low=0.95, high=1.05)
        page.point(f"BTIO, requests after joining, {n * 64:,} ranks", joined, e["requests_joined"], "cut at stripes here: a request that crosses one counts twice")
        page.point(f"BTIO with TAM at {n * 64:,} ranks, seconds", 40, runs["BTIO", n][f"tam:{256 // n}"]["seconds"], "\"approximately 40\"", n == 256)
    page.point("S3D-IO, requests of 16,384 ranks", 327680000, runs["S3D-IO", 256]["tam:1"]["requests"], low=0.95, high=1.05)
    order = all(runs[a, n]["two-phase"]["seconds"] >= 0.999 * runs[a, n][f"tam:{max(1, 256 // n)}"]["seconds"]
                for a in apps for n in TAM_NODES[1:])
    page.fact("TAM is faster than two-phase from 1,024 ranks on, every application", "yes", "yes" if order else "no", order)
    falls = all(runs[a, 256]["two-phase"]["bytes_per_second"] < runs[a, 16]["two-phase"]["bytes_per_second"] for a in ("E3SM F", "E3SM G"))
    page.fact("two-phase loses bandwidth with more ranks, E3SM F and G", "yes", "yes" if falls else "no", falls)
    beside(page, apps, runs, single, several)
    breakdown(page, sweep)


def beside(page, apps, runs, single, several):
    """Sago beside the paper's methods: as planned, and with as many writers as they have."""
    def times(a, peer, of):
        return f"{peer['seconds'] / of['seconds']:.3g}"
    page.say("""
Sago at 16,384 ranks, with every wait for a storage target's lock counted as below. With one aggregator a target, as many as TAM has, it gains what it
gathers and overlaps better; the rest is several writers for each target, which TAM's stripes in turn cannot have without waiting for locks at every stripe.

| application | Sago, seconds | two-phase / Sago | TAM / Sago | Sago with one aggregator a target, seconds | TAM / that | TAM with four a target, seconds |
|---|---|---|---|---|---|---|""")
    for a in apps:
        at, one = runs[a, 256], single[a]["sago"]
        page.parts[-1] += (f"\n| {a} | {at['sago']['seconds']:.3g} | {times(a, at['two-phase'], at['sago'])} | {times(a, at['tam:1'], at['sago'])} | "
                           f"{one['seconds']:.3g} | {times(a, at['tam:1'], one)} | {several[a]['tam:1']['seconds']:.3g} |")
    page.say("""
Locks of Lustre, for all methods alike (sim/locks.h; the rules are those of its lock manager's source): the server gives a client all of a target's part of the
file (its object) from where it writes on, up to what others hold or wait for. An aggregator that goes on where it ended in the object waits for nobody. One that goes
on behind another node's data waits until that node's data is stored and its lock given up (twice 10 ms, assumed, and the bytes at what one process writes), one after
another at each target, in every round. Nodes that come to a target for the first time wait for one such handover side by side, as what they ask for does not overlap.
One aggregator a target (two-phase, TAM) waits for nobody. Sago cuts the file into as many sections as a target has aggregators, so that each of them has
one stretch of the object, and waits once. What is not counted: other jobs, and what an OST loses to many clients at once (FIVES' 1.7 GB/s are taken for any
number of them). So these are times of an otherwise idle machine whose OSTs serve up to 32 clients as fast as one.""")


def breakdown(page, sweep):
    page.say("\nSeconds over P_L at 16,384 ranks, as in the paper's figures 4 to 7 (ahead: lists and the first layer; exchange and store: the busiest aggregator):\n"
             "\n| application | P_L | ahead | exchange | store | all |\n|---|---|---|---|---|---|")
    for app, engines in sweep.items():
        for name, e in engines.items():
            page.parts[-1] += (f"\n| {app} | {256 * int(name.split(':')[1]):,} | {e['ahead']:.3g} | {e['exchange']:.3g} | "
                               f"{e['store']:.3g} | {e['seconds']:.4g} |")


# ---- 000: TAPIOCA --------------------------------------------------------------------------------------------------

PARTICLES = (5000, 10000, 25000, 50000, 100000)


def hacc(sim, page, name, title, setting, scale):
    """{(layout, particles): engines}; bandwidths times `scale`, where a part of the machine is simulated."""
    runs = sim.all({(layout, p): f"hacc-{layout} --particles {p} {setting} --always --engines tapioca,two-phase,sago"
                    for layout in ("aos", "soa") for p in PARTICLES})
    lines = {}
    for layout, label in (("aos", "AoS"), ("soa", "SoA")):
        for engine, what in (("tapioca", "tapioca"), ("two-phase", "MPI-IO"), ("sago", "sago")):
            lines[f"{what} {label}"] = [scale * gbs(runs[layout, p][engine]) for p in PARTICLES]
    page.chart(name, title, "MB a rank", "GB/s", [f"{38 * p / 1e6:.2f}" for p in PARTICLES], lines)
    return runs


def gain(engines, peer="two-phase", of="tapioca"):
    return engines[peer]["seconds"] / engines[of]["seconds"]


def tapioca(sim, page):
    page.say("""
## 000: TAPIOCA, on Mira and Theta

HACC-IO, 16 ranks a node: TAPIOCA declares its nine variables, MPI-IO makes nine collective calls. On Mira there is one file for
each Pset of 128 nodes, so one Pset is simulated, and bandwidths are times the number of Psets; MPI-IO's aggregators are on the bridge
nodes and the nodes that come after them by rank, as the paper describes MPICH's there (`--bridges-first`). On Theta what MPI-IO reads to fill holes
costs nothing: the file is new, and an aggregator has in its node's cache what it wrote of the same stripes in the call before. Aggregators there
share locks, as the paper set it ("lock sharing set for collective operations"), so none waits for another's (`--cost lock=0`).""")
    shared = "--cost lock=0"
    mira = hacc(sim, page, "tapioca-mira", "HACC-IO on 1,024 nodes of Mira",
                "--machine machines/mira-1024.sago --nodes 128 --ranks-per-node 16 --cb-nodes 16 --buffer 16M --bridges-first "
                "--hint sago_aggregators=16 --hint sago_window=16M", 8)
    theta = {n: hacc(sim, page, f"tapioca-theta-{n}", f"HACC-IO on {n:,} nodes of Theta",
                     f"{THETA} --nodes {n} --ranks-per-node 16 --stripe-unit 16M --stripe-count 48 --per-target {k} --cost reader=1e12 {shared}", 1)
             for n, k in ((1024, 4), (2048, 8))}
    micro = sim.all({
        "mira": "contiguous --bytes 1M --machine machines/mira-1024.sago --nodes 128 --ranks-per-node 16 --cb-nodes 32 "
                "--buffer 32M --bridges-first --hint sago_aggregators=32 --hint sago_window=32M --always --engines tapioca,two-phase",
        "spread": "hacc-aos --particles 25000 --machine machines/mira-1024.sago --nodes 128 --ranks-per-node 16 --cb-nodes 16 "
                  "--buffer 16M --hint sago_aggregators=16 --hint sago_window=16M --always --engines tapioca,two-phase",
        "theta": f"contiguous --bytes 3600K {THETA} --nodes 512 --ranks-per-node 16 --stripe-unit 8M --stripe-count 48 --always "
                 f"--hint sago_aggregators=48 {shared} --engines tapioca,two-phase",  # figure 10: 48 aggregators
        "ior": f"contiguous --bytes 4M {THETA} --nodes 512 --ranks-per-node 16 --stripe-unit 8M --stripe-count 48 --per-target 2 "
               f"--always {shared} --engines two-phase",
        "ior-default": f"contiguous --bytes 4M {THETA} --nodes 512 --ranks-per-node 16 --stripe-unit 1M --stripe-count 1 --always "
                       f"{shared} --engines two-phase",
        "ior-read": f"contiguous --bytes 4M {THETA} --nodes 512 --ranks-per-node 16 --stripe-unit 8M --stripe-count 48 "
                    "--per-target 2 --always --read --engines two-phase"})
    ratios = sim.all({s: f"contiguous --bytes 1M {THETA} --nodes 512 --ranks-per-node 16 --stripe-unit {s}M --stripe-count 48 "
                         f"--hint sago_window=8M --hint sago_aggregators=48 {shared} --engines tapioca" for s in (64, 32, 16, 8, 4, 2)})
    counts = {n: sim.all({k: f"hacc-aos --particles 25000 {THETA} --nodes {n} --ranks-per-node 16 --stripe-unit 16M "
                             f"--stripe-count 48 --hint sago_aggregators_per_target={k} {shared} --engines tapioca" for k in (1, 2, 4, 8, 16)})
              for n in (512, 1024, 2048)}
    places = sim.all({p: f"hacc-aos --particles 25000 --machine machines/mira-1024.sago --nodes 128 --ranks-per-node 16 "
                         f"--hint sago_aggregators=16 --hint sago_window=16M --hint sago_placement={p} --engines tapioca"
                      for p in ("cost", "rank")})
    page.table()
    best = 8 * max(gbs(e["tapioca"]) for e in mira.values())
    page.point("Mira, 1,024 nodes: TAPIOCA's best, GB/s", 0.9 * 22.4, best, "90% of the peak of 22.4, from which io_node is")
    page.point("Mira, 4,096 nodes: the same, GB/s", 89.6, 4 * best, "\"almost reached\"; four times the above by construction")
    page.point("Mira: largest gain over MPI-IO", 12, max(gain(e) for e in mira.values()),
               f"with 25,000 particles, AoS, {gain(mira['aos', 25000]):.3g}; {gain(micro['spread']):.3g} if MPI-IO's aggregators were spread over the Pset")
    falls = gain(mira["aos", 100000]) < gain(mira["aos", 5000])
    page.fact("Mira: the gap closes as data grows, AoS", "yes", "yes" if falls else "no", falls,
              f"{gain(mira['aos', 5000]):.1f} to {gain(mira['aos', 100000]):.1f} times. Each of MPI-IO's nine calls fills holes by reading first, at any size, and that is most "
              "of its time here. Something that takes time once a file or call, and fades, must be large on the machine; the text does not say what it is.")
    page.point("Mira, micro-benchmark of 1 MB a rank: gain", 1, gain(micro["mira"]))
    page.point("Theta, 1,024 nodes, 1 MB a rank, AoS: gain", 7, gain(theta[1024]["aos", 25000]))
    page.point("Theta, 1,024 nodes, 1 MB a rank, SoA: gain", 7, gain(theta[1024]["soa", 25000]),
               "A call's variable fills 98 windows of 192 aggregators, so nine calls take nine stores instead of TAPIOCA's five, and no more. The paper's MPI-IO "
               "is as slow as with AoS, where it has holes to fill; why it is without holes, the text does not say.")
    page.point("Theta, 2,048 nodes, 3.6 MB a rank, AoS: gain", 4, gain(theta[2048]["aos", 100000]))
    page.point("Theta, 512 nodes, micro-benchmark of 3.6 MB a rank: gain", 2, gain(micro["theta"]))
    page.point("Theta, IOR write with 48 OSTs of 8 MB, 2 aggregators each, GB/s", 10, gbs(micro["ior"]["two-phase"]))
    page.point("Theta, IOR write with one OST, GB/s", 0.2, gbs(micro["ior-default"]["two-phase"]),
               "One aggregator writes, and what one process writes is fitted to 001's BTIO, two years later: 115 MB/s. The paper's own two figures differ as much: "
               "200 MB/s of one aggregator here, 104 of each of 96 in the row above.")
    page.point("Theta, IOR read with 48 OSTs, GB/s", 36, gbs(micro["ior-read"]["two-phase"]),
               "Going each by itself, as ROMIO does where ranges do not interleave and nothing is forced, comes out at 122. Gathered, the storage is a tenth busy: two thirds of the time pass in handing out what was read, round after round, to the 12 nodes that the 96 stripes of a "
               "round belong to. The machine must have done that faster, or while it read on; the text does not say how.")
    at = {s: gbs(e["tapioca"]) for s, e in ratios.items()}
    apart = max(at.values()) > 1.01 * min(at.values())
    page.fact("Theta, buffer of 8 MB: best stripe", "8 MB (1 : 1)", f"{max(at, key=at.get)} MB" if apart else "all alike", apart and at[8] >= 0.999 * max(at.values()),
              ", ".join(f"{s} MB: {v:.3g} GB/s" for s, v in at.items()) + ("" if apart else ". With locks shared, each of 48 processes writes what it can, whatever the stripes."))
    for n, k in ((512, 2), (1024, 4), (2048, 8)):
        times = {k2: e["tapioca"]["seconds"] for k2, e in counts[n].items()}
        cheapest = min(times, key=times.get)
        page.point(f"Theta, {n:,} nodes: best aggregators an OST", k, cheapest, ", ".join(f"{a}: {s:.3g} s" for a, s in times.items()) +
                   ". A process writes 115 MB/s, so more are faster until an OST is busy. "
                   + ("Four gave the paper its best results; what more of them lost to it does not say (locks were shared)." if n == 1024
                      else "The paper says what it used, not that more were slower."))
    order = all(gain(e) > 1 for runs in (mira, *theta.values()) for e in runs.values())
    page.fact("TAPIOCA is faster than MPI-IO: Mira, Theta with 1,024 and 2,048 nodes, both layouts, every size", "yes", "yes" if order else "no", order)
    faster = places["cost"]["tapioca"]["seconds"] <= 1.01 * places["rank"]["tapioca"]["seconds"]
    page.fact("Mira: placement by C1 + C2 is no slower than by rank (1%)", "yes", "yes" if faster else "no", faster,
              f"{places['cost']['tapioca']['seconds']:.3g} and {places['rank']['tapioca']['seconds']:.3g} s")


# ---- 002: threaded rbIO --------------------------------------------------------------------------------------------

def rbio(sim, page):
    page.say("""
## 002: coIO, rbIO and threaded rbIO, on Intrepid and Jaguar

NekCEM's checkpoints, 1.6 MB a rank, np : nf = 64 : 1. Of Intrepid's 16K and 32K ranks (two a node) a half and a quarter are
simulated, with the whole machine's metadata server: groups and their I/O nodes are all alike.""")
    counts = (8192, 16384, 32768)
    one = {np: f"contiguous --bytes 1587K --machine machines/intrepid.sago --nodes 4096 --ranks-per-node 2 "
               f"--cost open={1e-3 * np / 8192} --cost file={1.7e9 * 8192 / np} --engines coio:1000000,coio:64,rbio:64,rbio-thread:64"
           for np in counts}
    two = {np: f"contiguous --bytes 1587K --machine machines/jaguar.sago --nodes {np // 16} --ranks-per-node 16 "
               "--engines coio:1000000,coio:64,rbio:64,rbio-thread:64" for np in counts}
    runs = {"Intrepid": sim.all(one), "Jaguar": sim.all(two)}
    scale = {"Intrepid": {np: np / 8192 for np in counts}, "Jaguar": dict.fromkeys(counts, 1)}

    def raw(machine, np, engine):
        return scale[machine][np] * gbs(runs[machine][np][engine])

    def perceived(machine, np):
        return scale[machine][np] * runs[machine][np]["rbio-thread:64"]["perceived_bytes_per_second"] / 1e9

    for machine in runs:
        page.chart(f"rbio-{machine.lower()}", f"Checkpoints on {machine}", "ranks", "GB/s", [f"{np:,}" for np in counts],
                   {"coio, one file": [raw(machine, np, "coio:1000000") for np in counts],
                    "coio 64 : 1": [raw(machine, np, "coio:64") for np in counts],
                    "rbio 64 : 1": [raw(machine, np, "rbio:64") for np in counts],
                    "perceived": [perceived(machine, np) for np in counts]})
    page.table()
    page.point("Intrepid, 32K ranks: perceived, GB/s", 70, perceived("Intrepid", 32768), "copy is fitted to it", True, low=0.67, high=1.5)
    page.point("Intrepid, 32K ranks: raw, GB/s", 15, raw("Intrepid", 32768, "rbio-thread:64"), "writer is fitted to it", True, low=0.67, high=1.5)
    page.point("Intrepid, 32K ranks: one file, seconds", 30, 52 / raw("Intrepid", 32768, "coio:1000000"), "\"more than 30\"; file is fitted to it", True)
    page.point("Intrepid: threaded rbIO holds the application, seconds", 1, 52 / perceived("Intrepid", 32768), "\"less than 1\"", high=1.01, low=0)
    page.point("Jaguar, 16K ranks: raw, GB/s", 17, raw("Jaguar", 16384, "rbio-thread:64"), "writer is fitted to it", True, low=0.67, high=1.5)
    page.point("Jaguar, 32K ranks: raw, GB/s", 13, raw("Jaguar", 32768, "rbio-thread:64"),
               "The paper's falls from 17 to 13 although there are twice as many writers: other jobs' load, which is not simulated.", low=0.67, high=1.5)
    page.point("Jaguar, 8K ranks: perceived, GB/s", 40, perceived("Jaguar", 8192), "copy is fitted to it, after the other points had been seen", True, low=0.67, high=1.5)
    page.point("Jaguar, 32K ranks: perceived, GB/s", 50, perceived("Jaguar", 32768),
               "A writer takes 312 MB/s from its group with 8K ranks in the paper, and 98 with 32K, although groups are neighbours and as large. The simulated "
               "one takes the same at every scale; what slows it down (other jobs on the torus, noise) is not simulated.", low=0.67, high=1.5)
    page.point("Jaguar, 32K ranks: coIO 64 : 1, GB/s", 7, raw("Jaguar", 32768, "coio:64"), "other jobs' load is not simulated, see raw at 32K")
    page.point("Jaguar, 32K ranks: one file, seconds", 132, 52 / raw("Jaguar", 32768, "coio:1000000"), "file is fitted to it", True)
    speedups = [perceived("Jaguar", np) / raw("Jaguar", np, "coio:64") for np in counts]
    page.fact("Jaguar: speedup of equation 4 over 8K to 32K ranks", "7 to 13", f"{min(speedups):.1f} to {max(speedups):.1f}",
              min(speedups) >= 3.5 and max(speedups) <= 26, "The quotient of two rows above; with 32K ranks both come out too large.")
    step = 52 / 7 / 70  # the paper: a checkpoint by coIO takes as long as 70 steps
    x_coio, x_thread = 52 / raw("Jaguar", 32768, "coio:64") / step, 52 / perceived("Jaguar", 32768) / step
    page.point("Jaguar, 32K ranks: production speedup of equation 7", 1.5, (x_coio + 100) / (x_thread + 100) / 1.05,
               f"X_coIO {x_coio:.0f} (paper 70), X_trbIO {x_thread:.0f} (10), a step of {step:.3g} s and 5% slower steps as there", low=0.67, high=1.5)
    order = all(raw("Jaguar", np, "coio:64") < raw("Jaguar", np, "rbio:64") for np in counts)
    page.fact("Jaguar: coIO 64 : 1 is slower than rbIO 64 : 1, at every scale", "yes", "yes" if order else "no", order)
    for machine in runs:
        order = all(raw(machine, np, "coio:1000000") < raw(machine, np, "coio:64") < perceived(machine, np) for np in counts)
        page.fact(f"{machine}: one file < 64 : 1 < perceived, at every scale", "yes", "yes" if order else "no", order)


# ---- 003 and 004 ---------------------------------------------------------------------------------------------------

def discovery(sim, page):
    page.say("""
## 003: local against global storage (table 1: 256 ranks, mean seconds of a write)

16 nodes of 16 ranks; a rank's own storage takes 1.33 GB/s, the global one 26 GB/s in all: both fitted to the last row.""")
    flat = "--nodes 16 --ranks-per-node 16 --engines sago --hint sago_strategy=direct"
    table = {64: (0.094, 0.048), 128: (0.262, 0.096), 256: (1.474, 0.193), 512: (5.053, 0.385)}
    local = sim.all({m: f"contiguous --bytes {m}M {flat} --cost writer=1.395e9 --cost memory=1e12" for m in table})
    shared = sim.all({m: f"contiguous --bytes {m}M {flat} --stripe-unit 8M --stripe-count 1 --cost target_write=2.72e10 --cost writer=1e12"
                      for m in table})
    page.table()
    for m, (pfs, own) in table.items():
        page.point(f"{m} MB a rank, local, seconds", own, local[m]["sago"]["seconds"], fitted=m == 512)
        page.point(f"{m} MB a rank, global, seconds", pfs, shared[m]["sago"]["seconds"], fitted=m == 512,
                   note="" if m == 512 else "Caches of clients and servers take what is small (64 MB of each of 256 ranks in 0.094 s are 183 GB/s, seven times what the last "
                   "row gives). They are not simulated.")
    good = all(local[m]["sago"]["seconds"] < shared[m]["sago"]["seconds"] for m in table)
    page.fact("local is faster at every size", "yes", "yes" if good else "no", good)
    page.say("""
The cost of discovery over ranks is in figures of which the text has no numbers, so there is no ratio. Counted: the operations of each way on a
directory that all ranks share (16 ranks a node; `tests/mpi/test_storage.c` counts them), one after another at a metadata server that does 2,000 a
second (`open` below). The ranks' opening of the directory is the same in each and left out; a list is one operation, however long it is.

| ranks | exhaustive: operations, s | Sago's own (auto) | heuristic |
|---|---|---|---|""" + "".join(discovery_row(ranks, ranks // 16) for ranks in (256, 1024, 4096, 16384)) + """

Exhaustive: two creations, a list and a removal of each rank, and one removal more. auto: one creation, a look of each other node, a removal. Heuristic:
a creation, a look and a removal, and its answer may be wrong.""")


def discovery_row(ranks, nodes):
    def cell(operations):
        return f"{operations:,}, {operations * 5e-4:.3g}"
    return f"\n| {ranks:,} | {cell(4 * ranks + 1)} | {cell(nodes + 1)} | {cell(3)} |"


def memory(sim, page):
    page.say("""
## 004: memory-conscious collective I/O (nodes of 12 ranks)

Normal: two-phase with a fixed buffer of the mean, one aggregator a node. Memory-conscious: Sago, told only to aggregate by at most four
ranks a node (the paper's N_ah); the buffer of each of these is drawn from a normal distribution around that mean with a standard deviation
of 50 MB ("the memory buffer sizes for processes were set up as random variables"), and none is less than nothing. What either needs beside
its buffers (lists, messages, staging; Sago's reserve) is there on every node. Files have stripes of 1 MiB over all servers, as there. Sago sees
them; the paper's MPICH2 1.0.5 did not, so where its windows begin is drawn: how many servers there were is not known, and with the sixteen
that are assumed all of its aggregators would begin at one of them. coll_perf on 120 cores, the others on 1,080, two of them on 120, too.

A request keeps a server's disks busy for a seek beside its bytes (`seek`, fitted to IOR with 2 MB), however many processes ask. Before, each
call cost the process that made it 0.3 s, so that four times as many processes made four times as many calls: that was why coll_perf's gains came out
at 290%.""")
    setting = "--machine machines/xeon-ddr.sago --ranks-per-node 12"
    ior, test = "interleaved --block 1M --transfer 1M --segments 32", "mpi-io-test --block 1M --blocks 32"
    patterns = {"IOR": f"{ior} --nodes 90", "coll_perf": "block3d --dims 2048x2048x1024 --nodes 10",
                "FLASH": "flash --blocks 80 --side 16 --variables 24 --nodes 90", "MPI-IO-test": f"{test} --nodes 90"}
    small = {"IOR, 120 cores": f"{ior} --nodes 10", "MPI-IO-test, 120 cores": f"{test} --nodes 10"}

    def simulate(patterns, deviation):
        def words(p, d, m):
            return (f"{patterns[p]} {setting} --stripe-unit 1M --stripe-count 16 --buffer {m}M --memory {m}M --memory-beside 8M "
                    f"--memory-sd {deviation(m)}M --memory-draws 4 --declared off --always{' --read' if d == 'read' else ''}")
        cells = [(p, d, m) for p in patterns for d in ("write", "read") for m in BUFFERS]
        normal = sim.all({c: words(*c) + " --unseen-stripes --engines two-phase" for c in cells})
        conscious = sim.all({c: words(*c) + " --hint sago_strategy=aggregated --hint sago_aggregators_per_node=4 --engines sago"
                             for c in cells})
        return {c: {**normal[c], **conscious[c]} for c in cells}

    runs, narrow = simulate({**patterns, **small}, lambda m: 50), simulate(patterns, lambda m: m // 2)
    for p in patterns:
        cores = "120" if p == "coll_perf" else "1,080"
        page.chart(f"memory-{p.lower()}", f"{p}: {cores} ranks, memory drawn", "MB of buffer", "MB/s", [str(m) for m in reversed(BUFFERS)],
                   {f"{label} {d}": [1e3 * gbs(runs[p, d, m][e]) for m in reversed(BUFFERS)]
                    for e, label in (("two-phase", "normal"), ("sago", "sago")) for d in ("write", "read")})
    page.table()
    few = sim.all({m: f"interleaved --block 1M --transfer 1M --segments 16 --nodes 10 {setting} --stripe-unit 1M --stripe-count 16 "
                      f"--buffer {m}M --declared off --always --unseen-stripes --engines two-phase" for m in (2, 128)})
    lost = 100 * (1 - few[128]["two-phase"]["seconds"] / few[2]["two-phase"]["seconds"])
    page.point("120 cores, normal, 16 MB a process: throughput that a write loses from 128 to 2 MB, %", 60.8, lost,
               "figure 2, a benchmark of its own; interleaved here")
    normal_side(page, runs)
    gains(page, runs, narrow)
    striped(sim, page, patterns, setting)


BUFFERS = (2, 4, 8, 16, 32, 64, 128)


def normal_side(page, runs):
    """What the paper says of collective I/O as it was."""
    def rate(p, d, m):
        return 1e3 * gbs(runs[p, d, m]["two-phase"])
    page.point("IOR, normal, write with 128 MB, MB/s", 1631.91, rate("IOR", "write", 128), "target_write is fitted to it", True)
    page.point("IOR, normal, write with 2 MB, MB/s", 396.36, rate("IOR", "write", 2), "seek is fitted to it", True)
    page.point("IOR, normal, read with 128 MB, MB/s", 2047.05, rate("IOR", "read", 128), "target_read is fitted to it", True)
    page.point("IOR, normal, read with 2 MB, MB/s", 861.62, rate("IOR", "read", 2),
               "a request keeps a server as long whether it writes or reads; the paper's servers read ahead, which is not simulated")
    page.point("MPI-IO-test, normal, write at its best, MB/s", 571.43, max(rate("MPI-IO-test", "write", m) for m in BUFFERS))
    page.point("FLASH, normal, write at its best, MB/s", 935.36, max(rate("FLASH", "write", m) for m in BUFFERS))
    best = [max(rate("coll_perf", d, m) for m in BUFFERS) for d in ("write", "read")]
    page.fact("coll_perf, normal, write and read at their best, MB/s", "at most 800 (where its figure ends)", f"{best[0]:.0f} and {best[1]:.0f}",
              max(best) <= 800, "Nothing limits a node or a process here: no text says what did there.")
    shares = [100 * e["store"] / e["seconds"] for e in (runs["FLASH", "write", m]["two-phase"] for m in BUFFERS)]
    page.fact("FLASH, normal: share of file access in the time, %", "17 to 30", f"{min(shares):.0f} to {max(shares):.0f}",
              min(shares) >= 8.5 and max(shares) <= 60,
              "Nearly all of the paper's time passes in the exchange, here in the storage, to which the three fitted costs belong. What made "
              "exchanges of 1,080 processes slow (MPICH2 1.0.5 has no InfiniBand, so it used sockets) the text does not say.")


def gains(page, runs, narrow):
    paper = {("coll_perf", "write"): 34.2, ("coll_perf", "read"): 22.9, ("IOR", "write"): 24.3, ("IOR", "read"): 57.8,
             ("MPI-IO-test", "write"): 29.8, ("MPI-IO-test", "read"): 24.1, ("FLASH", "write"): 31.1,
             ("IOR, 120 cores", "write"): 81.2, ("IOR, 120 cores", "read"): 82.4,
             ("MPI-IO-test, 120 cores", "write"): 14.6, ("MPI-IO-test, 120 cores", "read"): 32.9}

    def percent(runs, p, d):
        return [100 * (runs[p, d, m]["two-phase"]["seconds"] / runs[p, d, m]["sago"]["seconds"] - 1) for m in BUFFERS]
    for (p, d), asked in paper.items():
        found, half = percent(runs, p, d), percent(narrow, p, d) if (p, d, 2) in narrow else []
        page.point(f"{p}, {d}: mean gain over the buffers, %", asked, sum(found) / len(found),
                   "from 2 to 128 MB: " + ", ".join(f"{g:.0f}" for g in found)
                   + (f"; with a deviation of half the mean: {sum(half) / len(half):.0f}" if half else ""))
    over = {k: e["two-phase"]["seconds"] / e["sago"]["seconds"] for k, e in runs.items() if k[0] != "FLASH" or k[1] == "write"}
    behind = [f"{p}, {d} with {m} MB ({over[p, d, m]:.3f})" for p, d, m in over if over[p, d, m] < 0.999]
    page.fact("memory-conscious is no slower (0.1%), of all cells", f"{len(over)} of {len(over)}", f"{len(over) - len(behind)} of {len(over)}",
              not behind, "behind: " + "; ".join(behind) if behind else "")
    page.say("""
Gains beyond the paper's have two causes. Sago sees stripes, so that its aggregators do not meet at a server, as those of the normal side do by chance: that is
all of MPI-IO-test's gain, whose calls have 12 MB for each aggregator however large the buffers are. And draws around a small mean, none below nothing,
give a node several times the mean: with 50 MB around 2 MB half of them are nothing, and the others 40 MB on the average. With a deviation of half the mean, which
leaves the mean as it is, gains are those at the end of each row. The text gives 50 without a unit.

What the two numbers of cores show: with IOR the paper's gains fall from 81% with 120 to 24% with 1,080 (writing), the simulated ones rise. So something that is
not simulated limits the paper's normal side on few nodes, where four aggregators a node help (coll_perf is twice as fast here
as its figure is high), and something else takes the time of both sides on many (the exchange, by FLASH's shares). The text has no number for either.""")


def striped(sim, page, patterns, setting):
    """The same with the stripes that the paper's files had, and nothing hinted."""
    def words(p, d, m, engines):
        return (f"{patterns[p]} {setting} --buffer {m}M --memory {m}M --memory-beside 8M --memory-sd 50M --memory-draws 4 --stripe-unit 1M "
                f"--stripe-count 16 --declared off --always --engines {engines}{' --read' if d == 'read' else ''}")
    cells = [(p, d, m) for p in patterns for d in ("write", "read") for m in (2, 8, 32, 128)]
    plain = sim.all({c: words(*c, "two-phase --unseen-stripes") for c in cells})
    by_stripe = sim.all({c: words(*c, "two-phase,sago") for c in cells})
    over = {c: plain[c]["two-phase"]["seconds"] / by_stripe[c]["sago"]["seconds"] for c in cells}
    slower = [by_stripe[c]["two-phase"]["seconds"] / by_stripe[c]["sago"]["seconds"] for c in cells]
    behind = [c for c in cells if over[c] < 0.995]
    page.say(f"""
With stripes of 1 MiB over 16 servers, nothing hinted (2, 8, 32 and 128 MB, four benchmarks, both directions, `--stripe-unit 1M --stripe-count 16`), Sago is ahead in
{sum(s > 1 for s in slower)} of {len(cells)} cells of a two-phase that writes stripe by stripe, as ROMIO does on Lustre ({min(slower):.2g} to {max(slower):.2g} times). Of a two-phase that does not know of
stripes (`--unseen-stripes`, as above) it is ahead, or no more than half a per cent behind, in {len(cells) - len(behind)} of them (at most {max(over.values()):.2g} times). Behind: {", ".join(f"{p} {d} with {m} MB ({over[p, d, m]:.2f})" for p, d, m in behind) or "none"}.
Sago keeps two windows, messages and staging in the memory that it has, while the other has a whole buffer for one window and what it sends from is not counted.""")


# ---- Main ----------------------------------------------------------------------------------------------------------

def costs_table(sim):
    return subprocess.run([sim.path, "--costs"], stdout=subprocess.PIPE, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sim", required=True, help="sago-sim")
    parser.add_argument("--out", default="docs")
    parser.add_argument("--only", default="tam,tapioca,rbio,discovery,memory")
    parser.add_argument("--under", default="", help="start each simulation with this command before it, e.g. 'nice -n 15'")
    options = parser.parse_args()
    sim, page = Simulator(options.sim, options.under), Page(options.out)
    parts = {"tam": tam, "tapioca": tapioca, "rbio": rbio, "discovery": discovery, "memory": memory}
    for name in options.only.split(","):
        parts[name](sim, page)
    reached = sum(page.rows)
    missing = [name for name in parts if name not in options.only.split(",")]
    left_out = f"\n\n**Left out when this page was made** (`--only {options.only}`): {', '.join(missing)}." if missing else ""
    head = f"""# The papers' results, simulated

Made by `make papers` (sim/papers.py): Sago's planner and the papers' own methods carried out by `sago sim` on descriptions of
their machines. How well the simulator predicts what can be measured is in [sim-validation.md](sim-validation.md).
What of the papers is in Sago, and which test shows it, is in [papers-rows.md](papers-rows.md).

`reached`: the simulated value is between half and twice the paper's, or as near as the row says (raw and perceived bandwidths of 002 within
50%). Points that a cost was fitted to are marked `fitted` and are not evidence. What is missed is shown as missed.
{reached} of {len(page.rows)} points that nothing was fitted to are reached.{left_out}"""
    tail = "\n\n## Costs beside bandwidth\n\nThe same for all engines of a machine; `sago sim --costs` prints this table.\n\n" + costs_table(sim)
    with open(os.path.join(options.out, "papers.md"), "w", encoding="utf-8") as file:
        file.write(head + "\n" + "\n".join(page.parts) + tail)
    print(f"{options.out}/papers.md: {reached} of {len(page.rows)} points reached")


if __name__ == "__main__":
    main()
