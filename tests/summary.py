#!/usr/bin/env python3
"""summary.py REPORT...: the sum of ctest's JUnit reports; fails if a test failed or none passed."""
import os
import sys
import xml.etree.ElementTree as xml


def outcome(case):
    """passed, skipped or failed; a program that could not be started is a failure."""
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    if skipped is not None and "SKIP_RETURN_CODE" in skipped.get("message", ""):
        return "skipped"
    return "failed"


def reason(case):
    output = case.findtext("system-out") or ""
    for line in output.splitlines():
        if "SKIP:" in line:
            return line.split("SKIP:", 1)[1].strip()
    return "no reason given"


def main(paths):
    lines = {"passed": [], "failed": [], "skipped": []}
    for path in paths:
        tree = os.path.basename(os.path.dirname(path))
        try:
            cases = xml.parse(path).getroot().iter("testcase")
        except (OSError, xml.ParseError) as error:
            lines["failed"].append(f"{tree}: no report of the tests ({error})")
            continue
        for case in cases:
            result = outcome(case)
            why = f": {reason(case)}" if result == "skipped" else ""
            lines[result].append(f"{tree}: {case.get('name')}{why}")
    for result in ("skipped", "failed"):
        for line in lines[result]:
            print(f"{result}: {line}")
    total = f"{len(lines['passed'])} passed, {len(lines['failed'])} failed"
    if lines["skipped"]:
        total += f", {len(lines['skipped'])} skipped"
    print(total)
    return 1 if lines["failed"] or not lines["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
