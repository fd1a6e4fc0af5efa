#!/usr/bin/env python3
"""Long campaigns of tests that can be stopped and resumed.

    campaign.py run [NAME...] [--minutes M] [--state FILE]
    campaign.py summary [--state FILE]
    campaign.py list

A campaign is many runs of one kind: seeds of a random test, seconds of a fuzz target, or each of the long tests.  What
was done is written down after each piece of work with the commit that it was done with, so an interruption costs one
piece.  Seeds go on where they ended, whatever the commit: the summary counts them by commit.  Long tests count for the
code that they ran with, and begin anew when it has changed.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MPIS = ("mpich", "openmpi")
CODE = ("src", "include", "dropin", "bindings", "tools", "bench", "tests", "cmake", "CMakeLists.txt")
LAST_LINES = 40  # of the output of a failure that are kept


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def this_commit():
    changed = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "--short=12", "HEAD") + ("+changes" if changed else "")


def this_code():
    """What the tests depend on: a commit that changes documents only changes nothing here."""
    return git("rev-parse", *(f"HEAD:{path}" for path in CODE)).replace("\n", " ")


def tree(mpi):
    return os.path.join(ROOT, "build", mpi)


def environment(mpi):
    return dict(os.environ, SAGO_SOURCE=ROOT, SAGO_BUILD=tree(mpi), SAGO_MPI=mpi)


class Work:
    """One piece of a campaign: a command, the units it does (seeds, seconds, tests), and what to call it."""

    def __init__(self, command, units, label, mpi, limit):
        self.command, self.units, self.label, self.mpi, self.limit = command, units, label, mpi, limit


class Seeds:
    """A program that takes a number of seeds and the first of them, with varying ranks and settings."""

    unit = "seeds"

    def __init__(self, name, goal, piece, variants, command):
        self.name, self.goal, self.piece, self.variants, self.command = name, goal, piece, variants, command

    def next(self, record):
        """The next piece of work, or None when the goal is reached."""
        first = record["next"]
        if sum(done["units"] for done in record["done"].values()) >= self.goal:
            return None
        turn = first // self.piece
        mpi = MPIS[turn % len(MPIS)]
        variant = self.variants[turn // len(MPIS) % len(self.variants)]
        ranks = str(variant[0])
        words = [os.path.join(ROOT, "tests/run-mpi.sh"), "-t", "1800", ranks]
        words += self.command(mpi, self.piece, first + 1) + list(variant[1:])
        record["next"] = first + self.piece
        label = f"{mpi}, {ranks} ranks, seeds {first + 1} to {first + self.piece} {' '.join(variant[1:])}"
        return Work(words, self.piece, label, mpi, 2000)


class Fuzz:
    """A libFuzzer target, by the second; what it finds to be new stays in the build tree and is used again."""

    unit = "seconds"
    piece = 300

    def __init__(self, target, goal):
        self.name, self.target, self.goal = f"fuzz-{target}", target, goal

    def next(self, record):
        if sum(done["units"] for done in record["done"].values()) >= self.goal:
            return None
        words = ["env", f"FUZZ={self.target}", f"FUZZ_SECONDS={self.piece}",
                 os.path.join(ROOT, "tests/fuzz/run.sh"), os.path.join(ROOT, "build/mpich-clang-fuzz")]
        return Work(words, self.piece, self.target, "mpich", self.piece + 300)


class LongTests:
    """Every test of `make check-long`, once with the code as it is."""

    unit = "tests"

    def __init__(self, name):
        self.name = name
        self.goal = "all"

    @staticmethod
    def names(mpi):
        listed = subprocess.run(["ctest", "--test-dir", tree(mpi), "-N", "-C", "long", "-L", "long"],
                                capture_output=True, text=True, check=False).stdout
        return re.findall(r"Test +#\d+: (\S+)", listed)

    def next(self, record):
        if record.get("code") != this_code():
            record.update(code=this_code(), tests=[])
        for mpi in MPIS:
            for test in self.names(mpi):
                if f"{mpi} {test}" in record["tests"]:
                    continue
                record["tests"].append(f"{mpi} {test}")
                words = ["ctest", "--test-dir", tree(mpi), "-C", "long", "-L", "long", "--output-on-failure",
                         "--no-tests=error", "-R", f"^{re.escape(test)}$"]
                return Work(words, 1, f"{mpi} {test}", mpi, 4000)
        return None


def mpi_program(name):
    return lambda mpi, count, first: [os.path.join(tree(mpi), "tests/mpi", name), "--seeds", str(count), "--first",
                                      str(first)]


def dropin_program(mpi, count, first):
    preload = os.path.join(tree(mpi), "lib/libsago-mpiio.so")
    if mpi == "mpich":
        preload += ":" + os.path.join(tree(mpi), "lib/libsago_mpich_yield.so")
    return ["/usr/bin/env", "SAGO_TEST_DROPIN=1", "SAGO_STATS=json:stats.json", f"LD_PRELOAD={preload}",
            os.path.join(tree(mpi), "tests/dropin/test_random"), str(count), str(first)]


def fuzz_targets():
    found = (re.fullmatch(r"fuzz_(\w+)\.c", name) for name in sorted(os.listdir(os.path.join(ROOT, "tests/fuzz"))))
    return [match.group(1) for match in found if match]


NODES = ("--node-ranks", "1", "sago_strategy=aggregated")
PAIRS = ("--node-ranks", "2", "sago_strategy=aggregated")
CAMPAIGNS = [
    Seeds("oracle", 100000, 200,
          [(2,), (3,), (4,), (1,), (4, *NODES), (6, *PAIRS), (4, "--subfiles"), (6,),
           (6, *PAIRS, "--switch-nodes", "2", "sago_layers=3"), (4, *NODES, "sago_move=rma")], mpi_program("test_oracle")),
    Seeds("nonblocking", 20000, 200, [(2,), (3,), (4,), (6,)], mpi_program("test_started")),
    Seeds("dropin", 100000, 200, [(2,), (4,), (1,), (3,), (7,)], dropin_program),
    LongTests("long"),
    *(Fuzz(target, 3600) for target in fuzz_targets()),
]


class State:
    """What was done, in one file that is replaced as a whole."""

    def __init__(self, path):
        self.path = path
        self.records = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.records = json.load(file)

    def record(self, name):
        return self.records.setdefault(name, {"next": 0, "done": {}, "failures": []})

    def save(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.records, file, indent=1)
        os.replace(self.path + ".new", self.path)


def run_one(work):
    """"passed", "skipped" or "failed", and the output.  The whole group of processes ends with an interruption."""
    child = subprocess.Popen(work.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                             text=True, errors="replace", env=environment(work.mpi), start_new_session=True)
    try:
        output, _ = child.communicate(timeout=work.limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return "failed", f"{child.communicate()[0]}\nnot done after {work.limit} s"
    except BaseException:
        os.killpg(child.pid, signal.SIGTERM)
        child.wait()
        raise
    if child.returncode == 77 or "***Skipped" in output:
        return "skipped", output
    if child.returncode == 0:
        return "passed", output
    return "failed", f"{output}\nexit status {child.returncode}"


def count(record, work, seconds, result, output):
    done = record["done"].setdefault(this_commit(), {"units": 0, "seconds": 0})
    done["units"] += work.units if result != "skipped" else 0
    done["seconds"] += round(seconds)
    if result == "failed":
        tail = "\n".join(output.splitlines()[-LAST_LINES:])
        record["failures"].append({"commit": this_commit(), "what": work.label, "output": tail})


def run_campaign(campaign, state, end):
    record = state.record(campaign.name)
    while time.time() < end:
        before = json.dumps(record)
        work = campaign.next(record)
        if not work:
            return
        start = time.time()
        try:
            result, output = run_one(work)
        except BaseException:
            state.records[campaign.name] = json.loads(before)
            state.save()
            raise
        count(record, work, time.time() - start, result, output)
        state.save()
        print(f"{campaign.name}: {work.label}: {result}, {time.time() - start:.0f} s", flush=True)
        if result == "failed":
            print(output, flush=True)


def summarise(state):
    """True if nothing failed."""
    failures = 0
    for campaign in CAMPAIGNS:
        record = state.records.get(campaign.name)
        if not record:
            print(f"{campaign.name:16} not begun (of {campaign.goal} {campaign.unit})")
            continue
        units = sum(done["units"] for done in record["done"].values())
        hours = sum(done["seconds"] for done in record["done"].values()) / 3600
        failures += len(record["failures"])
        print(f"{campaign.name:16} {units} of {campaign.goal} {campaign.unit}, {hours:.2f} hours, "
              f"{len(record['failures'])} failures")
        for commit, done in record["done"].items():
            print(f"    {commit}: {done['units']} {campaign.unit}, {done['seconds'] / 3600:.2f} hours")
        for failure in record["failures"]:
            print(f"    FAILED {failure['commit']}: {failure['what']}")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "summary", "list"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="campaigns; all of them by default")
    parser.add_argument("--minutes", type=float, default=24 * 60, help="stop after so long (default: a day)")
    parser.add_argument("--state", default=os.path.join(ROOT, "build/campaign/state.json"))
    arguments = parser.parse_args()
    known = {campaign.name: campaign for campaign in CAMPAIGNS}
    for name in arguments.names:
        if name not in known:
            parser.error(f"no campaign is called '{name}'; there are: {' '.join(known)}")
    if arguments.what == "list":
        print("\n".join(f"{campaign.name:16} {campaign.goal} {campaign.unit}" for campaign in CAMPAIGNS))
        return 0
    state = State(arguments.state)
    if arguments.what == "run":
        end = time.time() + arguments.minutes * 60
        try:
            for name in arguments.names or known:
                run_campaign(known[name], state, end)
        except KeyboardInterrupt:
            print("interrupted; the next run goes on from here")
    return 0 if summarise(state) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
