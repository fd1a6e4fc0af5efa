/* RUN: n=2 */
/* Views whose parts have lower bounds, of which ROMIO sees other bytes than MPI says, alone and among many parts:
 * collective and independent calls mean the same bytes.  Open MPI has ROMIO, too. */
#include "dropin_check.h"

enum { PART_BYTES = 6, STEP = 16, FEW = 10, MANY = 80 };

static MPI_Datatype moved_part(void) {
    const MPI_Aint places[2] = {4, 10};
    const int lengths[2] = {2, 4};
    MPI_Datatype runs, part;
    MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &runs);
    MPI_Type_create_resized(runs, 2, STEP - 2, &part);
    MPI_Type_free(&runs);
    return part;
}

static MPI_Datatype struct_of(int parts) {
    int lengths[MANY];
    MPI_Aint places[MANY];
    MPI_Datatype types[MANY], part = moved_part(), type;
    for (int i = 0; i < parts; i++) {
        lengths[i] = 1;
        places[i] = STEP * i + i % 2;
        types[i] = part;
    }
    MPI_Type_create_struct(parts, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&part);
    return type;
}

static void write_and_read(int parts) {
    unsigned char mine[PART_BYTES * MANY], back[PART_BYTES * MANY] = {0};
    const int bytes = PART_BYTES * parts;
    MPI_Datatype type = struct_of(parts);
    MPI_File file = open_all("parts", MODE_NEW);
    OK(MPI_File_set_view(file, (MPI_Offset)STEP * (MANY + 1) * rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
    fill(mine, 0, bytes, rank);
    OK(MPI_File_write_at_all(file, 0, mine, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    meet();
    OK(MPI_File_read_at(file, 0, back, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, (size_t)bytes) == 0);
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    (void)setenv("OMPI_MCA_io", "romio321", 1);
    check_start(&argc, &argv);
    write_and_read(FEW);
    write_and_read(MANY);
    expect_stat("view", -1); /* left to ROMIO */
    expect_stat("writes", 0);
    expect_stat("reads", 0);
    return check_end();
}
