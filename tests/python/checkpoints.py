"""Checkpoints from Python: saved, restored in other blocks, and read without MPI.  Run by mpiexec."""
import numpy
import sago
import sago.reader
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
SHAPE = (16, 9)
WHOLE = numpy.arange(144, dtype="f4").reshape(SHAPE)


def part(length):
    return rank * length // ranks, (rank + 1) * length // ranks


def save():
    low, high = part(16)
    field = numpy.full((high - low + 2, 11), -1, "f4")  # a ghost cell on each side
    field[1:-1, 1:-1] = WHOLE[low:high]
    clock, own = numpy.zeros(2, "i8"), numpy.full(3 + rank, rank, "u1")
    pair = numpy.zeros(ranks, [("a", "i4"), ("b", "f8")])[rank:rank + 1]
    pair["a"] = rank
    with sago.Checkpoint(comm, "ckpt") as ckpt:
        ckpt.protect("field", field, SHAPE, (low, 0), numpy.s_[1:-1, 1:-1])
        ckpt.protect_shared("clock", clock)
        ckpt.protect_local("own", own)
        ckpt.protect("pair", pair, (ranks,), (rank,))
        assert ckpt.restore_latest() is None and ckpt.latest() is None
        for step in (10, 20):
            clock[:] = step
            ckpt.save(step)
            field[1:-1, 1:-1] += 1000  # may change at once
            ckpt.wait(step)
            field[1:-1, 1:-1] -= 1000
        assert ckpt.latest("global") == 20
        assert [(step["step"], step["complete"]["global"]) for step in ckpt.steps()] == [(10, True), (20, True)]
        assert ckpt.inquire(20, "field")["shape"] == SHAPE and ckpt.inquire(20, "field")["type"] == "float32"
        assert ckpt.inquire(20, 3)["name"] == "pair" and ckpt.inquire(20, "own")["bytes"] == 3 + rank
        field[...] = clock[...] = own[...] = 0
        ckpt.restore(10)
        assert (field[1:-1, 1:-1] == WHOLE[low:high]).all() and (clock == 10).all() and (own == rank).all()
        assert (field[0] == 0).all() and (field[:, 0] == 0).all()
        assert ckpt.report()["step"] == 10 and ckpt.stats()["saves"] == 2
        assert ckpt.stats()["recent"][0]["step"] == 20
        due, leave = ckpt.due()
        assert not leave and due in (True, False)
        ckpt.unprotect("own")
        try:
            ckpt.save(20)
        except sago.Error as error:
            assert "exists" in error.name
        else:
            raise AssertionError("a step was saved twice")


def restore_in_columns():
    low, high = part(9)
    columns = numpy.zeros((16, high - low), "f4")
    with sago.Checkpoint(comm, "ckpt", hints={"sago_ckpt_read_only": True}) as ckpt:
        blocks = [(columns, (0, low))] if high > low else []
        ckpt.protect_blocks("field", "f4", SHAPE, blocks)
        assert ckpt.restore_latest() == 20
        assert (columns == WHOLE[:, low:high]).all()
        ckpt.verify(20)


def read_without_mpi():
    steps = sago.reader.Directory("ckpt")
    assert steps.numbers == [10, 20] and steps.latest().number == 20
    field = steps[20]["field"]
    assert field.shape == SHAPE and field.dtype == numpy.dtype("f4") and len(field) == 16
    for key in (numpy.s_[...], numpy.s_[3:12:2, 1:], numpy.s_[-1], numpy.s_[5, 5], numpy.s_[4:4], numpy.s_[:, ::4]):
        assert numpy.array_equal(field[key], WHOLE[key]), key
    assert numpy.asarray(field).sum() == WHOLE.sum() and field.bytes() == WHOLE.tobytes()
    assert numpy.frombuffer(steps[10]["clock"].bytes(), "i8").tolist() == [10, 10]
    assert steps[20]["own"].by_rank() == [bytes([r] * (3 + r)) for r in range(ranks)]
    assert steps[20]["pair"].dtype.itemsize == numpy.dtype([("a", "i4"), ("b", "f8")]).itemsize


save()
restore_in_columns()
comm.Barrier()
read_without_mpi()
comm.Barrier()
print(f"rank {rank}: good")
