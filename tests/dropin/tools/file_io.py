# A collective write and read of mpi4py's.
from mpi4py import MPI

comm = MPI.COMM_WORLD
mine, back = bytearray(b"%04d" % comm.rank), bytearray(4)
file = MPI.File.Open(comm, "out", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(4 * comm.rank, mine)
file.Sync()
request = file.Iread_at_all(4 * comm.rank, back)
request.Wait()
file.Close()
assert back == mine, back
