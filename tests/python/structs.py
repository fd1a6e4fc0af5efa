"""The structs of sago/library.py are those of the headers, member by member, and so are the names of constants.

    structs.py COMPILER [FLAGS]      compiles a program that prints where the members are
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

from sago import library

STRUCTS = {"sago_var": library.Var, "sago_block": library.Block, "sago_phase_stats": library.PhaseStats,
           "sago_stats": library.Stats, "sago_ckpt_step": library.CkptStep, "sago_ckpt_info": library.CkptInfo,
           "sago_ckpt_report": library.CkptReport, "sago_ckpt_save_stats": library.CkptSaveStats,
           "sago_ckpt_stats": library.CkptStats}
ALL = {"sago_block", "sago_ckpt_step", "sago_phase_stats", "sago_ckpt_save_stats"}  # cannot grow: they have no size


def program():
    lines = ["#include <sago/sago.h>", "#include <stdio.h>", "int main(void) {"]
    for name, struct in STRUCTS.items():
        lines.append(f'    printf("{name} - %zu\\n", sizeof({name}));')
        for field, *_ in struct._fields_:
            member = field.rstrip("_")
            lines.append(f'    printf("{name} {field} %zu\\n", offsetof({name}, {member}));')
    for count, value in (("LEVEL_COUNT", len(library.LEVELS)), ("PHASE_COUNT", len(library.PHASES)),
                         ("FLUSH_COUNT", library.FLUSHES), ("CKPT_DIMS_MAX", library.DIMS_MAX),
                         ("CKPT_NAME_MAX", library.NAME_MAX), ("CKPT_RECENT", library.RECENT)):
        lines.append(f'    printf("{count} {value} %d\\n", (int)SAGO_{count});')
    for number, name in enumerate(library.LEVELS):
        lines.append(f'    printf("LEVEL_{name} {number} %d\\n", (int)SAGO_LEVEL_{name.upper()});')
    for number, name in enumerate(library.PHASES):
        lines.append(f'    printf("PHASE_{name} {number} %d\\n", (int)SAGO_PHASE_{name.upper()});')
    for number, name in enumerate(library.KINDS):
        lines.append(f'    printf("CKPT_{name} {number} %d\\n", (int)SAGO_CKPT_{name.upper()});')
    return "\n".join(lines + ["    return 0;", "}", ""])


def difference(line):
    name, field, value = line.split()
    if name not in STRUCTS:
        return field != value
    struct = STRUCTS[name]
    if field != "-":
        return getattr(struct, field).offset != int(value)
    ours = ctypes.sizeof(struct)
    return ours != int(value) if name in ALL else ours > int(value)


with tempfile.TemporaryDirectory() as folder:
    source, binary = os.path.join(folder, "structs.c"), os.path.join(folder, "structs")
    with open(source, "w", encoding="utf-8") as file:
        file.write(program())
    subprocess.run([*sys.argv[1:], source, "-o", binary], check=True)
    said = subprocess.run([binary], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
wrong = [line for line in said if difference(line)]
assert not wrong, wrong
header = os.path.join(os.environ["SAGO_SOURCE"], "include", "sago", "sago.h")
with open(header, encoding="utf-8") as file:
    version = ".".join(re.findall(r"SAGO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))
project = os.path.join(os.environ["SAGO_SOURCE"], "bindings", "python", "PKG-INFO")
with open(project, encoding="utf-8") as file:
    assert f"Version: {version}\n" in file.read(), f"PKG-INFO has not the version {version} of sago.h"
assert len(said) > 80
print("good:", len(said), "numbers")
