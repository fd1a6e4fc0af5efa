#!/usr/bin/env python3
"""docs/hint-cases.md has every hint of the table once, with a case, and no other."""
import os
import re
import sys

SOURCE = os.environ.get("SAGO_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as text:
        return text.read()


def main():
    table = re.findall(r'^    \{"(\w+)", SAGOI_HINT_', read("src/base/hints.c"), flags=re.M)
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", read("docs/hint-cases.md"), flags=re.M)
    names = [name for name, _ in rows]
    wrong = [f"{name}: no row in docs/hint-cases.md" for name in table if name not in names]
    wrong += [f"{name}: no hint" for name in names if name not in table]
    wrong += [f"{name}: two rows" for name in set(names) if names.count(name) > 1]
    wrong += [f"{name}: no case" for name, case in rows if len(case) < 8]
    if len(table) < 20:
        wrong.append("src/base/hints.c: the table was not found")
    print("\n".join(wrong) if wrong else f"{len(table)} hints have their case")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
