#!/usr/bin/env python3
"""demo_table.py REPORT...: one table of the JSON reports of `sago bench`; fails if a byte was wrong."""
import json
import sys

HEAD = ("pattern", "MiB", "runs", "", "sago", "MPI-IO", "limit", "times MPI-IO", "of limit")
FORMAT = "{:<12} {:>6} {:>9}  {:<5} {:>9} {:>9} {:>9} {:>13} {:>9}"


def number(value, form):
    return "-" if value is None else form.format(value)


def seconds(engines, name, field):
    median = engines[name][field]["median"] if name in engines else None
    return number(median and 1000 * median, "{:.1f} ms")


def rows(report):
    engines = {engine["name"]: engine for engine in report["engines"]}
    for direction in ("write", "read"):
        ratios = report["ratios"][direction]
        yield FORMAT.format(
            report["pattern"] if direction == "write" else "",
            f"{report['bytes'] / 2**20:.0f}" if direction == "write" else "",
            report["runs"] if direction == "write" else "",
            direction,
            *(seconds(engines, name, direction + "_s") for name in ("sago", "mpiio", "limit")),
            number(ratios["mpiio"], "{:.1f}x"), number(ratios["limit"], "{:.0%}"))


def main(paths):
    reports = []
    for path in paths:
        with open(path, encoding="utf-8") as text:
            reports.append(json.load(text))
    first = reports[0]
    ranks, nodes = (f"{first[what + 's']} {what}{'' if first[what + 's'] == 1 else 's'}" for what in ("rank", "node"))
    print(f"{ranks} on {nodes}, {first['mpi']}; medians")
    print(FORMAT.format(*HEAD))
    for report in reports:
        print("\n".join(rows(report)))
    print("times MPI-IO: how many times faster than the MPI library's own collective I/O")
    print("of limit: of the speed at which one process per core writes the same bytes, already in order")
    wrong = [f"{report['pattern']}: {engine['name']}" for report in reports for engine in report["engines"]
             if not engine["verified"]]
    if wrong:
        print("WRONG CONTENT:", ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
