#!/usr/bin/env python3
"""Reads a directory of checkpoints without Sago: the format of docs/checkpoint-format.md in a few lines.

    read_checkpoint.py DIR                      lists the steps
    read_checkpoint.py DIR STEP                 lists what is in a step
    read_checkpoint.py DIR STEP NAME OUT.npy    writes an array (numpy.load reads it), or OUT, the bytes alone

Python's own library is enough.  Checksums are checked if the module xxhash is installed.
"""
import os
import re
import struct
import sys

try:
    import xxhash
except ImportError:
    xxhash = None

INTENT, PART = 2, 3  # kinds of records
ARRAY, LOCAL, SHARED = range(3)  # kinds of data
NUMPY = {"float": "f", "int": "i", "uint": "u", "complex": "c"}


class Damaged(Exception):
    pass


class Record:
    """A file with magic, kind, version, length, body and checksum; the body is read number by number."""

    def __init__(self, path, kind):
        with open(path, "rb") as file:
            data = file.read()
        magic, found, version, length = struct.unpack_from("<8sIIq", data)
        if magic != b"SAGOCKPT" or found != kind or length != len(data):
            raise Damaged(f"{path} is not the record it should be")
        if version != 1:
            raise Damaged(f"{path} has format version {version}")
        low, high = struct.unpack_from("<QQ", data, length - 16)
        if xxhash and xxhash.xxh3_128_intdigest(data[:-16]) != high << 64 | low:
            raise Damaged(f"{path}: its checksum is wrong")
        self.data, self.at = data, 24

    def ints(self, count):
        values = struct.unpack_from(f"<{count}q", self.data, self.at)
        self.at += 8 * count
        return values

    def int(self):
        return self.ints(1)[0]

    def text(self):
        length = self.int()
        self.at += length
        return self.data[self.at - length:self.at].decode()


class Intent:
    """What a save consists of."""

    def __init__(self, folder):
        record = Record(os.path.join(folder, "intent"), INTENT)
        self.id = record.ints(2)
        record.ints(2)  # the directory's id
        (self.step, self.time, self.ranks, _nodes, self.files, self.piece, _data, _parity) = record.ints(8)
        self.arrays = []
        for _ in range(record.int()):
            array = {"name": record.text(), "type": record.text()}
            array["kind"], array["element"], array["bytes"], ndims = record.ints(4)
            array["shape"] = record.ints(ndims)
            self.arrays.append(array)
        fields = ("bytes", "file", "base", "set", "member")
        self.writers = [dict(zip(fields, record.ints(5))) for _ in range(record.int())]


class Part:
    """What one writer wrote: blocks one after the other, and a checksum for every piece."""

    def __init__(self, folder, intent, writer):
        record = Record(os.path.join(folder, f"writer-{writer:06}.part"), PART)
        if record.ints(2) != intent.id:
            raise Damaged(f"the part of writer {writer} belongs to another save")
        record.ints(4)  # step, writer, bytes, piece: as in the intent
        self.sums = record.ints(record.int())
        self.blocks = []
        for _ in range(record.int()):
            array, rank, offset, length, ndims = record.ints(5)
            self.blocks.append((array, rank, offset, length, record.ints(ndims), record.ints(ndims)))


def steps_of(directory):
    """(step, folder, intent) of every complete save, in ascending order."""
    found = []
    for name in sorted(os.listdir(directory)):
        folder = os.path.join(directory, name)
        if not re.fullmatch(r"step-\d{19}-[0-9a-f]{16}", name):
            continue
        try:
            intent = Intent(folder)
            for writer in range(len(intent.writers)):
                Part(folder, intent, writer)
            found.append((intent.step, folder, intent))
        except (FileNotFoundError, Damaged):
            pass  # unfinished, or damaged: not there
    return found


def stream_of(folder, intent, writer, part):
    """The bytes of a writer, checked."""
    place = intent.writers[writer]
    with open(os.path.join(folder, f"file-{place['file']:06}.data"), "rb") as file:
        file.seek(place["base"])
        data = file.read(place["bytes"])
    if len(data) != place["bytes"]:
        raise Damaged(f"writer {writer}: the data file is too short")
    for i, wanted in enumerate(part.sums):
        piece = data[i * intent.piece:(i + 1) * intent.piece]
        if xxhash and xxhash.xxh3_64_intdigest(piece) != wanted & (1 << 64) - 1:
            raise Damaged(f"writer {writer}: piece {i} is damaged")
    return data


def put_block(out, shape, element, start, count, data):
    """Copies a block into the array `out`, row by row; the last index moves fastest."""
    row = count[-1] * element
    index = [0] * (len(count) - 1)
    for begin in range(0, len(data), row):
        at = 0
        for i, length in enumerate(shape):
            at = at * length + start[i] + (index[i] if i < len(index) else 0)
        out[at * element:at * element + row] = data[begin:begin + row]
        for axis in reversed(range(len(index))):
            index[axis] += 1
            if index[axis] < count[axis]:
                break
            index[axis] = 0


def read(folder, intent, name):
    """The bytes of an array, or of shared data; local data: a list by rank."""
    number = [array["name"] for array in intent.arrays].index(name)
    array = intent.arrays[number]
    out = bytearray(array["bytes"])
    local = [b""] * intent.ranks
    for writer in range(len(intent.writers)):
        part = Part(folder, intent, writer)
        blocks = [block for block in part.blocks if block[0] == number and block[3] > 0]
        stream = stream_of(folder, intent, writer, part) if blocks else b""
        for _, rank, offset, length, start, count in blocks:
            data = stream[offset:offset + length]
            if array["kind"] == ARRAY and start:
                put_block(out, array["shape"], array["element"], start, count, data)
            elif array["kind"] == LOCAL:
                local[rank] = data
            else:
                out[:] = data
    return local if array["kind"] == LOCAL else bytes(out)


def npy_header(array):
    """numpy's own file format: a text that says type and shape, padded."""
    kind, bits = re.fullmatch(r"([a-z]+)(\d*)", array["type"]).groups()
    code = f"<{NUMPY[kind]}{int(bits) // 8}" if kind in NUMPY else f"V{array['element']}"
    text = repr({"descr": code, "fortran_order": False, "shape": tuple(array["shape"])})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def main(directory, step=None, name=None, output=None):
    saves = steps_of(directory)
    if step is None:
        for number, _, intent in saves:
            print(f"step {number}: {sum(w['bytes'] for w in intent.writers)} bytes, {intent.ranks} ranks")
        return 0
    chosen = [save for save in saves if save[0] == int(step)]
    if not chosen:
        print(f"{directory} has no complete step {step}", file=sys.stderr)
        return 1
    _, folder, intent = chosen[-1]
    if name is None:
        for array in intent.arrays:
            print(array["name"], ("array", "local", "shared")[array["kind"]], array["type"], *array["shape"])
        return 0
    array = next((array for array in intent.arrays if array["name"] == name), None)
    if array is None or output is None:
        print(f"no array {name} in step {step}" if array is None else __doc__, file=sys.stderr)
        return 1
    data = read(folder, intent, name)
    with open(output, "wb") as file:
        if output.endswith(".npy") and array["kind"] == ARRAY:
            file.write(npy_header(array))
        file.writelines(data if isinstance(data, list) else [data])
    return 0


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
