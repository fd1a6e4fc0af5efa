"""What an index such as [10:20, ::2] takes of an array in C order, as runs of bytes.  Needs no MPI."""
import numpy

from .reader import spans  # noqa: F401  one meaning of an index for files and for checkpoints


def runs(shape, itemsize, chosen, offset=0):
    """The runs of `chosen` (see spans()) as rows (offset, length) in ascending order, neighbours joined."""
    if any(count == 0 for _, count, _ in chosen):
        return numpy.empty((0, 2), numpy.int64)
    length, stride = itemsize, itemsize  # of what is contiguous so far; of one index of the dimension
    starts, joined = numpy.array([offset], numpy.int64), True
    for extent, (first, count, step) in zip(reversed(shape), reversed(chosen)):
        joined = joined and (count == 1 or step == 1) and length == stride
        if joined:
            length, starts = count * stride, starts + first * stride
        else:
            steps = (first + step * numpy.arange(count, dtype=numpy.int64)) * stride
            starts = (steps[:, None] + starts[None, :]).ravel()
        stride *= extent
    return numpy.stack([starts, numpy.full_like(starts, length)], axis=1)
