#!/usr/bin/env python3
# RUN: timeout=240
"""docs/tutorial.md, from beginning to end: its programs are written to files, its commands are run, with Sago installed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["SAGO_SOURCE"], os.environ["SAGO_BUILD"]
MPI, MPICC, MPIEXEC = os.environ["SAGO_MPI"], os.environ["SAGO_MPICC"], os.environ["SAGO_MPIEXEC"]
LAUNCH = f"{MPIEXEC} --oversubscribe --bind-to none --mca mpi_yield_when_idle 1" if MPI == "openmpi" else MPIEXEC


def command(folder, name, line):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {line} "$@"\n')
    os.chmod(path, 0o755)


def main(scratch):
    prefix, tools, work = (os.path.join(scratch, name) for name in ("prefix", "bin", "work"))
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    os.mkdir(tools)
    os.mkdir(work)
    command(tools, "mpicc", MPICC)
    command(tools, "mpiexec", LAUNCH)
    environment = dict(os.environ, PATH=f"{tools}:{prefix}/bin:{os.environ['PATH']}", PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    with open(os.path.join(SOURCE, "docs", "tutorial.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```", file.read(), re.S | re.M)
    programs, commands = 0, 0
    for language, name, body in blocks:
        if name:
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write(body)
            programs += 1
            continue
        assert language == "sh", f"a block of {language} that nobody runs"
        print("==", body.splitlines()[0], flush=True)
        ran = subprocess.run(["sh", "-e", "-c", body], cwd=work, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=100)
        if ran.returncode:
            sys.exit(f"FAIL: exit status {ran.returncode} of\n{body}\n{ran.stdout}")
        commands += 1
    assert programs == 3 and commands >= 7, (programs, commands)


if __name__ == "__main__":
    if os.environ.get("SAGO_SANITIZE"):
        print("SKIP: programs outside the tree are built without the sanitizer")
        sys.exit(77)
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        main(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
