"""A strict reader of unstructured meshes in legacy VTK (binary) and VTU (raw appended data), for tests: it takes nothing
that the formats do not say, knows nothing of who wrote the file, and needs no library."""
import re
import struct
import sys
import xml.etree.ElementTree

TYPES = {"float": "f", "double": "d", "char": "b", "unsigned_char": "B", "short": "h", "unsigned_short": "H", "int": "i",
         "unsigned_int": "I", "vtktypeint64": "q", "vtktypeuint64": "Q"}
XML_TYPES = {"Float32": "f", "Float64": "d", "Int8": "b", "UInt8": "B", "Int16": "h", "UInt16": "H", "Int32": "i",
             "UInt32": "I", "Int64": "q", "UInt64": "Q"}


class Mesh:
    """points: triples; cells: (kind, corners); point_fields and cell_fields: name -> (components, numbers)"""

    def __init__(self):
        self.points, self.cells, self.point_fields, self.cell_fields = [], [], {}, {}

    def check(self):
        for kind, corners in self.cells:
            assert 1 <= kind <= 255 and all(0 <= c < len(self.points) for c in corners), (kind, corners)
        for count, fields in ((len(self.points), self.point_fields), (len(self.cells), self.cell_fields)):
            for name, (components, numbers) in fields.items():
                assert len(numbers) == components * count, name
        return self


class Legacy:
    def __init__(self, data):
        self.data, self.at = data, 0

    def line(self):
        end = self.data.index(b"\n", self.at)
        text, self.at = self.data[self.at:end].decode("ascii"), end + 1
        return text

    def words(self, *names):
        """A line that begins with one of the names; an empty one, which ends binary data, may come before."""
        text = self.line() or self.line()
        words = text.split(" ")
        assert words[0] in names, text
        return words

    def numbers(self, letter, count):
        size = struct.calcsize(">" + letter) * count
        assert self.at + size <= len(self.data), "the file is cut off"
        found = struct.unpack_from(f">{count}{letter}", self.data, self.at)
        self.at += size
        return found

    def fields(self, count, number, into):
        for _ in range(number):
            assert self.line() == ""
            name, components, tuples, kind = self.line().split(" ")
            assert int(tuples) == count
            name = re.sub("%([0-9A-F]{2})", lambda m: chr(int(m.group(1), 16)), name)
            assert name not in into
            into[name] = (int(components), self.numbers(TYPES[kind], int(components) * count))

    def mesh(self):
        mesh = Mesh()
        assert self.line() == "# vtk DataFile Version 3.0"
        assert len(self.line()) <= 256
        assert self.line() == "BINARY" and self.line() == "DATASET UNSTRUCTURED_GRID"
        _, count, kind = self.words("POINTS")
        numbers = self.numbers(TYPES[kind], 3 * int(count))
        mesh.points = [numbers[i:i + 3] for i in range(0, len(numbers), 3)]
        _, cells, size = self.words("CELLS")
        listed, corners, at = self.numbers("i", int(size)), [], 0
        while at < len(listed):
            corners.append(listed[at + 1:at + 1 + listed[at]])
            assert len(corners[-1]) == listed[at]
            at += 1 + listed[at]
        assert len(corners) == int(cells)
        _, kinds = self.words("CELL_TYPES")
        assert kinds == cells
        mesh.cells = list(zip(self.numbers("i", int(kinds)), corners))
        while self.data[self.at:] != b"\n":
            what, count = self.words("POINT_DATA", "CELL_DATA")
            points = what == "POINT_DATA"
            assert int(count) == len(mesh.points if points else mesh.cells)
            word, name, number = self.line().split(" ")
            assert word == "FIELD" and name == "FieldData"
            self.at -= 1  # the end of this line is the empty one of the first field
            self.fields(int(count), int(number), mesh.point_fields if points else mesh.cell_fields)
        return mesh.check()


