#!/usr/bin/env python3
"""Writes the drop-in's entry points, one plain function for each MPI call that Sago stands in front of.

    dropin/entry_points.py          write the three files below anew
    dropin/entry_points.py --check  exit with 1 if one of them is not what would be written

The files are kept in the repository, so that a search for MPI_File_write_at_all finds what serves it:
  entry_points.h        the table of the next functions, the declarations of dropin_*, the numbers of the entries
  entry_points.c        what each call does in the core, whether the program named it MPI_File_* or PMPI_File_*
  front/front_entries.c  the symbols of the preloaded library, which pass calls on as words
"""
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH = 115
NOTE = "/* Made by entry_points.py; change that and run it. */\n"

# ---- The calls: name without MPI_File_, and parameters ----

FILE_CALLS = [
    ("open", "MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *file"),
    ("close", "MPI_File *file"),
    ("delete", "const char *path, MPI_Info info"),
    ("set_view", "MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep, "
                 "MPI_Info info"),
    ("get_view", "MPI_File file, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep"),
    ("get_position", "MPI_File file, MPI_Offset *offset"),
    ("seek", "MPI_File file, MPI_Offset offset, int whence"),
    ("seek_shared", "MPI_File file, MPI_Offset offset, int whence"),
    ("set_atomicity", "MPI_File file, int flag"),
    ("set_size", "MPI_File file, MPI_Offset size"),
    ("get_size", "MPI_File file, MPI_Offset *size"),
    ("preallocate", "MPI_File file, MPI_Offset size"),
    ("sync", "MPI_File file"),
    ("get_info", "MPI_File file, MPI_Info *info"),
]
# A call that Sago makes itself, but does not stand in front of.
USED_CALLS = [("call_errhandler", "MPI_File file, int code")]

# The last parameter tells what kind of call it is; {buf} is const where the call writes.
BLOCKING, BEGIN, START = "MPI_Status *status", None, "MPI_Request *request"
# Name, explicit offset, last parameter, function that makes its body.
ACCESS_CALLS = [
    ("write_at_all", True, BLOCKING, "served"), ("read_at_all", True, BLOCKING, "served"),
    ("write_all", False, BLOCKING, "served"), ("read_all", False, BLOCKING, "served"),
    ("write_at_all_begin", True, BEGIN, "served_begin"), ("read_at_all_begin", True, BEGIN, "served_begin"),
    ("write_all_begin", False, BEGIN, "served_begin"), ("read_all_begin", False, BEGIN, "served_begin"),
    ("iwrite_at_all", True, START, "served_start"), ("iread_at_all", True, START, "served_start"),
    ("iwrite_all", False, START, "served_start"), ("iread_all", False, START, "served_start"),
    ("write", False, BLOCKING, "alone"), ("read", False, BLOCKING, "alone"),
    ("write_at", True, BLOCKING, "alone"), ("read_at", True, BLOCKING, "alone"),
    ("write_shared", False, BLOCKING, "shared"), ("read_shared", False, BLOCKING, "shared"),
    ("iwrite", False, START, "started"), ("iread", False, START, "started"),
    ("iwrite_at", True, START, "started"), ("iread_at", True, START, "started"),
    ("iwrite_shared", False, START, "started"), ("iread_shared", False, START, "started"),
    ("write_ordered", False, BLOCKING, "ordered"), ("read_ordered", False, BLOCKING, "ordered"),
    ("write_ordered_begin", False, BEGIN, "ordered_begin"), ("read_ordered_begin", False, BEGIN, "ordered_begin"),
]
END_CALLS = [
    ("write_at_all_end", "served_end"), ("read_at_all_end", "served_end"),
    ("write_all_end", "served_end"), ("read_all_end", "served_end"),
    ("write_ordered_end", "ordered_end"), ("read_ordered_end", "ordered_end"),
]
# Without MPI_: the calls that complete requests (waits.c), and the few others.
WAIT_CALLS = [
    ("Wait", "MPI_Request *request, MPI_Status *status"),
    ("Waitall", "int n, MPI_Request requests[], MPI_Status statuses[]"),
    ("Waitany", "int n, MPI_Request requests[], int *index, MPI_Status *status"),
    ("Waitsome", "int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]"),
    ("Test", "MPI_Request *request, int *flag, MPI_Status *status"),
    ("Testall", "int n, MPI_Request requests[], int *flag, MPI_Status statuses[]"),
    ("Testany", "int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status"),
    ("Testsome", "int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]"),
    ("Request_get_status", "MPI_Request request, int *flag, MPI_Status *status"),
]
OTHER_CALLS = ["Comm_split_type", "Finalize", "Abort", "Intercomm_merge"]


