#!/usr/bin/env python3
"""Every #include in the sources against the table "who may include whom" of ARCHITECTURE.md, and the files that page names;
threads and system calls on files of data only in src/system."""
import os
import re
import sys

SOURCE = os.environ.get("SAGO_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
LIBRARY = {"xxhash.h": "xxhash", "hwloc.h": "hwloc", "liburing.h": "liburing", "isa-l.h": "isal"}
PUBLIC = "include/sago"
MPI_HEADER = "src/mpi/types.h"

SYSTEM = "src/system"
CALLS = re.compile(r"(?<![\w.>])(open|openat|creat|fopen|read|write|pread|pwrite|readv|writev|preadv|pwritev|fsync|fdatasync|"
                   r"rename|renameat2?|link|linkat|unlink|unlinkat|mkdir|mkdirat|rmdir|truncate|ftruncate|fallocate|"
                   r"posix_fallocate|opendir|fdopendir|readdir|pthread_create)\(")
# What the machine says of itself, shared memory, what ranks hand over, and what the library writes for its user: no files of
# data.
OWN_FILES = {"src/api/reporting.c", "src/base/process.c", "src/ckpt/allocation.c", "src/ckpt/lease.c", "src/machine/cray.c", "src/machine/memory.c",
             "src/machine/text.c", "src/move/segment.c", "src/neighbourhood/handover.c", "src/store/layout.c", "src/trace/output.c", "src/trace/recorder.c", "src/trace/saved.c"}


def read_table():
    """Folder -> {allowed: names, libraries: names, mpi: 'yes', 'never' or file names}"""
    table = {}
    with open(os.path.join(SOURCE, "ARCHITECTURE.md"), encoding="utf-8") as page:
        for line in page:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) != 5 or not re.fullmatch(r"`[\w/]+`", cells[0]):
                continue
            table[cells[0].strip("`")] = {
                "allowed": re.findall(r"`([^`]+)`", cells[2]),
                "libraries": cells[3].split(),
                "mpi": re.findall(r"`([^`]+)`", cells[4]) or cells[4],
            }
    return table


def sources(folder):
    path = os.path.join(SOURCE, folder)
    if os.path.isdir(path):
        names = [name for name in sorted(os.listdir(path)) if name.endswith((".c", ".h", ".h.in"))]
        return [os.path.join(folder, name) for name in names]
    return []


def includes(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)


def public_headers_with_mpi():
    """Public headers that include mpi.h, themselves or by another one."""
    found = {"mpi.h"}
    headers = [path for path in sources(PUBLIC)]
    while True:
        more = {"sago/" + os.path.basename(path) for path in headers
                if any(name in found for _, _, name in includes(path))} - found
        if not more:
            return found
        found |= more


def owner(name, folder):
    """The path in the repository of an included header, or None if it is not ours."""
    places = [os.path.join(folder, name), os.path.join("src", name), os.path.join("include", name), name]
    for place in places:
        if os.path.exists(os.path.join(SOURCE, place)):
            return os.path.normpath(place)
    return "include/sago/config.h" if name == "sago/config.h" else None


def check_include(path, row, table, quoted, system, mpi_headers):
    """What is wrong with it, or None."""
    folder = os.path.dirname(path)
    name = quoted or system
    if name == "mpi.h" and path.startswith("src/") and path != MPI_HEADER:
        return f"{MPI_HEADER} is the one header of src/ that includes mpi.h"
    if name in mpi_headers:
        if row["mpi"] == "never" or (row["mpi"] != "yes" and os.path.basename(path) not in row["mpi"]):
            return f"{folder} may not include MPI here"
    if name in LIBRARY:
        return None if LIBRARY[name] in row["libraries"] else f"{folder} may not use {LIBRARY[name]}"
    place = owner(name, folder)
    if place is None:
        return f'"{name}" is not found' if quoted else None
    target = os.path.dirname(place)
    if target == folder or target in row["allowed"] or place in row["allowed"]:
        return None
    if target not in table:
        return f"{target} is not in the table"
    return f"{folder} may not include {place}"


def unused_permissions(table, allowed, libraries):
    """What rows name, and nothing in their folders includes."""
    return [f"{folder} does not include {name}: its row in ARCHITECTURE.md needs no such permission"
            for folder, row in table.items()
            for name in [name for name in row["allowed"] if name not in allowed[folder]] +
            [name for name in row["libraries"] if name in LIBRARY.values() and name not in libraries[folder]]]


def repeated_names(table):
    """Files of the project with one name, which readers and debuggers would mistake for each other."""
    seen = {}
    for folder in table:
        for path in sources(folder) if folder.startswith(("src/", "dropin", "tools", "bench", "sim")) else []:
            seen.setdefault(os.path.basename(path), []).append(path)
    return [f"{' and '.join(paths)}: two files of one name" for paths in seen.values() if len(paths) > 1]


def stale_names():
    """Files that ARCHITECTURE.md names, by their path or from src/ on, and that are not there."""
    with open(os.path.join(SOURCE, "ARCHITECTURE.md"), encoding="utf-8") as page:
        names = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+\.[ch])`", page.read()))
    lost = [name for name in sorted(names)
            if not any(os.path.exists(os.path.join(SOURCE, place, name)) for place in ("", "src", "include"))]
    return [f"ARCHITECTURE.md: there is no {name}" for name in lost] if names else ["ARCHITECTURE.md names no file"]


def system_calls(table):
    """Calls that belong to src/system and are made elsewhere; how many were found there, so that this can fail."""
    wrong, inside = [], 0
    for folder in table:
        for path in sources(folder) if folder.startswith("src/") else []:
            with open(os.path.join(SOURCE, path), encoding="utf-8") as text:
                code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text.read(), flags=re.S)
            for match in CALLS.finditer(re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)):
                inside += folder == SYSTEM
                if folder != SYSTEM and path not in OWN_FILES:
                    wrong.append(f"{path}: {match.group(1)}() belongs to {SYSTEM}")
    return wrong if inside else wrong + [f"no system call was found in {SYSTEM}"]


def main():
    table = read_table()
    wrong = []
    if len(table) < 10:
        wrong.append("ARCHITECTURE.md: the table of folders was not found")
    src = os.path.join(SOURCE, "src")
    for folder in sorted(os.listdir(src)):
        if os.path.isdir(os.path.join(src, folder)) and "src/" + folder not in table:
            wrong.append(f"src/{folder}: not in the table of ARCHITECTURE.md")
    wrong += repeated_names(table) + stale_names() + system_calls(table)
    mpi_headers = public_headers_with_mpi()
    count = 0
    allowed, libraries = {folder: set() for folder in table}, {folder: set() for folder in table}
    for folder, row in table.items():
        for path in sources(folder):
            for number, quoted, system in includes(path):
                count += 1
                place = owner(quoted or system, folder)
                if place:
                    allowed[folder] |= {place, os.path.dirname(place)}
                libraries[folder].add(LIBRARY.get(system or quoted))
                problem = check_include(path, row, table, quoted, system, mpi_headers)
                if problem:
                    wrong.append(f"{path}:{number}: {problem}")
    wrong += unused_permissions(table, allowed, libraries)
    print("\n".join(wrong) if wrong else f"{count} includes follow ARCHITECTURE.md")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
