# A dataset that the ranks of h5py write and read together, row by row.
from mpi4py import MPI
import h5py
import numpy

comm = MPI.COMM_WORLD
with h5py.File("out", "w", driver="mpio", comm=comm) as file:
    rows = file.create_dataset("rows", (10 * comm.size, 100), dtype="i8")
    mine = numpy.arange(1000).reshape(10, 100) + 1000 * comm.rank
    with rows.collective:
        rows[comm.rank :: comm.size, :] = mine
    assert (rows[comm.rank :: comm.size, :] == mine).all()