def writes(name):
    return "write" in name


def buffer(name):
    return "const void *buf" if writes(name) else "void *buf"


def access_params(name, at, last, count):
    """Parameters of an access call."""
    return ", ".join(["MPI_File file"] + (["MPI_Offset offset"] if at else []) +
                     [buffer(name), count + " count", "MPI_Datatype type"] + ([last] if last else []))


def arguments(params):
    """The names of parameters, as they are passed on."""
    return ", ".join(re.sub(r"\[\]$", "", param).split()[-1].lstrip("*") for param in params.split(", "))


# ---- Text ----

def wrapped(text, indent=""):
    """One declaration or statement, broken between parameters only."""
    open_at = text.rfind("(") + 1
    glued = text[:open_at].replace(" ", "\0") + re.sub(r"(?<!,) ", "\0", text[open_at:])
    lines = textwrap.wrap(glued, WIDTH, initial_indent=indent, break_long_words=False, break_on_hyphens=False,
                          subsequent_indent=" " * (len(indent) + (open_at if open_at < 60 else 8)))
    return "\n".join(lines).replace("\0", " ")


def function(head, body):
    lines = "\n".join(wrapped(line.strip(), line[:len(line) - len(line.lstrip())] + "    ") for line in body)
    return wrapped(head + " {") + "\n" + lines + "\n}\n"


def guarded(large, text):
    return f"#if MPI_VERSION >= 4\n{text}#endif\n" if large else text


# ---- What an access call does: lines of its body, by kind ----

def wanted_line(name, at):
    return f"dropin_access wanted = {{{c_bool(writes(name))}, {c_bool(at)}, {'offset' if at else '0'}, " \
           f"dropin_buffer(buf), count, type}};"


def c_bool(value):
    return "true" if value else "false"


def pass_line(together, locks=False):
    return f"dropin_passing passing = dropin_pass{'_locked' if locks else ''}(file, &wanted, {c_bool(together)});"


def next_call(name, args, count="passing.failed ? 0 : count"):
    """The MPI library's call, with what the staging of a buffer in a GPU's memory gives it."""
    swapped = [{"buf": "passing.staged.use", "count": count}.get(arg, arg) for arg in args.split(", ")]
    return f"next->{name}({', '.join(swapped)})"


def handed(name, args, together=True):
    return [pass_line(together), f"return dropin_passed(&passing, {next_call(name, args)});"]


def under_way(name):
    """The MPI library may write when another call is served by Sago."""
    return ["sago_write_elsewhere();"] if writes(name) else []


def handed_begun(name, args, note=None):
    call = next_call(name, args)
    return under_way(name) + [pass_line(True),
                              f"return dropin_passed_begun(&passing, {f'{note}(file, {call})' if note else call});"]


UNLESS_STAGED = ["if (passing.failed)", "    return passing.failed;"]


def handed_started(name, args, together=True):
    return [pass_line(together)] + UNLESS_STAGED + under_way(name) + [
        f"return dropin_passed_started(&passing, {next_call(name, args, 'count')}, request);"]


def unless_served(name, at, call, rest):
    return [wanted_line(name, at), "int code;", f"if ({call})", "    return code;"] + rest


def unless_failed(name, at, leave, rest):
    return [wanted_line(name, at), f"int code = {leave};", "if (code)", "    return code;"] + rest


def leave_own(name, at):
    """Independent calls: what this rank has deferred, and the individual pointer if it is used."""
    pointed = not at and "shared" not in name
    return f"dropin_leave_{'pointer' if pointed else 'file'}(file)"


def alone(name, at, args):
    """Of one rank, and in atomic mode nobody else's at the same time."""
    return unless_failed(name, at, leave_own(name, at), [
        pass_line(False, locks=True)] + UNLESS_STAGED + [
        f"return dropin_passed(&passing, {next_call(name, args, 'count')});"])


def handed_alone(name, args):
    """In atomic mode by the independent call, if the MPI library's collective one is not atomic."""
    either = f"(passing.alone ? next->{name.replace('_all', '')} : next->{name})"
    call = next_call(name, args).replace(f"next->{name}", either, 1)
    return [pass_line(True, locks=True), f"return dropin_passed(&passing, {call});"]


