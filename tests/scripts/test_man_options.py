#!/usr/bin/env python3
"""Every option that a command's help shows is in the command's man page."""
import os
import re
import subprocess

PAGES = os.path.join(os.environ["SAGO_SOURCE"], "docs", "man")
SAGO = os.path.join(os.environ["SAGO_BUILD"], "bin", "sago")
checked = 0
for page in sorted(os.listdir(PAGES)):
    command = re.fullmatch(r"sago-(\w+)\.1", page)
    if not command:
        continue
    told = subprocess.run([SAGO, command[1], "--help"], capture_output=True, text=True, check=False).stdout
    with open(os.path.join(PAGES, page), encoding="utf-8") as file:
        text = file.read().replace("\\-", "-")
    if "lists all of them" in text:  # the page has the most used ones, and says so
        continue
    documented = set(re.findall(r"--[a-z][a-z-]+", text))
    missing = set(re.findall(r"--[a-z][a-z-]+", told)) - documented - {"--help"}
    assert not missing, f"{page} does not have {', '.join(sorted(missing))}"
    checked += told != ""
assert checked >= 10, checked
print("the options of", checked, "commands")
