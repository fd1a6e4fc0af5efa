#!/usr/bin/env python3
"""The HTML manual: code stands as code, and every link and picture leads to what is there.  Man pages: mandoc finds no fault."""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

def has_markdown(python):
    return subprocess.run([python, "-c", "import markdown"], capture_output=True, check=False).returncode == 0


# Debian's Python has what `make docs` installs, whichever comes first in PATH.
python = next((path for path in ("/usr/bin/python3", sys.executable) if os.path.exists(path) and has_markdown(path)), None)
if not python or not shutil.which("mandoc"):
    print("SKIP: no markdown for Python, or no mandoc (make docs installs them)")
    sys.exit(77)

source, build = os.environ["SAGO_SOURCE"], os.environ["SAGO_BUILD"]
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([python, "-B", os.path.join(source, "tools", "manual.py"), "html", folder,
                    os.path.join(build, "bin", "sago")], check=True)
    pages = {}
    for where, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(where, name), encoding="utf-8") as file:
                pages[os.path.relpath(os.path.join(where, name), folder)] = file.read()

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([python, "-B", os.path.join(source, "tools", "manual.py"), "man", folder], check=True)
    own = os.path.join(source, "docs", "man")
    mans = [os.path.join(where, name) for where in (folder, own) for name in sorted(os.listdir(where))]
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"] + mans, stdout=subprocess.PIPE, check=False).stdout.decode()
faults = [line for line in lint.split("\n") if line and "missing date" not in line]  # pages follow the version, not a date
assert len(mans) > 100 and not faults, "\n".join(faults)

wrong = [f"{name}: a fence is no code" for name, text in pages.items() if name.endswith(".html") and "```" in text]
links = 0
for name, text in pages.items():
    if not name.endswith(".html"):
        continue
    for target in map(html.unescape, re.findall(r'(?:href|src)="([^"]*)"', text)):
        links += 1
        page, _, place = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        if (page or name) not in pages:
            wrong.append(f"{name}: no page {page}")
        elif place and f'id="{place}"' not in pages[page or name]:
            wrong.append(f"{name}: no place {target}")
assert not wrong, "\n".join(sorted(set(wrong)))
assert links > 1000, links
print("good:", len(pages), "files,", links, "links")