BODIES = {
    "served": lambda n, at, a: unless_served(n, at, "dropin_serve(file, &wanted, status, &code)",
                                             handed_alone(n, a)),
    "served_begin": lambda n, at, a: unless_served(n, at, "dropin_serve_begin(file, &wanted, &code)",
                                                   handed_begun(n, a, "dropin_begun_by_mpi")),
    "served_start": lambda n, at, a: unless_served(n, at, "dropin_serve_start(file, &wanted, request, &code)",
                                                   handed_started(n, a)),
    "alone": alone,
    "shared": lambda n, at, a: unless_failed(n, at, leave_own(n, at), handed(n, a, False)),
    "started": lambda n, at, a: unless_failed(n, at, leave_own(n, at), handed_started(n, a, False)),
    "ordered": lambda n, at, a: unless_failed(n, at, "dropin_leave_ordered(file)", handed(n, a)),
    "ordered_begin": lambda n, at, a: unless_failed(n, at, "dropin_leave_ordered(file)", handed_begun(n, a)),
}


def end_body(name, kind):
    call = f"code = next->{name}(file, buf, status);"
    done = f"return dropin_passed_end(file, code, {c_bool(writes(name))});"
    if kind == "ordered_end":
        return ["int " + call, done]
    return ["int code;", "if (dropin_serve_end(file, status, &code))", "    return code;", call, done]


# ---- All calls, with what follows from them ----

def access_calls():
    """(name, parameters, body, of MPI 4 only)"""
    for suffix, count in (("", "int"), ("_c", "MPI_Count")):
        for base, at, last, kind in ACCESS_CALLS:
            name = base + suffix
            params = access_params(name, at, last, count)
            yield name, params, BODIES[kind](name, at, arguments(params)), suffix != ""
    for name, kind in END_CALLS:
        yield name, f"MPI_File file, {buffer(name)}, MPI_Status *status", end_body(name, kind), False


def file_calls():
    """(name, parameters, of MPI 4 only) of everything that begins with MPI_File_"""
    return [(name, params, False) for name, params in FILE_CALLS] + \
           [(name, params, large) for name, params, _, large in access_calls()]


def entry_names():
    """(name without MPI_, of MPI 4 only), in the order of their numbers"""
    return [("File_" + name, large) for name, _, large in file_calls()] + \
           [(name, False) for name, _ in WAIT_CALLS] + [(name, False) for name in OTHER_CALLS]


def by_guard(rows, line):
    """A line for each row, those of MPI 4 together."""
    small = "".join(line(*row[:-1]) for row in rows if not row[-1])
    return small + guarded(True, "".join(line(*row[:-1]) for row in rows if row[-1]))


def header():
    used = [(name, params, False) for name, params in USED_CALLS]
    waits = [(name, params, False) for name, params in WAIT_CALLS]

    def pointer(name, params):
        return wrapped(f"int (*{name})({params});", "    ") + "\n"

    return f"""{NOTE}#ifndef DROPIN_ENTRY_POINTS_H
#define DROPIN_ENTRY_POINTS_H

#include <mpi.h>

/* clang-format off */

/* What comes after Sago under one kind of name: of MPI_File_x perhaps a tool that was preloaded too, of
 * PMPI_File_x the MPI library. */
typedef struct dropin_calls {{
{by_guard(file_calls() + used, pointer)}}} dropin_calls;

/* The same of the calls that complete requests. */
typedef struct dropin_wait_calls {{
{"".join(pointer(name, params) for name, params, _ in waits)}}} dropin_wait_calls;

/* What stands behind MPI_File_x and PMPI_File_x of the calls that move no data; `next` is the table to hand the call
 * on with. */
{"".join(wrapped(f"int dropin_{name}(const dropin_calls *next, {params});") + chr(10) for name, params in FILE_CALLS)}
/* What stands behind MPI_x and PMPI_x while Sago has nonblocking calls. */
{"".join(wrapped(f"int dropin_{name}({params});") + chr(10) for name, params, _ in waits)}
/* The numbers of the entries. */
enum {{
{by_guard(entry_names(), lambda name: f"    DROPIN_MPI_{name}, DROPIN_PMPI_{name}," + chr(10))}    DROPIN_ENTRY_COUNT
}};

#endif
"""


def entry_of(name, params, body):
    """The entry of a file call in the core, under both of its names, and the way there where there are tools."""
    args = arguments(params)
    return function(f"static int enter_MPI_File_{name}({params})", [
        "const dropin_calls *next = dropin_next_calls();", "if (!next)", f"    return dropin_mpi->{name}({args});"] +
        (body or [f"return dropin_{name}(next, {args});"])) + \
        f"static dropin_word tools_MPI_File_{name}(DROPIN_WORDS) {{ return BEFORE_TOOLS(enter_MPI_File_{name}); }}\n"


def wait_entries_of(name, params):
    """The two entries of a call that completes requests."""
    args = arguments(params)
    return "".join(function(f"static int enter_{prefix}_{name}({params})", [
        "if (!dropin_waits_matter())", f"    return dropin_waits_after_{prefix.lower()}.{name}({args});",
        "dropin_waiting = true;", f"return dropin_waited(dropin_{name}({args}));"])
        for prefix in ("MPI", "PMPI"))


