#!/usr/bin/env python3
"""The manual, made from what is there: comments of the headers, man pages, documents, the table of hints.

    manual.py man DIR              man pages of section 3, one for each call, into DIR
    manual.py html DIR SAGO        pages with a search box into DIR; SAGO is the built command, which prints the hints.
                                   Needs the Python module markdown, and mandoc.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys

import headers

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


# ---- What is known of a call ----

def description(group):
    """The comment, below that of the group it refers to."""
    text = group.comment
    return description(group.before) + "\n\n" + text if group.before else text


def briefs():
    """The phrase of every call, from a file of them."""
    with open(os.path.join(SOURCE, "docs", "calls.txt"), encoding="utf-8") as file:
        return dict(line.split(None, 1) for line in file.read().splitlines() if line and not line.startswith("#"))


def whole_description(group, everything):
    """With the header's own comment, where the header is about this call alone."""
    top, groups = everything[group.header]
    alone = sum(len(other.functions) for other in groups) == 1
    return (top + "\n\n" if alone else "") + description(group)


def calls(everything):
    """(name, prototype, comment beside it, group) of every call."""
    for _top, groups in everything.values():
        for group in groups:
            if group.functions:
                for name, prototype, beside in group.prototypes():
                    yield name, prototype, beside, group


def types_of(group, everything):
    """Declarations of the structs and enums in a call's arguments that are not only names."""
    found = []
    for _top, groups in everything.values():
        for other in groups:
            match = re.search(r"}\s*(sago_\w+);|#define (\w+_INIT)\b", other.code)
            name = match and (match.group(1) or match.group(2).lower()[:-5])
            if name and name != "sago_status" and re.search(rf"\b{name}\b", group.code):
                found.append(other)
    return found


# ---- Man pages ----

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def roff_text(text):
    lines = []
    for kind, words in headers.paragraphs(text):
        if kind == "code":
            lines += [".PP", ".nf", ".RS 4", roff(words), ".RE", ".fi"]
        elif kind == "list":
            lines += ['.IP "\\(bu" 2', roff(words)]
        else:
            lines += [".PP", roff(words)]
    return "\n".join(lines)


def man_page(name, phrase, call, everything):
    prototype, beside, group = call
    siblings = sorted({other for other, _, _, its in calls(everything)
                       if its.header == group.header and its.section == group.section and other != name})
    lines = [f'.TH {name.upper()} 3 "" "Sago" "Sago manual"', ".SH NAME",
             f"{name} \\- {roff(phrase)}", ".SH SYNOPSIS", ".nf", f"#include <sago/{group.header}>", ".PP"]
    lines += [roff(line) for line in wrapped(prototype + ";")] + [".fi", ".SH DESCRIPTION"]
    beside = beside[:1].upper() + beside[1:] + ".\n\n" if beside else ""
    about = [roff_text(beside + whole_description(group, everything))]
    for other in types_of(group, everything):
        about += [".PP", ".nf", ".RS 4", roff(other.code.replace("\t", "    ")), ".RE", ".fi"]
    lines.append(re.sub(r"^\n*\.PP\n", "", "\n".join(about)))
    if prototype.startswith("sago_status "):
        lines += [".SH RETURN VALUE", "SAGO_OK (0), or an error;", ".BR sago_error_message (3)",
                  "tells what went wrong and where. Collective calls return the same on every rank."]
    see = [f".BR {other} (3)" for other in siblings + ["sago_error_message"] if other != name] + [".BR sago (1)"]
    lines += [".SH SEE ALSO", ",\n".join(dict.fromkeys(see)).replace(",\n", " ,\n")]
    return "\n".join(line for line in lines if line) + "\n"


def wrapped(prototype, width=78):
    """A prototype in lines that are short enough, what follows indented."""
    lines, line = [], ""
    for word in re.split(r"(?<=,) ", prototype):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = "    " + word
        else:
            line = line + " " + word if line else word
    return lines + [line]


