/* RUN: n=1,2,4 */
/* What statuses say: exact counts with any datatype, at the end of the file too; and what a short read leaves. */
#include "dropin_check.h"

/* Beyond the end nothing is touched.  Both libraries report full counts here. */
static void end_of_file(void) {
    MPI_File file = open_all("eof", MODE_NEW);
    MPI_Status status;
    char bytes[100];
    int flag = 1;
    OK(MPI_File_set_size(file, 50));
    for (int gap = 0; gap < 2; gap++) {
        memset(bytes, 7, sizeof bytes);
        OK(MPI_File_read_at_all(file, 30 + 40 * gap, bytes, 100, MPI_BYTE, &status));
        CHECK_INT_OR(PLAIN, count_in(&status, MPI_BYTE), gap ? 0 : 20);
        CHECK_INT_OR(PLAIN, count_in(&status, MPI_INT), gap ? 0 : 5);
        CHECK(gap || (bytes[0] == 0 && bytes[19] == 0));
        CHECK_OR(PLAIN, bytes[gap ? 0 : 20] == 7 && bytes[99] == 7);
        MPI_Test_cancelled(&status, &flag);
        CHECK_INT_OR(PLAIN, flag, 0);
    }
    OK(MPI_File_close(&file));
}

/* The file ends in the middle of a view. */
static void end_of_view(void) {
    MPI_File file = open_all("eov", MODE_NEW);
    MPI_Datatype type = turns_of(1, MPI_INT);
    MPI_Status status;
    int numbers[10];
    OK(MPI_File_set_size(file, 4 * ranks * 3)); /* three ints a rank */
    OK(MPI_File_set_view(file, 4 * rank, MPI_INT, type, "native", MPI_INFO_NULL));
    memset(numbers, -1, sizeof numbers);
    OK(MPI_File_read_at_all(file, 1, numbers, 5, MPI_INT, &status));
    CHECK_INT_OR(PLAIN, count_in(&status, MPI_INT), 2);
    CHECK(numbers[0] == 0 && numbers[1] == 0);
    CHECK_OR(PLAIN, numbers[2] == -1 && numbers[9] == -1);
    OK(MPI_File_close(&file));
    MPI_Type_free(&type);
}

static void datatypes(void) {
    MPI_File file = open_all("types", MODE_NEW);
    MPI_Datatype triple, mixed;
    MPI_Status status;
    int lengths[2] = {1, 2}, count;
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Count large;
    double memory[64] = {0};
    MPI_Type_contiguous(3, MPI_INT, &triple);
    MPI_Type_commit(&triple);
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    OK(MPI_File_write_at_all(file, 512 * rank, memory, 4, mixed, &status));
    CHECK_INT(count_in(&status, mixed), 4);
    CHECK_INT(count_in(&status, MPI_BYTE), 64);
    MPI_Get_elements(&status, mixed, &count);
    CHECK_INT(count, 12);
    MPI_Get_elements_x(&status, mixed, &large);
    CHECK_INT(large, 12);
    OK(MPI_File_read_at_all(file, 512 * rank, memory, 3, triple, &status));
    CHECK_INT(count_in(&status, triple), 3);
    MPI_Get_elements(&status, triple, &count);
    CHECK_INT(count, 9);
    /* parts of an element: the file ends 20 bytes on, and 12 are a triple */
    OK(MPI_File_set_size(file, 512 * ranks + 20));
    OK(MPI_File_read_at_all(file, 512 * ranks, memory, 3, triple, &status));
    CHECK_INT_OR(PLAIN, count_in(&status, triple), MPI_UNDEFINED);
    MPI_Get_elements(&status, triple, &count);
    CHECK_INT_OR(PLAIN, count, 5);
    OK(MPI_File_close(&file));
    MPI_Type_free(&triple);
    MPI_Type_free(&mixed);
}

/* What is not the call's stays as it was. */
static void untouched(void) {
    MPI_File file = open_all("untouched", MODE_NEW);
    MPI_Status status;
    char byte = 1;
    status.MPI_ERROR = 4711;
    OK(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, &status));
    CHECK_INT(status.MPI_ERROR, 4711);
    OK(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_all(file, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    end_of_file();
    end_of_view();
    datatypes();
    untouched();
    return check_end();
}
