#!/usr/bin/env python3
"""Campaigns go on where they ended, count by commit, tell failures, and lose one piece at most by an interruption."""
import importlib.util
import os
import sys
import tempfile
import time

SOURCE = os.environ["SAGO_SOURCE"]
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("campaign", os.path.join(SOURCE, "tests/campaign.py"))
campaign = importlib.util.module_from_spec(spec)
spec.loader.exec_module(campaign)
campaign.this_commit = lambda: "somecommit"

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "state.json")
    log = os.path.join(folder, "log")

    def command(script):
        return lambda mpi, count, first: ["/bin/sh", "-c", f"echo $* >>{log}; {script}", "sh", str(count), str(first)]

    def run(script, goal, minutes=1.0):
        wanted = campaign.Seeds("made-up", goal, 5, [(1,)], command(script))
        campaign.MPIS = (os.environ["SAGO_MPI"],)
        state = campaign.State(path)
        campaign.run_campaign(wanted, state, time.time() + minutes * 60)
        return campaign.State(path).record("made-up")

    record = run("exit 0", 10)
    assert record["done"]["somecommit"]["units"] == 10 and not record["failures"], record
    record = run("echo broken; exit 3", 15)
    assert record["done"]["somecommit"]["units"] == 15, record
    assert len(record["failures"]) == 1 and "seeds 11 to 15" in record["failures"][0]["what"], record
    assert "broken" in record["failures"][0]["output"], record
    with open(log, encoding="utf-8") as file:
        assert file.read().split("\n")[:-1] == ["5 1", "5 6", "5 11"]

    def interrupted(work):
        raise KeyboardInterrupt

    before, campaign.run_one = campaign.run_one, interrupted
    try:
        run("exit 0", 20)
        sys.exit("an interruption was swallowed")
    except KeyboardInterrupt:
        pass
    campaign.run_one = before
    record = run("exit 0", 20)
    assert record["next"] == 20 and record["done"]["somecommit"]["units"] == 20, record
    assert run("exit 1", 100, minutes=0)["next"] == 20
