"""Slices as runs of bytes, and of blocks, beside what numpy says; without MPI."""
import random

import numpy
from sago import reader, select

random.seed(1)


def random_key(shape):
    parts = []
    for length in shape:
        first, end = sorted((random.randint(0, length), random.randint(0, length)))
        parts.append(random.choice([slice(first, end, random.randint(1, 3)), slice(None), random.randrange(-length, length)]))
    if random.random() < 0.3:
        parts[random.randrange(len(parts))] = Ellipsis
    return tuple(parts)


for _ in range(2000):
    shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 4)))
    whole = numpy.arange(numpy.prod(shape), dtype="i4").reshape(shape)
    key = random_key(shape)
    chosen, result = reader.spans(shape, key)
    assert result == whole[key].shape, (shape, key)
    found = select.runs(shape, 4, chosen, offset=100)
    taken = [i for offset, length in found for i in range((offset - 100) // 4, (offset - 100 + length) // 4)]
    assert taken == whole[key].ravel().tolist(), (shape, key, found)
    # Any block: what it has of the selection lands where it belongs.
    starts = [random.randrange(length) for length in shape]
    counts = [random.randint(1, length - start) for length, start in zip(shape, starts)]
    out = numpy.full([count for _, count, _ in chosen], -1)
    both = [reader._overlap(*place) for place in zip(starts, counts, chosen)]
    block = whole[tuple(slice(s, s + c) for s, c in zip(starts, counts))]
    if None not in both:
        out[tuple(into for _, into in both)] = block[tuple(of for of, _ in both)]
    inside = numpy.isin(whole[key], block).reshape(out.shape)
    assert (out[inside] == whole[key].reshape(out.shape)[inside]).all() and (out[~inside] == -1).all(), (shape, key)

one = reader.spans((10, 10), numpy.s_[2:4])[0]
assert select.runs((10, 10), 8, one).tolist() == [[160, 160]]  # whole rows are one run
for wrong in (numpy.s_[::-1], numpy.s_[5], numpy.s_[0, 0], numpy.s_[..., ...], "a"):
    try:
        reader.spans((3,), wrong)
    except (IndexError, AttributeError, TypeError):
        continue
    raise AssertionError(wrong)
print("good")