def read_vtu(data):
    """The numbers are no XML: what stands behind the underscore is taken out before it is parsed."""
    begin = re.search(rb'<AppendedData encoding="raw">\s*_', data).end()
    end = data.rindex(b"\n</AppendedData>")
    root = xml.etree.ElementTree.fromstring(data[:begin] + data[end:])
    assert root.tag == "VTKFile" and root.get("type") == "UnstructuredGrid" and root.get("header_type") == "UInt64"
    order = {"LittleEndian": "<", "BigEndian": ">"}[root.get("byte_order")]
    taken = []

    def array(element, count):
        assert element.get("format") == "appended"
        components, letter = int(element.get("NumberOfComponents", "1")), XML_TYPES[element.get("type")]
        at = begin + int(element.get("offset"))
        (size,) = struct.unpack_from(order + "Q", data, at)
        numbers = size // struct.calcsize(order + letter)
        assert count is None or numbers == count * components, (element.attrib, numbers)
        taken.append((at, at + 8 + size))
        return components, struct.unpack_from(f"{order}{numbers}{letter}", data, at + 8)

    piece = root.find("UnstructuredGrid/Piece")
    npoints, ncells, mesh = int(piece.get("NumberOfPoints")), int(piece.get("NumberOfCells")), Mesh()
    components, numbers = array(piece.find("Points/DataArray"), npoints)
    assert components == 3
    mesh.points = [numbers[i:i + 3] for i in range(0, len(numbers), 3)]
    cells = {element.get("Name"): element for element in piece.findall("Cells/DataArray")}
    ends, kinds = array(cells["offsets"], ncells)[1], array(cells["types"], ncells)[1]
    corners = array(cells["connectivity"], ends[-1] if ends else 0)[1]
    mesh.cells = [(kind, corners[first:last]) for kind, first, last in zip(kinds, (0,) + ends[:-1], ends)]
    for tag, count, into in (("PointData", npoints, mesh.point_fields), ("CellData", ncells, mesh.cell_fields)):
        for element in piece.findall(tag + "/DataArray"):
            into[element.get("Name")] = array(element, count)
    taken.sort()
    assert taken[0][0] == begin and taken[-1][1] == end, "bytes that belong to no array"
    assert all(a[1] == b[0] for a, b in zip(taken, taken[1:])), "arrays overlap, or leave gaps"
    return mesh.check()


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return read_vtu(data) if data.startswith(b"<?xml") else Legacy(data).mesh()


def expected(path):
    """What a test says is in the mesh: lines "point x y z", "cell kind corner...", "points|cells name components number..."
    with numbers of C's %a or integers."""
    mesh = Mesh()
    with open(path, encoding="ascii") as lines:
        for line in lines:
            word, *rest = line.split()
            if word == "point":
                mesh.points.append(tuple(float.fromhex(number) for number in rest))
            elif word == "cell":
                mesh.cells.append((int(rest[0]), tuple(int(corner) for corner in rest[1:])))
            else:
                fields = mesh.point_fields if word == "points" else mesh.cell_fields
                components, numbers = fields.setdefault(rest[0], (int(rest[1]), []))
                numbers += [float.fromhex(number) for number in rest[2:]]
    for fields in (mesh.point_fields, mesh.cell_fields):
        for name, (components, numbers) in fields.items():
            fields[name] = (components, tuple(numbers))
    return mesh


def main(compared, paths):
    for name in paths:
        got = read(name)
        if compared:
            wanted = expected(compared)
            for what in ("points", "cells", "point_fields", "cell_fields"):
                if getattr(got, what) != getattr(wanted, what):
                    print(f"FAIL: {name}: {what} are not those of {compared}")
                    return 1
        print(f"{name}: {len(got.points)} points, {len(got.cells)} cells, {list(got.point_fields)}, {list(got.cell_fields)}")
    return 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(given[1], given[2:]) if given[:1] == ["--compare"] else main(None, given))
