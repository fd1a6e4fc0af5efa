#!/usr/bin/env python3
# RUN: timeout=240
"""What `sago` prints on a terminal of 80 columns fits, and is folded between words; programs that read it get whole lines."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios

SAGO = os.path.join(os.environ["SAGO_BUILD"], "bin", "sago")
COLUMNS = 80
failed = False


def fail(text):
    global failed
    failed = True
    print("FAIL:", text)


def on_terminal(*arguments):
    """What a command prints on a terminal, as lines."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    with subprocess.Popen([SAGO, *arguments], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.STDOUT,
                          env=dict(os.environ, TERM="dumb")) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            text += more
    os.close(ours)
    return text.decode().replace("\r", "").split("\n")


def through_pipe(*arguments):
    return subprocess.run([SAGO, *arguments], stdout=subprocess.PIPE, check=False).stdout.decode().split("\n")


def words(lines):
    return " ".join(lines).split()


def check_width(what, lines):
    for line in lines:
        # A word that is longer than the line, as a path, is left whole.
        if len(line) > COLUMNS and max(map(len, line.split())) < COLUMNS - 30:
            fail(f"{what}: {len(line)} columns: {line}")


def check_helps():
    commands = [line.split()[0] for line in through_pipe("--help") if line.startswith("  ")]
    if len(commands) < 10:
        fail(f"commands: {commands}")
    for command in [[]] + [[c] for c in commands] + [["bench", "ckpt"], ["bench", "storage"], ["bench", "exchange"]]:
        lines = through_pipe(*command, "--help")
        if len(lines) < 4:
            fail(f"{command} --help: {lines}")
        check_width(f"{command} --help", lines)


def check_outputs(scratch):
    report = os.path.join(scratch, "run.html")
    subprocess.run([SAGO, "bench", "contiguous", "--bytes", "64K", "--engines", "sago", "--repeat", "1", "--dir", scratch],
                   stdout=subprocess.DEVNULL, check=True, env=dict(os.environ, SAGO_REPORT=report))
    for arguments in (["info"], ["hints"], ["bench", "list"], ["topo", "theta"],
                      ["plan", "block3d", "--nodes", "4", "--ranks-per-node", "2"],
                      ["plan", "block3d", "--nodes", "4", "--ranks-per-node", "2", "--hint", "sago_strategy=aggregated", "--explain"],
                      ["plan", "hacc-aos", "--machine", os.path.join(os.environ["SAGO_SOURCE"], "machines", "theta.sago"), "--nodes", "512",
                       "--hint", "sago_strategy=aggregated", "--explain"],
                      ["report", report.replace(".html", ".json")]):
        lines = on_terminal(*arguments)
        check_width(arguments, lines)
        if arguments[0] != "info" and words(lines) != words(through_pipe(*arguments)):
            fail(f"{arguments}: other words on a terminal: {lines}")
    # Times and directories differ from run to run.
    saves = os.path.join(scratch, "saves")
    subprocess.run([os.path.join(os.environ["SAGO_BUILD"], "bin", "examples", "waveguide"), "--cells", "8", "--length", "4", "--steps", "40",
                    "--every", "20", "--reference", "0", "--dir", saves], stdout=subprocess.DEVNULL, check=True)
    for arguments in (["bench", "ckpt", "--bytes", "64K", "--repeat", "1", "--dir", scratch], ["ckpt", "ls", saves],
                      ["bench", "storage", "--local", scratch, "--dir", scratch], ["bench", "exchange", "--local", scratch, "--dir", scratch],
                      ["sim", "contiguous", "--nodes", "4", "--bytes", "64K", "--engines", "sago,two-phase"]):
        lines = on_terminal(*arguments)
        if len(lines) < 3 and arguments[0] != "sim":  # which is not always built
            fail(f"{arguments}: {lines}")
        check_width(arguments, lines)
    text = through_pipe("report", report.replace(".html", ".json"))
    if not any(line.startswith("- The slowest rank spent") and line.endswith(".") for line in text):
        fail(f"sentences are folded in a pipe: {text}")


with tempfile.TemporaryDirectory() as folder:
    check_helps()
    check_outputs(folder)
sys.exit(failed)