def find_line(name, table, field):
    return wrapped(f'find(next, "PMPI_{name}", &{table}_mpi.{field}, &{table}_pmpi.{field});', "    ") + "\n"


def fill_line(name):
    return wrapped(f"[DROPIN_MPI_File_{name}] = {{DROPIN_AS_ENTRY(enter_MPI_File_{name}), tools_MPI_File_{name}}},",
                   "    ") + "\n"


def fill_wait_lines(name):
    return "".join(f"    [DROPIN_{prefix}_{name}] = DROPIN_AS_ENTRY(enter_{prefix}_{name}),\n"
                   for prefix in ("MPI", "PMPI"))


def core():
    bodies = {name: body for name, _, body, _ in access_calls()}
    text = f"""{NOTE}#include "entry_points.h"

#include "mpi_access.h"
#include "entries.h"
#include "staged.h"
#include "waits.h"

/* clang-format off */

/* A call by its name MPI_File_x, where tools stand behind that name.  The calls that a tool makes meanwhile are let
 * straight through. */
DROPIN_CALLS_ANY static dropin_word enter_before_tools(dropin_entry *entry, DROPIN_WORDS) {{
    if (dropin_stage == DROPIN_WITHIN)
        return entry(a, b, c, d, e, f);
    dropin_stage = DROPIN_ENTERING;
    dropin_word code = entry(a, b, c, d, e, f);
    dropin_stage = DROPIN_OUTSIDE;
    return code;
}}
#define BEFORE_TOOLS(entry) enter_before_tools(DROPIN_AS_ENTRY(entry), a, b, c, d, e, f)
"""
    for name, params, large in file_calls():
        text += "\n" + guarded(large, entry_of(name, params, bodies.get(name)))
    for name, params in WAIT_CALLS:
        text += f"\n/* ---- MPI_{name} ---- */\n\n" + wait_entries_of(name, params)
    used = [(name, params, False) for name, params in USED_CALLS]
    find = by_guard(file_calls() + used, lambda name, params: find_line("File_" + name, "dropin_after", name))
    find_waits = "".join(find_line(name, "dropin_waits_after", name) for name, _ in WAIT_CALLS)
    fill = by_guard(file_calls(), lambda name, params: fill_line(name))
    fill_waits = "".join(fill_wait_lines(name) for name, _ in WAIT_CALLS)
    return text + f"""
/* ---- All of them ---- */

void dropin_find_file_calls(dropin_next *next, dropin_finder *find) {{
{find}}}

void dropin_find_waits(dropin_next *next, dropin_finder *find) {{
{find_waits}}}

/* Of MPI_File_x, by the number of that name; the number of PMPI_File_x comes next. */
static const struct {{
    dropin_entry *entry, *before_tools;
}} files[DROPIN_ENTRY_COUNT] = {{
{fill}}};

static dropin_entry *const waits[DROPIN_ENTRY_COUNT] = {{
{fill_waits}}};

void dropin_fill_entries(dropin_entry *entries[]) {{
    for (int i = 0; i < DROPIN_ENTRY_COUNT; i++) {{
        if (waits[i])
            entries[i] = waits[i];
        if (!files[i].entry)
            continue;
        entries[i] = dropin_tools ? files[i].before_tools : files[i].entry;
        entries[i + 1] = files[i].entry;
    }}
}}
"""


def front():
    def symbol(name):
        text = ""
        for full in ("MPI_" + name, "PMPI_" + name):
            text += f'dropin_entry front_{full} __asm__("{full}");\n' \
                    f"DROPIN_CALLS_ANY dropin_word front_{full}(DROPIN_WORDS) {{ return PASS(DROPIN_{full}); }}\n"
        return text

    return f"""{NOTE}#include "front.h"

/* clang-format off */

#define PASS(entry) front_entry(entry, b)(a, b, c, d, e, f)

const char *const front_names[DROPIN_ENTRY_COUNT] = {{
{by_guard(entry_names(), lambda name: f'    "MPI_{name}", "PMPI_{name}",{chr(10)}')}}};

{by_guard(entry_names(), symbol)}"""


FILES = {"entry_points.h": header, "entry_points.c": core, os.path.join("front", "front_entries.c"): front}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    for name, make in FILES.items():
        path = os.path.join(HERE, name)
        text = re.sub(r"[ \t]+\n", "\n", make())
        if not check:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        elif open(path, encoding="utf-8").read() != text:
            stale.append(name)
    if stale:
        sys.exit("run dropin/entry_points.py: " + ", ".join(stale) + " is not what it writes")


if __name__ == "__main__":
    main()
