#!/usr/bin/env python3
"""picture.py FILE.vtk ARRAY OUT.png: a slice through an array of a legacy VTK file as a picture.

The slice is across y, in the middle; z goes to the right and x upwards.  Blue is negative, red positive.  Only
Python's own library.
"""
import struct
import sys
import zlib

PIXELS = 5  # of a cell


def read_vtk(path, wanted):
    """(nx, ny, nz), numbers: structured points, doubles, binary."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    dims, points = None, 0

    def line():
        nonlocal at
        end = data.index(b"\n", at)
        text, at = data[at:end].decode("latin-1"), end + 1
        return text.split()

    while at < len(data):
        words = line()
        if not words:
            continue
        if words[0] == "DIMENSIONS":
            dims = [int(word) for word in words[1:]]
        elif words[0] == "POINT_DATA":
            points = int(words[1])
        elif words[0] == "SCALARS":
            name, kind = words[1], words[2]
            line()  # LOOKUP_TABLE
            if kind != "double":
                raise SystemExit(f"{path}: {name} is of type {kind}; this reads double")
            if name == wanted:
                return dims, struct.unpack_from(f">{points}d", data, at)
            at += 8 * points
    raise SystemExit(f"{path} has no array {wanted}")


def colour(value):
    """From blue through white to red, for -1 to 1."""
    fade = round(255 * (1 - min(abs(value), 1)))
    return bytes((255, fade, fade) if value > 0 else (fade, fade, 255))


def write_png(path, width, height, rows):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def main(path, array, output):
    (nx, ny, nz), values = read_vtk(path, array)
    most = max(map(abs, values)) or 1
    rows = []
    for x in reversed(range(nx)):
        row = b"".join(colour(values[(z * ny + ny // 2) * nx + x] / most) * PIXELS for z in range(nz))
        rows += [row] * PIXELS
    write_png(output, nz * PIXELS, nx * PIXELS, rows)
    print(f"{output}: {array}, {nz} x {nx} cells")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