def write_man(folder):
    everything = headers.parse_all(SOURCE)
    phrases = briefs()
    os.makedirs(folder, exist_ok=True)
    for name, *call in calls(everything):
        if name not in phrases:
            sys.exit(f"manual.py: docs/calls.txt has no phrase for {name}")
        with open(os.path.join(folder, name + ".3"), "w", encoding="utf-8") as file:
            file.write(man_page(name, phrases.pop(name), call, everything))
    if phrases:
        sys.exit(f"manual.py: docs/calls.txt names {', '.join(phrases)}, which no header has")


# ---- HTML ----

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fff; --soft: #f3f5f8; --line: #d5dae2; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ink: #dde3ec; --paper: #15181d; --soft: #20252d; --line: #3a4250; --link: #7db7f5; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); }
.page { display: grid; grid-template-columns: 17rem minmax(0, 52rem); gap: 2.5rem; padding: 1.5rem; max-width: 76rem; margin: auto; }
nav { font-size: .92rem; position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow: auto; }
nav h2 { font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; margin: 1.2rem 0 .3rem; opacity: .75; }
nav ul { list-style: none; margin: 0; padding: 0; } nav li { margin: .15rem 0; } nav .here { font-weight: 650; }
input[type=search] { width: 100%; padding: .5rem .7rem; font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
#found { margin: .4rem 0 0; padding: 0; list-style: none; } #found li { border-bottom: 1px solid var(--line); padding: .4rem 0; } #found small { display: block; opacity: .8; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; overflow-x: auto; font-size: .87rem; line-height: 1.45; }
code { font-family: ui-monospace, monospace; font-size: .92em; } :not(pre) > code { background: var(--soft); padding: .05em .3em; border-radius: 4px; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .92rem; } th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
h1 { line-height: 1.2; } h2 { margin-top: 2rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; } h3 { margin-top: 1.6rem; }
:target { background: var(--soft); } .kind { opacity: .7; font-weight: 400; font-size: .85em; }
@media (max-width: 60rem) { .page { display: block; padding: 1rem; } nav { position: static; max-height: none; margin-bottom: 1.5rem; } nav .all { max-height: 9rem; overflow: auto; } }
@media print { nav { display: none; } .page { display: block; } }
"""
SEARCH = """
const box = document.querySelector('input[type=search]'), found = document.getElementById('found');
function look() {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const rate = e => words.reduce((sum, w) => sum < 0 ? -1 : e[0].toLowerCase().includes(w) ? sum + 20 - (e[0].length > 40)
    : e[2].toLowerCase().includes(w) ? sum + 1 : -1, 0);
  const hits = words.length ? INDEX.map(e => [rate(e), e]).filter(h => h[0] >= 0).sort((a, b) => b[0] - a[0]).slice(0, 30) : [];
  found.replaceChildren(...hits.map(([, e]) => {
    const li = document.createElement('li'), a = document.createElement('a'), small = document.createElement('small');
    const at = Math.max(0, e[2].toLowerCase().indexOf(words[0]) - 40);
    a.href = e[1]; a.textContent = e[0]; small.textContent = (at ? '\\u2026' : '') + e[2].slice(at, at + 110);
    li.append(a, small); return li; }));
  if (words.length && !hits.length) found.textContent = 'Nothing found.';
}
box.addEventListener('input', look);
"""


class Site:
    """Pages by group; every heading is in the index of the search."""

    def __init__(self):
        self.pages, self.index = [], []

    def add(self, group, name, title, body):
        body, names = self._anchors(body), set()
        for level, anchor, heading, text in re.findall(r'<h([123])[^>]*? id="([^"]*)"[^>]*>(.*?)</h\1>(.*?)(?=<h[123]|\Z)', body, re.S):
            words = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))).strip()
            label = html.unescape(re.sub(r"<[^>]+>", "", heading)).strip()
            if anchor not in names:
                self.index.append([label if level == "1" else f"{label} \u2013 {title}", f"{name}#{anchor}", words[:1500]])
            names.add(anchor)
        self.pages.append((group, name, title, body))

    @staticmethod
    def _anchors(body):
        """Every heading has a name to link to."""
        def name(match):
            level, attributes, text = match.groups()
            if "id=" in attributes:
                return match.group(0)
            anchor = re.sub(r"[^a-z0-9]+", "-", html.unescape(re.sub(r"<[^>]+>", "", text)).lower()).strip("-")
            return f'<h{level}{attributes} id="{anchor}">{text}</h{level}>'
        return re.sub(r"<h([123])([^>]*)>(.*?)</h\1>", name, body, flags=re.S)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "search.js"), "w", encoding="utf-8") as file:
            file.write("const INDEX = " + json.dumps(self.index, ensure_ascii=False) + ";\n" + SEARCH)
        with open(os.path.join(folder, "style.css"), "w", encoding="utf-8") as file:
            file.write(STYLE)
        for _group, name, title, body in self.pages:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(self._page(name, title, body))
            for path in re.findall(r'(?:href|src)="files/([^"]*)"', body):
                os.makedirs(os.path.join(folder, "files", os.path.dirname(path)), exist_ok=True)
                shutil.copy(os.path.join(SOURCE, path), os.path.join(folder, "files", path))

    def _page(self, here, title, body):
        menu = ""
        for group in dict.fromkeys(page[0] for page in self.pages):
            links = "".join(f'<li><a href="{name}"{" class=here" if name == here else ""}>{html.escape(its)}</a></li>'
                            for its_group, name, its, _ in self.pages if its_group == group)
            menu += f"<h2>{group}</h2><ul>{links}</ul>"
        return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)} - Sago</title>'
                '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="style.css">'
                '</head><body><div class="page"><nav><input type="search" placeholder="Search the manual" aria-label="Search">'
                f'<ul id="found"></ul><div class="all">{menu}</div></nav><main>{body}</main></div>'
                '<script src="search.js"></script></body></html>\n')


def markdown_page(path):
    import markdown
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        text = re.sub(r"^(```\w+) .*$", r"\1", file.read(), flags=re.M)  # `file=...` is for the test of the tutorial
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists"])

    def aim(match):
        page = page_name(match.group(2))
        if page == match.group(2):  # no page: a file of the repository, which goes with the manual
            page = "files/" + os.path.normpath(os.path.join(os.path.dirname(path), page))
        return f'{match.group(1)}="{page}"'
    return re.sub(r'(href|src)="([^":#]*)"', aim, body)


def page_name(path):
    """Where a document of the repository is in the manual."""
    base = os.path.basename(path)
    if base.endswith(".md"):
        return "index.html" if path == "README.md" else ("python.html" if "python/README" in path else base[:-3].lower() + ".html")
    return base + ".html" if re.fullmatch(r"sago.*\.[157]", base) else path


def man_html(path):
    said = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", path], check=True, capture_output=True, text=True)
    body = re.sub(r'<table class="(head|foot)">.*?</table>', "", said.stdout, flags=re.S)
    body = body.replace("<h1", "<h2").replace("</h1>", "</h2>")
    name = re.sub(r"\.(\d)$", r"(\1)", os.path.basename(path))
    return f"<h1>{name}</h1>{body}"


def html_text(text):
    out = []
    for kind, words in headers.paragraphs(text):
        words = html.escape(words, quote=False)
        if kind == "code":
            out.append(f"<pre>{words}</pre>")
        else:
            words = re.sub(r"`([^`]*)`", r"<code>\1</code>", words)
            words = re.sub(r"\b(sago_\w+)\(\)", r'<a href="calls.html#\1"><code>\1()</code></a>', words)
            out.append(f"<li>{words}</li>" if kind == "list" else f"<p>{words}</p>")
    return re.sub(r"((?:<li>.*?</li>\n?)+)", r"<ul>\1</ul>", "\n".join(out))


def calls_page(everything):
    body = "<h1>The calls</h1>"
    for name, (top, groups) in everything.items():
        body += f"<h2>&lt;sago/{name}&gt;</h2>{html_text(top)}"
        for group in groups:
            prototypes = group.prototypes() if group.functions else []
            for call, _prototype, _beside in prototypes:
                body += f'<h3 id="{call}">{call}</h3>'
            body += f"<pre>{html.escape(group.code, quote=False)}</pre>{html_text(description(group))}"
    return body


def size_text(value):
    """4194304 as 4M."""
    unit = 0
    while value and value % 1024 == 0 and unit < 5:
        value, unit = value // 1024, unit + 1
    return f"{value}{' KMGTP'[unit].strip()}"


def hints_page(sago):
    rows = json.loads(subprocess.run([sago, "hints", "--json"], check=True, capture_output=True, text=True).stdout)
    body = ("<h1>Hints and variables</h1><p>Hints are given in an <code>MPI_Info</code>, by <code>sago run --hint</code>, or in the "
            "environment: <code>SAGO_MEMORY=64M</code> for <code>sago_memory</code>.</p>")
    for group in dict.fromkeys(row.get("group", "Hints") for row in rows):
        body += f"<h2>{html.escape(group)}</h2><table><tr><th>hint, variable</th><th>what it does</th><th>values</th><th>default</th></tr>"
        for row in (row for row in rows if row.get("group", "Hints") == group):
            show = size_text if row["type"] == "size" else str
            values = row.get("choices") or (f"{show(row['low'])} to {show(row['high'])}" if "low" in row else row["type"])
            if row.get("choices") and "low" in row:
                values += f"|number from {row['low']} to {row['high']}"
            also = f"<br>also as <code>{html.escape(row['alias'])}</code>" if row.get("alias") else ""
            body += (f'<tr id="{row["name"]}"><td><code>{row["name"]}</code><br><code>{row["name"].upper()}</code></td><td>{html.escape(row["help"])}{also}</td>'
                     f'<td>{html.escape(str(values)).replace("|", " | ")}</td><td>{html.escape(row["default"])}</td></tr>')
        body += "</table>"
    return body + markdown_page("docs/variables.md").replace("<h1>", "<h2>").replace("</h1>", "</h2>")


def write_html(folder, sago):
    site = Site()
    site.add("Begin", "index.html", "Sago", markdown_page("README.md"))
    for title, path in (("Tutorial", "docs/tutorial.md"), ("Coming from others", "docs/migration.md"), ("Questions", "docs/faq.md"),
                        ("Installing", "docs/install.md"), ("Job scripts", "docs/jobs.md")):
        site.add("Begin", page_name(path), title, markdown_page(path))
    everything = headers.parse_all(SOURCE)
    site.add("Look up", "calls.html", "The calls", calls_page(everything))
    site.add("Look up", "hints.html", "Hints and variables", hints_page(sago))
    site.add("Look up", "python.html", "Python", markdown_page("bindings/python/README.md"))
    folder_of_pages = os.path.join(SOURCE, "docs", "man")
    for page in sorted(os.listdir(folder_of_pages), key=lambda name: (name[-1], name)):
        site.add("The command", page + ".html", re.sub(r"\.(\d)$", r"(\1)", page), man_html(os.path.join(folder_of_pages, page)))
    listed = {"tutorial.md", "migration.md", "faq.md", "install.md", "jobs.md", "variables.md"}
    for path in ["ARCHITECTURE.md"] + sorted("docs/" + name for name in os.listdir(os.path.join(SOURCE, "docs"))
                                             if name.endswith(".md") and name not in listed) + ["CONTRIBUTING.md", "CHANGELOG.md"]:
        body = markdown_page(path)
        title = html.unescape(re.sub(r"<[^>]+>", "", re.search(r"<h1>(.*?)</h1>", body, re.S).group(1)))
        site.add("Inside", page_name(path), title, body)
    site.write(folder)


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "man":
        write_man(arguments[1])
    elif len(arguments) == 3 and arguments[0] == "html":
        write_html(*arguments[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
