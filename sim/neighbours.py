#!/usr/bin/env python3
"""neighbours.py: the planner judged by the simulator, as docs/planner-neighbours.md.

For each machine and pattern: the plan that Sago makes, and the plans that differ from it in one decision (strategy, number of
aggregators, local aggregators, window, layers, placement), all of them simulated.  Where one of those is at least 10% faster, the
planner was wrong there.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess

MACHINES = {
    "theta": "--machine machines/theta.sago --nodes 64 --ranks-per-node 16 --stripe-unit 1M --stripe-count 56",
    "theta, stripes of 16 MiB": "--machine machines/theta.sago --nodes 64 --ranks-per-node 16 --stripe-unit 16M --stripe-count 48",
    "theta, 64 ranks a node": "--machine machines/theta.sago --nodes 16 --ranks-per-node 64 --stripe-unit 1M --stripe-count 56",
    "mira": "--machine machines/mira-1024.sago --nodes 128 --ranks-per-node 16",
    "jaguar": "--machine machines/jaguar.sago --nodes 100 --ranks-per-node 9 --stripe-unit 1M --stripe-count 64",
    "xeon-ddr": "--machine machines/xeon-ddr.sago --nodes 75 --ranks-per-node 12 --stripe-unit 1M --stripe-count 16",
    # A cluster that nobody has described, as vcluster --storage linked:4 makes one: 1 Gbit/s, storage behind four links, in a job
    # that has gathered three times, so that its ranks know the network's pace.
    "cluster": "--pace 117M --nodes 16 --ranks-per-node 4 --memory 1G --level 0=125e6/1e-4 --stripe-unit 1M --stripe-count 4 --costs cluster "
               "--cost target_write=117e6 --cost target_read=117e6 --cost call=1e-4 --cost lock=1e-3",
}
PATTERNS = {
    "block3d": "block3d --dims 320",
    "s3d": "s3d --dims 160",
    "btio": "btio --dims 160",
    "e3sm-f": "e3sm-f --runs 300 --times 8",
    "e3sm-g": "e3sm-g --cells 8",
    "hacc-aos": "hacc-aos --particles 25000",
    "hacc-soa": "hacc-soa --particles 25000",
    "flash": "flash --blocks 10",
    "checkerboard": "checkerboard",
    "contiguous": "contiguous --bytes 1M",
    "interleaved": "interleaved --block 64K --transfer 64K --segments 16",
}


def simulate(sim, words, kept):
    """What was simulated before is in `kept`, as long as the simulator and the machines are the same."""
    name = os.path.join(kept, hashlib.sha256(words.encode()).hexdigest()[:24] + ".json")
    if os.path.exists(name):
        with open(name, encoding="utf-8") as file:
            return json.load(file)["engines"]
    done = subprocess.run([*sim, *words.split(), "--neighbours", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return done.stderr.splitlines()[0]
    with open(name + ".new", "w", encoding="utf-8") as file:
        file.write(done.stdout)
    os.rename(name + ".new", name)
    return json.loads(done.stdout)["engines"]


def row(machine, pattern, read, engines):
    """(the line of the table, seconds over the best neighbour's)"""
    own, others = engines[0], engines[1:]
    best = min(others, key=lambda e: e["seconds"]) if others else own
    ratio = own["seconds"] / best["seconds"]
    mark = "" if ratio <= 1.1 else best["engine"]
    return (f"| {machine} | {pattern} | {'read' if read else 'write'} | {own['plan']} | {own['seconds']:.4g} | {best['seconds']:.4g} | "
            f"{ratio:.2f} | {mark} |", ratio)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sim", required=True, help="sago-sim")
    parser.add_argument("--out", default="docs/planner-neighbours.md")
    parser.add_argument("--under", default="", help="start each simulation with this command before it, e.g. 'nice -n 15'")
    options = parser.parse_args()
    sim = [*options.under.split(), options.sim]
    known = b""
    for name in (options.sim, *sorted(os.path.join("machines", m) for m in os.listdir("machines"))):
        with open(name, "rb") as file:
            known += file.read()
    kept = os.path.join(os.path.dirname(options.sim), "..", "neighbours", hashlib.sha256(known).hexdigest()[:16])
    os.makedirs(kept, exist_ok=True)
    pairs = [(m, p, read) for m in MACHINES for p in PATTERNS for read in (False, True)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda x: simulate(sim, f"{PATTERNS[x[1]]} {MACHINES[x[0]]}{' --read' if x[2] else ''}", kept), pairs))
    rows, ratios, left_out = [], [], []
    for (machine, pattern, read), engines in zip(pairs, results):
        if isinstance(engines, str):
            left_out.append(f"{pattern} on {machine}: {engines}")
            continue
        line, ratio = row(machine, pattern, read, engines)
        rows.append(line)
        ratios.append(ratio)
    good = sum(r <= 1.1 for r in ratios)
    text = f"""# The planner judged by the simulator

Made by `sim/neighbours.py` (`make neighbours`). For each machine and pattern the plan that Sago makes is simulated beside all plans that
differ from it in one decision: strategy, number of aggregators (half, twice), local aggregators (half, twice), window (half, twice),
layers, placement. The last column names the neighbour that is more than 10% faster, if there is one: there the planner's model is wrong,
or knows less than the simulator does.

What the rows that miss have in common: *reads of many short runs on Theta* (e3sm, btio: aggregators that have more than their share of
runs are not seen in sums over nodes); *reads of long runs on Theta* (hacc-soa: a window has data of two nodes, and the model takes all
nodes whose range has the window for senders, so that it does not see how unevenly so few flows meet on the links between switches: 1.3 ms
for the exchange, simulated 3.8); *windows of half a GPFS block* (Mira, writes: domains end at blocks, which are the unit of locks,
by rule); and *the cluster that nobody has
described*, where the planner knows stripes and, from earlier calls, the network's pace, but not what a request takes (checkerboard, e3sm).
One window for each aggregator, all equally long, was tried on xeon-ddr, whose disks seek for every request, and left out: reads became 4%
faster in all and writes 3% slower, since windows that differ in length reach the storage one after another.

Aggregators for each storage target: the paper (000) used 2, 4 and 8 on 512, 1,024 and 2,048 nodes of Theta; the planner takes as many
as keep targets busy. The simulator agrees with the planner (docs/papers.md: times fall up to 16), and both with the paper's own 10 GB/s
of IOR with two processes for each of 48 OSTs, 104 MB/s each: a process, not an OST, is what limits there.

Locks between aggregators of one target are counted by both (sim/locks.h): Lustre's server gives a node all that the target has of the file from
where it writes on, up to what others have (as its lock manager's source says). So several aggregators of a target that take its stripes in turn
wait for each other in every round, and the planner does not let them: it cuts the file into sections, in each of which a target is one aggregator's.
Then each waits once, when it comes. An earlier attempt, which put all aggregators of a target on one node, had 118 to 133 of 152: a
node's link and memory then carry what a whole target takes.

Going alone, nodes that write parts of a stripe wait for the lock of its storage target one after another, and each for what is under way
there; how long one waits was measured on the virtual cluster (twice what giving a lock up takes). Nodes whose data is whole stripes in one piece
wait once, too. So HACC-IO is gathered on Theta with the paper's settings, although each rank has one run.

**Within 10% of the best neighbour: {good} of {len(ratios)} ({100 * good / max(1, len(ratios)):.0f}%).**

| machine | pattern | direction | plan | seconds | best neighbour's | ratio | which |
|---|---|---|---|---|---|---|---|
""" + "\n".join(rows) + "\n"
    if left_out:
        text += "\nLeft out, since the pattern or the plan does not fit: " + "; ".join(sorted(set(left_out))) + ".\n"
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{options.out}: {good} of {len(ratios)} within 10%")


if __name__ == "__main__":
    main()
