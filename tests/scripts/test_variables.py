#!/usr/bin/env python3
"""Every variable SAGO_* that is wrong is said once, by rank 0: the hints' from the table, the others' from docs/variables.md."""
import json
import os
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE, MPI = (os.environ["SAGO_" + name] for name in ("BUILD", "SOURCE", "MPI"))
SAGO = os.path.join(BUILD, "bin", "sago")
NATIVE = os.path.join(BUILD, "bin", "examples", "write_view")
PLAIN = os.path.join(BUILD, "tests", "dropin", "test_status")
SANITIZE = os.environ.get("SAGO_SANITIZE")
PRELOAD = os.path.join(BUILD, "lib", "libsago-mpiio.so")
NOWHERE = "/nonexistent/place"

# What is wrong for variables whose values are no numbers or words; those that libsago does not read have tests elsewhere.
PATHS = {"sago_site", "sago_machine", "sago_local_dirs", "sago_ckpt_stats"}
OTHERS = {"SAGO_STATS": "loud", "SAGO_REPORT": NOWHERE, "SAGO_TRACE": NOWHERE, "SAGO_DISABLE": "maybe"}
ELSEWHERE = {"SAGO_LIBRARY", "SAGO_PYTHON"}

failures = []
scratch = None


def launch(program, variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith("SAGO_")}
    env.update(variables)
    options = ["--oversubscribe"] if MPI == "openmpi" else []
    # With a sanitizer the program is linked with the drop-in: the sanitizer insists on coming before what is preloaded.
    preload = ["env", "LD_PRELOAD=" + PRELOAD] if program[0] == PLAIN and not SANITIZE else []
    return subprocess.run([os.environ["SAGO_MPIEXEC"], *options, "-n", "2", *preload, *program],
                          env=env, cwd=scratch, capture_output=True, text=True, timeout=60)


def check(said, why):
    if not said:
        failures.append(why)


def said_of(variable, stderr):
    return [line for line in stderr.splitlines() if line.startswith("sago: ") and re.search(rf"\b{variable}\b", line)]


def wrong_values():
    rows = json.loads(subprocess.run([SAGO, "hints", "--json"], capture_output=True, text=True, check=True).stdout)
    names = [row["name"] for row in rows if row["name"].startswith("sago_")]
    check(len(names) > 50, f"the table has {len(names)} hints")
    return {name.upper(): NOWHERE if name in PATHS else "no such value" for name in names}


def main():
    global scratch
    with tempfile.TemporaryDirectory() as folder:
        scratch = folder
        native = [NATIVE, os.path.join(folder, "out")]
        hints = wrong_values()

        # All hints at once: each is said, once.
        ran = launch(native, hints)
        for variable, value in hints.items():
            lines = said_of(variable, ran.stderr)
            check(len(lines) == 1 and value in lines[0], f"{variable}={value}: said {lines}")

        # Paths one by one, since the others' values keep files from being opened: what is not needed costs nothing.
        for variable, costs in (("SAGO_LOCAL_DIRS", False), ("SAGO_CKPT_STATS", False), ("SAGO_SITE", True), ("SAGO_MACHINE", True)):
            ran = launch(native, {variable: NOWHERE})
            lines = said_of(variable, ran.stderr)
            check(len([line for line in lines if line.startswith("sago: environment variable")]) == 1, f"{variable}: said {lines}")
            check("No such file" in ran.stderr, f"{variable}: no reason: {ran.stderr}")
            check((ran.returncode != 0) == costs, f"{variable}: exit status {ran.returncode}: {ran.stderr}")
        ran = launch(native, {"SAGO_LOCAL_DIRS": f"{folder}:{NOWHERE}"})
        check(len(said_of("SAGO_LOCAL_DIRS", ran.stderr)) == 1 and NOWHERE in ran.stderr, f"one directory of two: {ran.stderr}")
        good = {"SAGO_LOCAL_DIRS": folder, "SAGO_CKPT_STATS": f"{folder}/stats", "SAGO_SITE": "none", "SAGO_MACHINE": "none",
                "SAGO_DISABLE": "off", "SAGO_MEMORY_KIND": "capacity", "SAGO_SUBFILES": "auto"}
        ran = launch(native, good)
        check(not ran.stderr and ran.returncode == 0, f"right values: {ran.stderr}")
        check(not os.path.exists(f"{folder}/stats"), "looking made a file")

        # Those that are no hints; the page has them all.
        with open(os.path.join(SOURCE, "docs", "variables.md"), encoding="utf-8") as page:
            listed = set(re.findall(r"^\| `(SAGO_\w+)` \|", page.read(), flags=re.M))
        check(listed == set(OTHERS) | ELSEWHERE, f"docs/variables.md: {listed ^ (set(OTHERS) | ELSEWHERE)}")
        for variable, value in OTHERS.items():
            for program in native, [PLAIN]:
                ran = launch(program, {variable: value})
                lines = said_of(variable, ran.stderr)
                check(len(lines) == 1 and value in lines[0], f"{variable}={value}, {program[0]}: said {ran.stderr!r}")
                check(ran.returncode == 0, f"{variable}={value}: exit status {ran.returncode}")

        # One that cannot be written does not cost the other.
        for good, bad in ("SAGO_REPORT", "SAGO_TRACE"), ("SAGO_TRACE", "SAGO_REPORT"):
            ran = launch(native, {good: f"{folder}/{good}", bad: NOWHERE})
            check(os.path.exists(f"{folder}/{good}") and os.path.getsize(f"{folder}/{good}") > 0, f"{bad} cost {good}")
            check(len(ran.stderr.splitlines()) == 1, f"{good}, {bad}: said {ran.stderr!r}")

        # Names: a letter too few.
        for variable in list(hints) + list(OTHERS) + ["SAGO_LIBRARY"]:
            if len(variable) < 11:
                continue
            ran = subprocess.run([SAGO, "info"], env={**os.environ, variable[:-2] + variable[-1]: "1"}, capture_output=True, text=True)
            check("did you mean SAGO_" in ran.stdout, f"{variable[:-2] + variable[-1]}: not said")
    print("\n".join(failures) if failures else f"{len(hints) + len(OTHERS)} variables")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
