"""check_trace.py TRACE RANKS: is the file a trace in Chrome's format that a strict reader takes?

Each event has the fields of its kind and no others, times are numbers that are not negative, slices of one thread
lie inside of each other or apart, and every arrow has one beginning and one end, each inside of a slice."""
import json
import sys

FIELDS = {"M": {"ph", "pid", "tid", "name", "args"},
          "X": {"ph", "pid", "tid", "name", "cat", "ts", "dur", "args"},
          "s": {"ph", "pid", "tid", "name", "cat", "ts", "id"},
          "f": {"ph", "pid", "tid", "name", "cat", "ts", "id", "bp"}}
ROUNDED = 0.0025  # microseconds: times have three digits


def unique(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a name occurs twice: {names}"
    return dict(pairs)


def check_event(event, ranks):
    assert event["ph"] in FIELDS and set(event) == FIELDS[event["ph"]], event
    assert type(event["pid"]) is int and 0 <= event["pid"] < ranks and event["tid"] in (0, 1), event
    assert type(event["name"]) is str and event["name"], event
    for time in ("ts", "dur"):
        assert time not in event or (type(event[time]) in (int, float) and event[time] >= 0), event


def check_nested(slices):
    """Slices of one thread; returns how deep they lie."""
    open_slices, deepest = [], 0
    for e in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        while open_slices and e["ts"] >= open_slices[-1]["ts"] + open_slices[-1]["dur"] - ROUNDED:
            open_slices.pop()
        for outer in open_slices:
            assert e["ts"] + e["dur"] <= outer["ts"] + outer["dur"] + ROUNDED, f"slices cross: {outer} {e}"
        open_slices.append(e)
        deepest = max(deepest, len(open_slices))
    return deepest


def check_arrows(events):
    ends = {"s": {}, "f": {}}
    for e in events:
        if e["ph"] in ends:
            assert e["id"] not in ends[e["ph"]], f"an arrow has two ends of one kind: {e}"
            ends[e["ph"]][e["id"]] = e
            assert any(x["ph"] == "X" and (x["pid"], x["tid"]) == (e["pid"], e["tid"]) and
                       x["ts"] - ROUNDED <= e["ts"] <= x["ts"] + x["dur"] + ROUNDED for x in events), e
    assert set(ends["s"]) == set(ends["f"]), set(ends["s"]) ^ set(ends["f"])
    return len(ends["s"])


def main(path, ranks):
    trace = json.load(open(path), object_pairs_hook=unique, parse_constant=lambda name: sys.exit(f"{name} is no number"))
    assert set(trace) == {"displayTimeUnit", "traceEvents", "otherData"}, set(trace)
    events = trace["traceEvents"]
    for event in events:
        check_event(event, ranks)
    assert {e["pid"] for e in events} == set(range(ranks))
    deepest = [check_nested(e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (rank, thread))
               for rank in range(ranks) for thread in (0, 1)]
    assert max(deepest) >= 2, "no phase lies inside of a call"
    print(len(events), "events,", check_arrows(events), "arrows,", trace["otherData"]["dropped_events"], "dropped")


main(sys.argv[1], int(sys.argv[2]))
