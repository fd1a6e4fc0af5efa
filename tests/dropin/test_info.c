/* RUN: n=1,2 */
/* Info objects: the program's hints are kept, Sago's are shown with the values in force, wrong ones do no harm. */
#include "dropin_check.h"

static const char *value_of(MPI_Info info, const char *key) {
    static char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    return found ? value : "";
}

static MPI_File open_hinted(const char *path, const char *key, const char *value) {
    MPI_Info info;
    MPI_File file = MPI_FILE_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    OK(MPI_File_open(MPI_COMM_WORLD, path, MODE_NEW, info, &file));
    MPI_Info_free(&info);
    return file;
}

static void check_works(MPI_File file) {
    char mine[100], back[100] = {0};
    fill(mine, 0, 100, rank);
    OK(MPI_File_write_at_all(file, 100 * rank, mine, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 100 * rank, back, 100, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(mine, back, 100) == 0);
}

static void shown(void) {
    MPI_File file = open_hinted("shown", "sago_strategy", "aggregated");
    MPI_Info used, other;
    OK(MPI_File_get_info(file, &used));
    CHECK(strcmp(value_of(used, "cb_buffer_size"), "1048576") == 0);
    if (with_sago) {
        CHECK(strcmp(value_of(used, "sago_strategy"), "aggregated") == 0);
        CHECK(strcmp(value_of(used, "sago_window"), "1M") == 0); /* that is what cb_buffer_size means */
        CHECK(strcmp(value_of(used, "sago_messages"), "8") == 0);
        CHECK(strcmp(value_of(used, "sago_memory"), "auto") == 0);
    }
    MPI_Info_create(&other);
    MPI_Info_set(other, "access_style", "write_once");
    MPI_Info_set(other, "sago_window", "2M");
    OK(MPI_File_set_info(file, other));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", other));
    OK(MPI_File_set_info(file, used)); /* what was told is taken back */
    MPI_Info_free(&other);
    MPI_Info_free(&used);
    check_works(file);
    OK(MPI_File_close(&file));
    /* and opens another file */
    file = open_hinted("like", "romio_no_indep_rw", "false");
    OK(MPI_File_get_info(file, &used));
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, "like", MPI_MODE_RDWR, used, &file));
    MPI_Info_free(&used);
    check_works(file);
    OK(MPI_File_close(&file));
}

/* Hints must not make a program fail: Sago does not take the file. */
static void wrong(void) {
    MPI_File file = open_hinted("wrong", "sago_window", "very large");
    check_works(file);
    OK(MPI_File_close(&file));
    file = open_hinted("unknown", "sago_windows", "1M");
    check_works(file);
    OK(MPI_File_close(&file));
    file = open_hinted("differ", "sago_window", rank == 0 ? "1M" : "2M");
    check_works(file);
    OK(MPI_File_close(&file));
    file = open_hinted("long", "sago_agree", "a word that is longer than any of the values");
    check_works(file);
    OK(MPI_File_close(&file));
    int handed = ranks > 1 ? 4 : 3;
    expect_stat("files", 7 * ranks);
    expect_stat("files_taken", (7 - handed) * ranks);
    expect_stat("hints", 2 * handed * ranks);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    shown();
    wrong();
    return check_end();
}
