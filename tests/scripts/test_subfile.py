#!/usr/bin/env python3
"""`sago subfile`: files taken apart here by the rule are shown and merged again; wrong ones are refused."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

SAGO = os.path.join(os.environ["SAGO_BUILD"], "bin", "sago")
CORPUS = os.path.join(os.environ["SAGO_SOURCE"], "tests", "fuzz", "corpus", "subfiles")
COUNT, BLOCK = 2, 4096  # of the description in the corpus


def sago(*arguments):
    return subprocess.run([SAGO, "subfile", *arguments], capture_output=True, text=True)


def take_apart(data, path):
    os.mkdir(path)
    shutil.copy(os.path.join(CORPUS, "2"), os.path.join(path, "sago-subfiles"))
    parts = [bytearray() for _ in range(COUNT)]
    for b in range(0, (len(data) + BLOCK - 1) // BLOCK):
        parts[b % COUNT] += data[b * BLOCK : (b + 1) * BLOCK]
    for k, part in enumerate(parts):
        if k != max(len(data) - 1, 0) // BLOCK % COUNT:  # not the one that ends the file: zeros at the end may be a hole
            part = part.rstrip(b"\0")
        with open(f"{path}/part.{k:05}", "wb") as out:
            out.write(part)


def check(right, what):
    if not right:
        sys.exit(f"FAIL: {what}")


def random_data(rng, length):
    data = bytearray(rng.randbytes(length))
    for _ in range(3):  # holes
        at = rng.randrange(length + 1)
        data[at : at + rng.randrange(30000)] = b""
    at = rng.randrange(length + 1)
    return bytes(data) + bytes(rng.choice([0, 3, 5000])) if rng.random() < 0.5 else bytes(data[:at]) + bytes(9000) + b"x"


def main():
    scratch = tempfile.mkdtemp()
    try:
        rng = random.Random(4711)
        for i in range(25):
            data = random_data(rng, rng.choice([0, 1, 4096, 50000, 3000000]))
            path, out = f"{scratch}/file{i}", f"{scratch}/out{i}"
            take_apart(data, path)
            shown = json.loads(sago("show", "--json", path).stdout)
            check((shown["size"], shown["count"], shown["block"]) == (len(data), COUNT, BLOCK), f"show: {shown}")
            merged = sago("merge", path if i % 2 else f"{path}/sago-subfiles", out)
            check(merged.returncode == 0, merged.stderr)
            with open(out, "rb") as result:
                check(result.read() == data, f"file {i} differs, {len(data)} bytes")
        check(str(COUNT) + " subfiles" in sago("show", path).stdout, "show as text")

        def refused(word, *arguments, status=1):
            done = sago(*arguments)
            check(done.returncode == status and word in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")

        before = sorted(os.listdir(scratch))
        refused("exists", "merge", path, out)
        refused("plain file", "show", out)
        refused("directory", "merge", scratch, f"{scratch}/new")
        refused("No such", "merge", f"{scratch}/none", f"{scratch}/new")
        refused("No such", "merge", path, f"{scratch}/none/new")
        refused("merge takes", "merge", path, status=2)
        refused("show or merge", "split", path, status=2)
        os.remove(f"{path}/part.00001")
        refused("part.00001", "merge", path, f"{scratch}/new")
        with open(f"{path}/sago-subfiles", "r+") as description:
            description.write("sago subfiles 9")
        refused("version 9", "show", path)
        check(sorted(os.listdir(scratch)) == before, "something was left behind")
    finally:
        shutil.rmtree(scratch)
    print("subfiles shown and merged")


main()
