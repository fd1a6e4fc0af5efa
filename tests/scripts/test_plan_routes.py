#!/usr/bin/env python3
# RUN: timeout=360
"""`sago plan`: the route of every kind of call, and explanations that do not contradict themselves."""
import json
import os
import random
import re
import subprocess

SAGO = os.path.join(os.environ["SAGO_BUILD"], "bin", "sago")
MACHINES = os.path.join(os.environ["SAGO_SOURCE"], "machines")


def plan(*args):
    run = subprocess.run([SAGO, "plan", *args], capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"sago plan {' '.join(args)}: {run.stderr}"
    return run.stdout


def refused(*args):
    made = subprocess.run([SAGO, "plan", *args], capture_output=True, text=True, check=False)
    assert made.returncode == 2, f"{args} was not refused: {made.stdout}"
    return made.stderr


def route(*args):
    found = re.search(r"^route +(.*)$", plan(*args), re.MULTILINE)
    assert found, f"no route of {args}"
    return found.group(1)


def check_kinds():
    small = ["contiguous", "--bytes", "1K", "--ranks-per-node", "4", "--dir", "/dev/shm"]
    alone = [*small, "--hint", "sago_agree=turn"]
    assert route(*small) == "together, mapped, by the caller, now"
    assert route(*small, "--kind", "independent") == "alone, one piece, by the caller, now"
    assert route(*alone) == "alone, one piece, by the caller, now"
    assert route(*alone, "--kind", "nonblocking") == "alone, one piece, by the caller, now"
    assert route(*alone, "--kind", "declared").startswith("together, ")
    assert route(*small, "--hint", "sago_defer=on").endswith(", deferred")
    assert route(*small, "--hint", "sago_tier=local").endswith(", to local storage first")
    assert route(*small, "--kind", "nonblocking", "--hint", "sago_nonblocking=apart").startswith("convening, ")
    assert route(*small, "--nodes", "1") == route(*small), "--nodes 1 is this machine's file systems, too"
    nodes = ["contiguous", "--bytes", "1K", "--nodes", "4", "--ranks-per-node", "2"]
    assert "says nothing of several nodes" in refused(*nodes, "--dir", "/dev/shm")
    assert route(*nodes) == "together, direct, by the caller, now"
    assert "no rank has more than one run" in plan(*nodes)
    large = ["contiguous", "--bytes", "1M", "--ranks-per-node", "2", "--dir", "/dev/shm", "--hint", "sago_agree=turn"]
    assert route(*large).startswith("alone, one piece")
    assert route(*large, "--accessed", "2").startswith("alone, mapped")
    # Ranks that go alone make no plan, and are shown one only if they ask.
    assert "strategy:" not in plan(*large)
    assert "together instead it would be" in plan(*large, "--explain")


def check_questions():
    """Ranks are asked where short runs with gaps cannot be mapped: their answers decide."""
    asked = ["--ranks-per-node", "4", "--dir", "/dev/shm", "--hint", "sago_map=off", "--hint", "sago_agree=enter"]
    text = plan("e3sm-f", "--c", "1", "--runs", "1000", *asked)
    assert "4 of 4 would rather have help" in text and "route    together, " in text, text
    text = plan("contiguous", *asked)
    assert "0 of 4 would rather have help" in text and "route    alone, " in text, text


def check_calls():
    lines = plan("s3d", "--calls", "--kind", "collective", "--ranks-per-node", "8", "--nodes", "1").splitlines()
    numbers = [int(n) for line in lines[1:] for n in re.match(r"call (\d+)(?: to (\d+))?", line).groups() if n]
    assert numbers[0] == 1 and numbers == sorted(numbers), lines
    assert len(plan("s3d", "--calls", "--ranks-per-node", "8", "--nodes", "1").splitlines()) == 2


def check_others():
    text = plan("e3sm-f", "--c", "1", "--runs", "1000", "--dir", "/dev/shm", "--kind", "independent", "--explain", "--read")
    for method in ("one piece: no, ", "read-through: ", "mapped: ", "direct: "):
        assert re.search(rf"^  [* ] {method}", text, re.MULTILINE), f"{method} is not weighed:\n{text}"
    assert len(re.findall(r"^  \* (?:one piece|read-through|mapped|direct)", text, re.MULTILINE)) == 1, text


def check_numbers(args, text):
    """The number of aggregators that is said to be decided is the one that is there, or a line says why not; and none of
    those that were compared costs less than the one that was taken by what its model can tell. The reason and the table give
    the number that was taken the same time."""
    made = int(re.search(r"^domains +(\d+)$", text, re.MULTILINE).group(1))
    told = [int(n) for n in re.findall(r"^    aggregators: (?:at most )?(\d+)", text, re.MULTILINE)]
    assert told[-1] == made, f"{args}: {told[-1]} are told of, {made} are there\n{text}"
    rows = re.findall(r"^  ([* ]) +(\d+) +([\d.]+)$", text, re.MULTILINE)
    hinted = "a hint decides: " in text
    chosen = [float(ms) for star, _, ms in rows if star == "*"]
    assert not rows or len(chosen) == 1, f"{args}: {rows}"
    reason = re.search(r"^    aggregators: \d+.*?, ([\d.e+]+) ms(.*)", text, re.MULTILINE)
    if rows and reason and not hinted:
        assert abs(float(reason[1]) - chosen[0]) <= 1e-3 * chosen[0] + 1e-3, f"{args}: {reason[0]} but {chosen[0]} in the table"
    resolution = 32 if reason and "with windows of" in reason[0] else 8
    for _, count, ms in rows:
        assert float(ms) >= chosen[0] * (1 - 1 / resolution) - 1e-3, f"{args}: {count} take {ms} ms, {chosen[0]} was taken"
        if float(ms) < chosen[0] * (1 - 1e-4) - 1e-3 and not hinted:
            word = "a thirty-second" if resolution == 32 else "an eighth"
            assert f"less than {word} cheaper" in text, text
    return rows


def check_layers(args, text):
    """Relays are said to be slower only where the two times beside that tell them apart."""
    told = re.search(r"^    layers: 2, \d+ relays of switches would make it (slower|no faster): ([\d.e+]+) ms, two layers ([\d.e+]+)",
                     text, re.MULTILINE)
    if not told:
        return ""
    three, two = float(told[2]), float(told[3])
    assert three > two if told[1] == "slower" else three <= two * 1.001, f"{args}: {told[0]}"
    return told[1]


def check_consistency(*args):
    text = plan(*args, "--explain")
    check_layers(args, text)
    return check_numbers(args, text)


def check_explanations():
    theta = os.path.join(MACHINES, "theta.sago")
    compared = 0
    for nodes in ("16", "64", "256"):
        for pattern in (["hacc-aos", "--particles", "25000"], ["interleaved"], ["block3d"]):
            for stripes in ([], ["--stripe-unit", "16M", "--stripe-count", "48"], ["--stripe-unit", "1M", "--stripe-count", "8"]):
                for hints in ([], ["--hint", "sago_aggregators=36"], ["--hint", "sago_aggregators_per_target=2"]):
                    args = [*pattern, "--machine", theta, "--nodes", nodes, "--hint", "sago_strategy=aggregated", *stripes, *hints]
                    compared += len(check_consistency(*args)) > 0
    mira = ["--machine", os.path.join(MACHINES, "mira.sago"), "--nodes", "32", "--ranks-per-node", "4"]
    for pattern in (["flash"], ["s3d", "--read"], ["hacc-aos", "--stripe-unit", "1M", "--stripe-count", "8"]):
        compared += len(check_consistency(*pattern, *mira)) > 0
    assert compared > 20, compared
    tie = ["block3d", "--machine", theta, "--nodes", "64"]
    assert check_layers(tie, plan(*tie, "--explain")) == "no faster"
    # Domains that no node can host are taken over; a hint may ask for aggregators where there would be none.
    check_consistency("checkerboard", "--machine", theta, "--nodes", "3", "--ranks-per-node", "3", "--hint",
                      "sago_strategy=aggregated", "--hint", "sago_aggregators=48", "--hint", "sago_aggregators_per_node=2")
    args = ["hacc-aos", "--particles", "25000", "--nodes", "7", "--ranks-per-node", "3", "--machine",
            os.path.join(MACHINES, "intrepid.sago"), "--stripe-unit", "100K", "--stripe-count", "7", "--memory", "4M", "--hint",
            "sago_aggregators=48"]
    assert "without it each rank would go by itself" in plan(*args, "--explain")
    check_consistency(*args)


def check_json():
    told = json.loads(plan("contiguous", "--bytes", "1K", "--dir", "/dev/shm", "--hint", "sago_agree=turn", "--json"))
    assert told["route"]["company"] == "alone" and told["parts"][0]["method"] == "one piece" and told["reasons"], told


# ---- Random machines, patterns and hints ----

PATTERNS = (["contiguous", "--bytes", "1K"], ["contiguous", "--bytes", "4M"], ["interleaved"], ["block3d"], ["e3sm-f", "--c", "1"],
            ["hacc-aos", "--particles", "25000"], ["flash"], ["s3d"], ["random"], ["checkerboard"])
HINTS = ("sago_placement=cost", "sago_placement=memory", "sago_placement=rank", "sago_placement=spread", "sago_layers=2", "sago_layers=3",
         "sago_aggregators=3", "sago_window=1M", "sago_agree=enter", "sago_agree=turn", "sago_map=off", "sago_lock_time=0",
         "sago_move=rma", "sago_local_aggregators=1", "sago_sieve=on", "sago_defer=on", "sago_tier=local",
         "sago_nonblocking=apart", "sago_strategy=aggregated", "sago_strategy=direct")


def draw(source):
    """Arguments of one plan."""
    nodes = source.choice((1, 1, 2, 4, 8, 16, 32))
    args = [*source.choice(PATTERNS), *(["--nodes", str(nodes)] if nodes > 1 else []), "--ranks-per-node", str(source.choice((1, 2, 4, 16)))]
    machine = source.choice((None, None, "theta", "mira"))
    if machine and nodes > 1:
        args += ["--machine", os.path.join(MACHINES, machine + ".sago")]
    if source.random() < 0.4:
        args += ["--stripe-unit", source.choice(("64K", "1M", "16M")), "--stripe-count", source.choice(("1", "4", "48"))]
    if nodes == 1 and source.random() < 0.7:
        args += ["--dir", "/dev/shm"]
    args += source.choice(([], ["--read"])) + source.choice(([], ["--accessed", "2"])) + source.choice(([], ["--sparse"]))
    args += ["--kind", source.choice(("collective", "collective", "nonblocking", "declared", "independent"))]
    for hint in source.sample(HINTS, source.choice((0, 0, 1, 2, 3))):
        args += ["--hint", hint]
    return args


def starred(text, heading, row):
    """(is chosen, number) of the rows of a table; one of them is chosen."""
    at = text.find(heading)
    if at < 0:
        return []
    rows = []
    for line in text[at:].splitlines()[1:]:
        found = re.match(row, line)
        if not found:
            break
        rows.append((found[1] == "*", sum(float(n) for n in found.groups()[1:])))
    assert sum(chosen for chosen, _ in rows) == 1 or not rows, f"{heading}: {rows}\n{text}"
    return rows


def check_cheapest(args, rows, text, reason):
    chosen = [cost for is_chosen, cost in rows if is_chosen]
    cheaper = [cost for _, cost in rows if rows and cost < chosen[0] * (1 - 1e-6) - 2e-3]
    assert not cheaper or re.search(reason, text), f"{args}: {cheaper[0]} is less than {chosen[0]}, and nothing says why\n{text}"


def check_one_text(args, text):
    """Whatever is said to be chosen is the cheapest of its table, or a reason is printed."""
    routes = re.findall(r"^route +(.*)$", text, re.MULTILINE)
    assert len(routes) == 1, f"{args}: {routes}"
    placements = starred(text, "alternatives (* as planned)", r"  ([* ]) sago_placement=.* ([\d.]+) +([\d.]+) +[\d.]+$")
    check_cheapest(args, placements, text, "another placement costs less")
    layers = starred(text, "layers (* as planned)", r"  ([* ]) sago_layers=\d +([\d.]+) +\d+$")
    check_cheapest(args, layers, text, "the other number of layers costs less")
    for line in re.findall(r"^    domain .*$", text, re.MULTILINE):
        elected, cheapest = re.search(r"node \d+ ([\d.]+), .* cheapest -?\d+ ([\d.]+)", line).groups()
        assert float(elected) <= float(cheapest) + 2e-3 or ", not taken: " in line, f"{args}: {line}"
    return routes[0]


def check_random(seed=20, plans=100):
    source = random.Random(seed)
    seen = set()
    for _ in range(plans):
        args = draw(source)
        text = plan(*args, "--explain")
        seen.add(check_one_text(args, text))
        if re.search(r"^    aggregators: (?:at most )?\d", text, re.MULTILINE):
            check_numbers(args, text)
    assert len(seen) >= 8, seen


check_kinds()
check_questions()
check_calls()
check_others()
check_explanations()
check_json()
check_random()
print("routes of all kinds of calls; explanations agree with plans")
