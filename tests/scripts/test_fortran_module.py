#!/usr/bin/env python3
"""The Fortran module has every function and constant of the C headers, with the same values."""
import os
import re
import sys

SOURCE = os.environ.get("SAGO_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
# Figures for tools, which are in C, what the drop-in asks for, and an initialiser, which a Fortran type has itself.
LEFT_OUT = {"sago_get_stats", "sago_phase_string", "sago_level_string", "sago_ckpt_report_init", "sago_view_run_list",
            "sago_close_alone", "sago_quiet_begin", "sago_quiet_end", "sago_set_view_beside_romio", "sago_synced_elsewhere"}


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as text:
        return text.read()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def enum(text, name):
    body = re.search(r"typedef enum " + name + r" \{(.*?)\}", text, re.S).group(1)
    words = [word.split("=")[0].strip() for word in body.split(",")]
    return {word: value for value, word in enumerate(words) if word and not word.endswith("_COUNT")}


def main():
    module = read("bindings", "fortran", "sago.f90") + read("bindings", "fortran", "checkpoints.f90")
    module += read("bindings", "fortran", "meshes.f90")
    status = without_comments(read("include", "sago", "status.h"))
    ckpt = without_comments(read("include", "sago", "ckpt.h"))
    mesh = without_comments(read("include", "sago", "mesh.h"))
    headers = without_comments(read("include", "sago", "sago.h")) + ckpt + mesh + status
    constants = {name: int(value) for name, value in re.findall(r"\b(SAGO_\w+) = (\d+)", module)}
    wrong = []
    values = enum(status, "sago_status") | enum(ckpt, "sago_level") | enum(ckpt, "sago_ckpt_kind")
    values |= enum(mesh, "sago_mesh_format") | enum(mesh, "sago_mesh_place")
    for name, value in values.items():
        if constants.get(name) != value:
            wrong.append(f"{name} is {value} in C, {constants.get(name)} in Fortran")
    public = set(re.findall(r"\bsago_\w+", " ".join(re.findall(r"public ::((?:[^\n]*&\n)*[^\n]*)", module))))
    functions = set(re.findall(r"\b(sago_\w+)\(", headers)) - LEFT_OUT
    wrong += [f"{name}() is not in the module" for name in sorted(functions - public)]
    if len(functions) < 20:
        wrong.append("the functions of sago.h were not found")
    print("\n".join(wrong) if wrong else f"{len(functions)} functions, {len(constants)} constants")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
