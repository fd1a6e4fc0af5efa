#!/usr/bin/env python3
"""tools/figures_cluster.py: medians, intervals, when a cell is done, and what the table says; nothing is measured."""
import contextlib
import io
import json
import os
import sys
import tempfile
import types

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import figures_cluster as figures  # noqa: E402


def cell_of(peer, factors, seconds=0):
    turns = {"sago": {d: [1e-3] * 2 * len(factors) for d in figures.DIRECTIONS},
             "mpiio": {d: [1e-3 * f for f in factors for _ in "ab"] for d in figures.DIRECTIONS}}
    wire = {"sago": {"first": 0, "repeat": 2000000, "read": 1000000}}
    return {"pattern": "contiguous, 4 KiB a rank", "shape": "4x2", "link": "off", "store": "free", "peer": peer,
            "commit": "c0ffee", "seconds": seconds, "engines": ["mpiio"], "batches": [{"turns": turns, "wire": wire}]}


def table(*cells, rows=True):
    kept = {figures.key_of(cell): cell for cell in cells}
    options = types.SimpleNamespace(stores="free", shapes="4x2", links="off", peers="R,O,Y", patterns="4 KiB", table=True,
                                    limit=1, rows=rows)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file, contextlib.redirect_stdout(io.StringIO()) as out:
        json.dump(kept, file)
        file.flush()
        options.json = file.name
        figures.main(options)
    return out.getvalue()


assert figures.pair_ratios([2, 4, 9], [1, 1, 1]) == [3]
assert figures.estimate([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0, 3)
assert figures.estimate([float(i) for i in range(1, 13)]) == (6.5, 3.0, 10.0, 12)

assert not figures.is_done(cell_of("R", [1.1] * 5))  # too few pairs
assert figures.is_done(cell_of("R", [1.1] * 6))
assert not figures.is_done(cell_of("R", [0.5, 1, 2] * 4))
assert figures.is_done(cell_of("R", [0.5, 1, 2] * 4, seconds=61))

assert "ahead (R 1.50)" in table(cell_of("R", [1.5] * 6))
assert "behind (Y 0.50)" in table(cell_of("O", [1.5] * 6), cell_of("Y", [0.5] * 6))  # the best peer counts
assert "equal (O 1.00)" in table(cell_of("O", [1.0] * 6))
assert "undecided (O" in table(cell_of("O", [0.5, 1, 2] * 4))
assert "0.50 [0.50, 0.50] (5) ? | undecided (O 0.50)" in table(cell_of("O", [0.5] * 5))  # too few pairs to say
assert "| write | 1.0 | R 1.50 [1.50, 1.50] | ahead (R 1.50) | sago 2.0 |" in table(cell_of("R", [1.5] * 6))
one_turn = cell_of("R", [1.5])  # measured, but the turn in the other order is missing: nobody failed
for engine in one_turn["batches"][0]["turns"].values():
    engine.update({d: engine[d][:1] for d in figures.DIRECTIONS})
assert "| write | 1.0 | no pair of turns | - |" in table(one_turn)

overview = table(cell_of("O", [1.5] * 6), cell_of("Y", [0.5] * 6), cell_of("R", [1.1] * 5), rows=False)
assert "| pattern | 4x2, unshaped, free, mpich | 4x2, unshaped, free, openmpi |" in overview, overview
assert "| contiguous, 4 KiB a rank | 1.10 R ? / 1.10 R ? | 0.50 Y / 0.50 Y |" in overview, overview
assert "4 cells: 0 ahead, 0 equal, 2 behind, 2 undecided; the median is at least 1.0 in 2, at least 0.9 in 2." in overview
assert "Measured with c0ffee." in overview
