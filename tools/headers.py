"""The public headers as data: sections, and groups of declarations with the comment above them.  For tools/manual.py."""
import os
import re

ORDER = ("sago.h", "status.h", "storage.h", "ckpt.h", "mesh.h", "stats.h", "report.h", "device.h", "topology.h")
SECTION = re.compile(r"/\* ---- (.*?) -+ \*/")
FUNCTION = re.compile(r"^[a-z][\w \*]*?\*?\b(sago_\w+)\(", re.M)


class Group:
    """Declarations that stand together, without an empty line between them, below one comment."""

    def __init__(self, header, section, comment, code):
        self.header, self.section, self.comment, self.code = header, section, comment, code
        self.functions = FUNCTION.findall(code) if not code.startswith(("typedef", "#", "enum", "static")) else []
        self.before = None  # the group that "The same" speaks of

    def prototypes(self):
        """(name, prototype, comment beside it) of each function."""
        found = []
        for match in re.finditer(r"([a-z][^;{}]*?\b(sago_\w+)\([^;]*\));([ \t]*/\*(.*?)\*/)?", self.code, re.S):
            found.append((match.group(2), " ".join(match.group(1).split()), plain(match.group(4) or "")))
        return found


def plain(comment):
    """The text of a comment: paragraphs with empty lines between them; indented lines stay lines."""
    lines = [re.sub(r"^ ?\* ?", "", line.rstrip()) for line in comment.strip().splitlines()]
    return "\n".join(lines).strip()


def paragraphs(text):
    """(kind, text): "text" is one line however long, "list" a point of a list, "code" stays as it is."""
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        while lines:
            take = 1
            if re.match(r"\s+- ", lines[0]):
                while take < len(lines) and re.match(r"\s{3,}(?!- )", lines[take]) and not re.match(r"\s+- ", lines[take]):
                    take += 1
                yield "list", " ".join(line.strip() for line in lines[:take])[2:]
            elif lines[0].startswith("    "):
                while take < len(lines) and lines[take].startswith("    "):
                    take += 1
                yield "code", "\n".join(line[4:] for line in lines[:take])
            else:
                while take < len(lines) and not re.match(r"\s+- |    ", lines[take]):
                    take += 1
                yield "text", " ".join(line.strip() for line in lines[:take])
            lines = lines[take:]


def _blocks(body):
    """Pieces of a header between empty lines; comments and braces are not cut."""
    block, depth = [], 0
    for line in body.splitlines():
        inside = "/*" in "\n".join(block) and "\n".join(block).count("/*") > "\n".join(block).count("*/")
        if not line.strip() and not inside and depth == 0:
            if block:
                yield "\n".join(block)
            block = []
            continue
        depth += line.count("{") - line.count("}") if not inside else 0
        block.append(line)
    if block:
        yield "\n".join(block)


def _split(block):
    """(comment above, code) pairs of one block: a comment of its own line begins a new pair."""
    pairs, comment, code = [], "", []
    lines = block.splitlines()
    i = 0
    while i < len(lines):
        if lines[i].startswith("/*"):
            if code:
                pairs.append((comment, "\n".join(code)))
                code = []
            first = i
            while "*/" not in lines[i]:
                i += 1
            comment = plain("\n".join(lines[first:i + 1]).replace("/*", "", 1).rsplit("*/", 1)[0])
        else:
            code.append(lines[i])
        i += 1
    if code:
        pairs.append((comment, "\n".join(code)))
    return pairs


def parse(folder, name):
    """(what the header says at its top, its groups)"""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        text = file.read()
    top = plain(re.match(r"/\*(.*?)\*/", text, re.S).group(1))
    body = re.search(r'extern "C" \{\n#endif\n(.*)\n#ifdef __cplusplus\n\}', text, re.S).group(1)
    groups, section, before = [], "", None
    for block in _blocks(body):
        heading = SECTION.fullmatch(block.strip())
        if heading:
            section, before = heading.group(1), None
            continue
        for comment, code in _split(block):
            group = Group(name, section, comment, code)
            if group.functions and before and re.match(r"The same(\.|, | with | for | from )", comment):
                group.before = before
            if group.functions:
                before = group
            groups.append(group)
    return top, groups


def parse_all(source):
    folder = os.path.join(source, "include", "sago")
    return {name: parse(folder, name) for name in ORDER}
