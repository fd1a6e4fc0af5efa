#!/usr/bin/env python3
"""docs/papers-rows.md: every row of the papers is in it, and every test and function that it names is there."""
import os
import re
import sys

SOURCE = os.environ.get("SAGO_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
ROWS = {"T": 9, "A": 7, "R": 7, "D": 7, "M": 7}
MADE = {"docs/papers.md"}  # by a command, perhaps not yet

with open(os.path.join(SOURCE, "docs", "papers-rows.md"), encoding="utf-8") as page:
    lines = [line for line in page if re.match(r"\| ([A-Z]\d|\d\d\d) ", line)]  # the rows, and what stands beside them
wrong = []
if [line.split()[1] for line in lines if not line[2].isdigit()] != [f"{letter}{i}" for letter, n in ROWS.items() for i in range(1, n + 1)]:
    wrong.append("the rows are not T1 to M7, each once")
for line in lines:
    _, row, what, state, tests, _ = [cell.strip() for cell in line.split("|")]
    row = f"{row}, {what}" if row.isdigit() else row
    paths = re.findall(r"`([\w./-]+/[\w.-]+)`(?: \(([^)]*)\))?", tests)
    if not paths and not re.match("not ", state):
        wrong.append(f"{row}: no test, and not said to be missing")
    for path, names in paths:
        full = os.path.join(SOURCE, path)
        if not os.path.exists(full):
            if path not in MADE:
                wrong.append(f"{row}: there is no {path}")
            continue
        with open(full, encoding="utf-8") as text:
            contents = text.read()
        wrong += [f"{row}: no {name} in {path}" for name in re.findall(r"`(\w+)\*?`", names) if name not in contents]
print("\n".join(wrong) if wrong else f"{len(lines)} rows")
sys.exit(1 if wrong else 0)
