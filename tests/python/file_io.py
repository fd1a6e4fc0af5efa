"""Files from Python, beside what numpy says: slices, steps, bytes, nonblocking, declared, errors.  Run by mpiexec."""
import sys

import numpy
import sago
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
SHAPE = (12, 10, 7)
WHOLE = numpy.arange(numpy.prod(SHAPE), dtype="f8").reshape(SHAPE)


def rows(length):
    """This rank's part of a dimension."""
    return slice(rank * length // ranks, (rank + 1) * length // ranks)


def fails(status, call, *arguments):
    try:
        call(*arguments)
    except sago.Error as error:
        assert status in error.name, error.name
        return str(error)
    raise AssertionError(f"{status}: did not fail")


def slices():
    with sago.File(comm, "slices.dat", "w", hints={"sago_memory": "8M"}) as file:
        array = file.array("f8", SHAPE, offset=64)
        array[rows(12)] = WHOLE[rows(12)]
        assert file.size == 64 + array.nbytes
        assert (array[...] == WHOLE).all()
        # Columns, every second index, single ones, nothing at all.
        keys = [numpy.s_[:, rows(10), :], numpy.s_[::2, 1::3, -1], numpy.s_[rank, ...], numpy.s_[..., 3:5], numpy.s_[5:5],
                numpy.s_[-1, -1, -1]]
        for key in keys:
            assert numpy.array_equal(array[key], WHOLE[key]), key
        array[:, rows(10), ::2] = -WHOLE[:, rows(10), ::2]
        changed = WHOLE.copy()
        changed[:, :, ::2] *= -1
        assert (array[...] == changed).all()
        array[rows(12)] = 5  # a scalar for all
        assert (array[...] == 5).all()
        # Into a part of a larger array that is not contiguous.
        room = numpy.zeros((14, 12, 9))
        array.read(..., out=room[1:-1, 1:-1, 1:-1])
        assert room.sum() == 5 * numpy.prod(SHAPE)
        assert file.hints["sago_memory"] in ("8M", str(8 << 20)), file.hints["sago_memory"]
        stats = file.stats()
        assert stats["collective_writes"] == 3 and stats["collective_reads"] >= 9, stats
        assert set(stats["phases"]) >= {"gather", "store"} and stats["memory_budget"] == 8 << 20
    assert numpy.fromfile("slices.dat", "f8").shape == (8 + WHOLE.size,)


def numbers_and_bytes():
    with sago.File(comm, "bytes.dat", "w") as file:
        mine = numpy.full(100, rank, "i4")
        file.write_at_all(400 * rank, mine)
        back = numpy.zeros(100, "i4")
        assert file.read_at_all(400 * ((rank + 1) % ranks), back) == 400
        assert (back == (rank + 1) % ranks).all()
        assert file.read_at_all(400 * (ranks - 1) + 200, back) == 200  # the end of the file
        file.sync()
        comm.Barrier()
        file.write_at(400 * rank, mine + 1)
        assert file.read_at(400 * rank, back) == 400 and (back == rank + 1).all()
        extents = [(8 * ranks * i + 8 * rank, 8) for i in range(20)]
        file.write_extents_all(extents, numpy.full(20, rank, "i8"))
        both = numpy.zeros(20, "i8")
        assert file.read_extents_all(extents, both) == 160 and (both == rank).all()
        file.set_size(80)
        file.preallocate(4000)
        assert file.size == 4000


def nonblocking():
    with sago.File(comm, "nonblocking.dat", "w") as file:
        array = file.array("i8", (20, 16))
        data = [numpy.full((20, 16), i)[:, rows(16)] for i in range(3)]  # not contiguous
        requests = [array.iwrite(numpy.s_[:, rows(16)], part) for part in data]
        while not requests[0].test():
            pass
        assert [request.wait() for request in requests] == [data[0].size * 8] * 3
        back = numpy.zeros((20, 32), "i8")[:, ::2]
        request = array.iread(..., back)
        assert request.wait() == 20 * 16 * 8 and (back == 2).all()
        assert request.wait() == 20 * 16 * 8 and request.test()
        array.iwrite(numpy.s_[rows(20)], 7)  # nobody waits but the file
    assert (numpy.fromfile("nonblocking.dat", "i8") == 7).all()


def declared():
    with sago.File(comm, "declared.dat", "w") as file:
        mass = file.array("f4", (40,))
        place = file.array("f8", (40, 3), offset=mass.nbytes)
        step_bytes = mass.nbytes + place.nbytes
        series = file.declare({"mass": (mass, numpy.s_[rows(40)]), "place": (place, numpy.s_[rows(40), ::2])})
        count = rows(40).stop - rows(40).start
        for step in range(3):
            if step:
                series.next(step * step_bytes)
            series.write("place", numpy.full((count, 2), step + 0.5))
            series.write("mass", numpy.full(count, step + rank))
            assert series.complete() == count * (4 + 16)
        masses, places = numpy.zeros(count, "f4"), numpy.zeros((count, 4))[:, ::2]
        series.next(step_bytes)
        series.read("mass", masses)
        series.read("place", places)
        series.complete()
        assert (masses == 1 + rank).all() and (places == 1.5).all()
        series.free()
        file.declare({"mass": (mass, numpy.s_[rows(40)])})  # freed with the file
    if rank == 0:
        middle = numpy.fromfile("declared.dat", "f8", offset=step_bytes + mass.nbytes, count=120).reshape(40, 3)
        assert (middle[:, ::2] == 1.5).all() and (middle[:, 1] == 0).all()


def errors():
    message = fails("no such file", sago.File, comm, "not/there.dat", "r")
    assert "not/there.dat" in message, message
    fails("hint", lambda: sago.File(comm, "hint.dat", "w", hints={"sago_memorry": "1M"}))
    for wrong, call in ((ValueError, lambda: sago.File(comm, "mode.dat", "rw")),
                        (ValueError, lambda: file.write_extents_all([[0, 8]], numpy.zeros(2))),
                        (TypeError, lambda: file.read_at_all(0, [1, 2])),
                        (IndexError, lambda: array[::-1]), (IndexError, lambda: array[0, 0]),
                        (ValueError, lambda: array.read(..., numpy.zeros(4)))):
        with sago.File(comm, "errors.dat", "a") as file:
            array = file.array("i4", (4,))
            try:
                call()
            except wrong:
                continue
            raise AssertionError(f"{wrong} was expected")
    with sago.File(comm, "errors.dat", "r") as file:
        fails("mode", file.write_at_all, 0, numpy.zeros(1))
    file.close()  # again: nothing
    fails("closed", file.sync)


assert sago.library_version() == sago.__version__
for test in (slices, numbers_and_bytes, nonblocking, declared, errors):
    test()
    comm.Barrier()
print(f"rank {rank}: good")
sys.stdout.flush()
