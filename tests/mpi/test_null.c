/* RUN: n=1,2 */
/* Null pointers: a call on a file, a checkpoint or anything else that is not there, and a call without a place for
 * what it returns, gives an error that names the function.  No call crashes, and what is open can still be used.
 * tests/scripts/test_symbols.sh checks that every function is called here. */
#include "mpi/check.h"

#include <sago/ckpt.h>
#include <sago/device.h>
#include <sago/mesh.h>
#include <sago/report.h>
#include <sago/storage.h>

enum { BYTES = 64 };

static char memory[BYTES];
static const sago_extent extents[] = {{0, BYTES}};
static const int64_t global[] = {BYTES};

/* The call is refused, and the message begins with the name of the function. */
static void expect_refusal(const char *name, sago_status status, const char *call, int line) {
    const char *message = sago_error_message();
    if (status != SAGO_OK && strncmp(message, name, strlen(name)) == 0 && message[strlen(name)] == ':')
        return;
    check_failed(__FILE__, line);
    printf("%s: %s: '%s'\n", call, sago_status_string(status), status ? message : "");
}

#define REFUSED(function, ...)                                                                                    \
    expect_refusal(#function, function(__VA_ARGS__), #function "(" #__VA_ARGS__ ")", __LINE__)

/* ---- Nothing to work on ---- */

static void without_file(void) {
    sago_request *request = NULL;
    sago_series *series = NULL;
    MPI_Datatype list;
    MPI_Offset size;
    MPI_Count bytes;
    sago_stats stats = {.size = sizeof stats};
    const sago_block block = {.data = memory};
    scene = "no file";
    REFUSED(sago_close, NULL);
    REFUSED(sago_close_alone, NULL);
    REFUSED(sago_get_hints, NULL, MPI_INFO_NULL);
    REFUSED(sago_set_view, NULL, 0, MPI_BYTE, MPI_BYTE);
    REFUSED(sago_set_view_beside_romio, NULL, 0, MPI_BYTE, MPI_BYTE);
    REFUSED(sago_view_run_list, NULL, MPI_BYTE, &list);
    REFUSED(sago_write_at_all, NULL, 0, memory, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_read_at_all, NULL, 0, memory, BYTES, MPI_BYTE, &bytes);
    REFUSED(sago_write_at, NULL, 0, memory, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_read_at, NULL, 0, memory, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_write_extents_all, NULL, 1, extents, memory);
    REFUSED(sago_read_extents_all, NULL, 1, extents, memory, NULL);
    REFUSED(sago_write_pieces_all, NULL, 1, extents, memory, 1, extents);
    REFUSED(sago_read_pieces_all, NULL, 1, extents, memory, 1, extents, NULL);
    REFUSED(sago_write_pieces, NULL, 1, extents, memory, 1, extents);
    REFUSED(sago_read_pieces, NULL, 1, extents, memory, 1, extents, NULL);
    REFUSED(sago_write_block_all, NULL, 0, MPI_BYTE, 1, global, &block);
    REFUSED(sago_read_block_all, NULL, 0, MPI_BYTE, 1, global, &block, NULL);
    REFUSED(sago_iwrite_at_all, NULL, 0, memory, BYTES, MPI_BYTE, &request);
    REFUSED(sago_iread_at_all, NULL, 0, memory, BYTES, MPI_BYTE, &request);
    REFUSED(sago_iwrite_extents_all, NULL, 1, extents, memory, &request);
    REFUSED(sago_iread_extents_all, NULL, 1, extents, memory, &request);
    REFUSED(sago_iwrite_pieces_all, NULL, 1, extents, memory, 1, extents, &request);
    REFUSED(sago_iread_pieces_all, NULL, 1, extents, memory, 1, extents, &request);
    REFUSED(sago_iwrite_block_all, NULL, 0, MPI_BYTE, 1, global, &block, &request);
    REFUSED(sago_iread_block_all, NULL, 0, MPI_BYTE, 1, global, &block, &request);
    REFUSED(sago_declare, NULL, 0, NULL, &series);
    REFUSED(sago_declare_arrays, NULL, 0, NULL, &series);
    REFUSED(sago_sync, NULL);
    REFUSED(sago_sync_own, NULL);
    REFUSED(sago_synced_elsewhere, NULL);
    REFUSED(sago_sync_local, NULL);
    REFUSED(sago_get_size, NULL, &size);
    REFUSED(sago_set_size, NULL, 0);
    REFUSED(sago_preallocate, NULL, 0);
    REFUSED(sago_flush_all, NULL);
    REFUSED(sago_flush_own, NULL);
    REFUSED(sago_get_stats, NULL, &stats);
    CHECK(!request && !series);
}

static void without_others(void) {
    MPI_Count bytes;
    int done;
    scene = "no series, request, mesh, exchange";
    REFUSED(sago_wait, NULL, &bytes);
    REFUSED(sago_test, NULL, &done, &bytes);
    REFUSED(sago_series_write, NULL, 0, memory);
    REFUSED(sago_series_read, NULL, 0, memory);
    REFUSED(sago_series_complete, NULL);
    REFUSED(sago_series_bytes, NULL, &bytes);
    REFUSED(sago_series_next, NULL, 0);
    REFUSED(sago_series_free, NULL);
    REFUSED(sago_mesh_points, NULL, 0, MPI_DOUBLE, NULL);
    REFUSED(sago_mesh_cells, NULL, 0, NULL, NULL, NULL);
    REFUSED(sago_mesh_field, NULL, SAGO_MESH_AT_POINTS, "f", MPI_DOUBLE, 1, NULL);
    REFUSED(sago_mesh_end, NULL);
    REFUSED(sago_exchange_put, NULL, 0, "n", memory, BYTES);
    REFUSED(sago_exchange_get, NULL, 0, "n", memory, BYTES, 0, NULL);
    REFUSED(sago_exchange_is_local, NULL, 0, 0, &done);
    REFUSED(sago_exchange_close, NULL);
}

static void without_checkpoint(void) {
    sago_ckpt_step step;
    sago_ckpt_info info;
    sago_ckpt_report report = {.size = sizeof report};
    sago_ckpt_stats stats = {.size = sizeof stats};
    int64_t number = 1;
    int due, leave;
    scene = "no checkpoint directory";
    REFUSED(sago_ckpt_close, NULL);
    REFUSED(sago_ckpt_protect, NULL, "a", MPI_BYTE, 1, global, 0, NULL);
    REFUSED(sago_ckpt_protect_local, NULL, "a", memory, BYTES);
    REFUSED(sago_ckpt_protect_shared, NULL, "a", memory, BYTES);
    REFUSED(sago_ckpt_unprotect, NULL, "a");
    REFUSED(sago_ckpt_save, NULL, 1);
    REFUSED(sago_ckpt_progress, NULL);
    REFUSED(sago_ckpt_wait, NULL, 1, SAGO_LEVEL_GLOBAL);
    REFUSED(sago_ckpt_latest, NULL, SAGO_LEVEL_GLOBAL, &number);
    REFUSED(sago_ckpt_list, NULL, &number, &step);
    REFUSED(sago_ckpt_inquire, NULL, 1, "a", &info);
    REFUSED(sago_ckpt_inquire_index, NULL, 1, 0, &info);
    REFUSED(sago_ckpt_restore, NULL, 1);
    REFUSED(sago_ckpt_restore_latest, NULL, &number);
    REFUSED(sago_ckpt_due, NULL, &due, &leave);
    REFUSED(sago_ckpt_get_report, NULL, &report);
    REFUSED(sago_ckpt_verify, NULL, 1);
    REFUSED(sago_ckpt_drain, NULL, 1);
    REFUSED(sago_ckpt_repair, NULL, 1);
    REFUSED(sago_ckpt_remove, NULL, 1);
    REFUSED(sago_ckpt_remove_damaged, NULL, 1);
    REFUSED(sago_ckpt_get_stats, NULL, &stats);
}

static void without_paths(void) {
    sago_file *file = NULL;
    sago_ckpt *ckpt = NULL;
    sago_mesh *mesh = NULL;
    sago_exchange *exchange = NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int shared;
    sago_storage_stats stats = {.size = sizeof stats};
    const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    scene = "no path, no communicator";
    REFUSED(sago_open, MPI_COMM_WORLD, NULL, amode, MPI_INFO_NULL, &file);
    REFUSED(sago_open, MPI_COMM_NULL, "f", amode, MPI_INFO_NULL, &file);
    REFUSED(sago_delete, NULL, MPI_INFO_NULL);
    REFUSED(sago_ckpt_open, MPI_COMM_WORLD, NULL, MPI_INFO_NULL, &ckpt);
    REFUSED(sago_ckpt_open, MPI_COMM_NULL, "d", MPI_INFO_NULL, &ckpt);
    REFUSED(sago_mesh_begin, MPI_COMM_WORLD, NULL, SAGO_MESH_VTU, MPI_INFO_NULL, &mesh);
    REFUSED(sago_mesh_begin, MPI_COMM_NULL, "m", SAGO_MESH_VTU, MPI_INFO_NULL, &mesh);
    REFUSED(sago_exchange_open, MPI_COMM_WORLD, NULL, NULL, &exchange);
    REFUSED(sago_exchange_open, MPI_COMM_NULL, "g", NULL, &exchange);
    REFUSED(sago_comm_split_storage, MPI_COMM_WORLD, NULL, SAGO_STORAGE_AUTO, 0, &comm);
    REFUSED(sago_comm_split_storage, MPI_COMM_NULL, ".", SAGO_STORAGE_AUTO, 0, &comm);
    REFUSED(sago_comm_split_type, MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    REFUSED(sago_storage_shared, MPI_COMM_NULL, 0, 0, &shared);
    REFUSED(sago_storage_get_stats, MPI_COMM_NULL, &stats);
    REFUSED(sago_report_begin, MPI_COMM_NULL);
    CHECK(!file && !ckpt && !mesh && !exchange && comm == MPI_COMM_NULL);
}

/* ---- No place for the result ---- */

static void use_file(sago_file *file) {
    char back[BYTES] = {0};
    CHECK_OK(sago_write_at_all(file, rank * BYTES, memory, BYTES, MPI_BYTE, NULL));
    CHECK_OK(sago_read_at_all(file, rank * BYTES, back, BYTES, MPI_BYTE, NULL));
    CHECK(memcmp(back, memory, BYTES) == 0);
}

static void file_without_results(const char *path) {
    sago_file *file = NULL;
    const sago_block block = {.data = memory};
    scene = "a file, and null pointers";
    CHECK_OK(sago_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    REFUSED(sago_open, MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, NULL);
    REFUSED(sago_write_at_all, file, 0, NULL, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_read_at_all, file, 0, NULL, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_write_at, file, 0, NULL, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_read_at, file, 0, NULL, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_write_extents_all, file, 1, NULL, memory);
    REFUSED(sago_read_extents_all, file, 1, extents, NULL, NULL);
    REFUSED(sago_write_pieces_all, file, 1, extents, NULL, 1, NULL);
    REFUSED(sago_read_pieces, file, 1, NULL, memory, 1, extents, NULL);
    REFUSED(sago_write_block_all, file, 0, MPI_BYTE, 1, NULL, &block);
    REFUSED(sago_iwrite_at_all, file, 0, memory, BYTES, MPI_BYTE, NULL);
    REFUSED(sago_iread_extents_all, file, 1, extents, memory, NULL);
    REFUSED(sago_iread_pieces_all, file, 1, extents, memory, 1, extents, NULL);
    REFUSED(sago_iwrite_block_all, file, 0, MPI_BYTE, 1, global, &block, NULL);
    REFUSED(sago_declare, file, 1, NULL, NULL);
    REFUSED(sago_declare_arrays, file, 1, NULL, NULL);
    REFUSED(sago_get_size, file, NULL);
    REFUSED(sago_get_stats, file, NULL);
    REFUSED(sago_view_run_list, file, MPI_BYTE, NULL);
    use_file(file);
    CHECK_OK(sago_close(&file));
}

static void checkpoint_without_results(const char *path) {
    sago_ckpt *ckpt = NULL;
    scene = "a checkpoint directory, and null pointers";
    CHECK_OK(sago_ckpt_open(MPI_COMM_WORLD, path, MPI_INFO_NULL, &ckpt));
    REFUSED(sago_ckpt_open, MPI_COMM_WORLD, path, MPI_INFO_NULL, NULL);
    REFUSED(sago_ckpt_protect, ckpt, NULL, MPI_BYTE, 1, global, 0, NULL);
    REFUSED(sago_ckpt_protect, ckpt, "a", MPI_BYTE, 1, NULL, 0, NULL);
    REFUSED(sago_ckpt_protect, ckpt, "a", MPI_BYTE, 1, global, 1, NULL);
    REFUSED(sago_ckpt_protect_local, ckpt, "a", NULL, BYTES);
    REFUSED(sago_ckpt_protect_shared, ckpt, NULL, memory, BYTES);
    REFUSED(sago_ckpt_unprotect, ckpt, NULL);
    REFUSED(sago_ckpt_latest, ckpt, SAGO_LEVEL_GLOBAL, NULL);
    REFUSED(sago_ckpt_list, ckpt, NULL, NULL);
    REFUSED(sago_ckpt_inquire, ckpt, 1, NULL, NULL);
    REFUSED(sago_ckpt_inquire_index, ckpt, 1, 0, NULL);
    REFUSED(sago_ckpt_restore_latest, ckpt, NULL);
    CHECK_OK(sago_ckpt_due(ckpt, NULL, NULL));
    REFUSED(sago_ckpt_get_report, ckpt, NULL);
    REFUSED(sago_ckpt_get_stats, ckpt, NULL);
    CHECK_OK(sago_ckpt_protect_local(ckpt, "a", memory, BYTES));
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    CHECK_OK(sago_ckpt_close(&ckpt));
}

static void others_without_results(const char *path) {
    scene = "null pointers for results";
    REFUSED(sago_mesh_begin, MPI_COMM_WORLD, path, SAGO_MESH_VTU, MPI_INFO_NULL, NULL);
    REFUSED(sago_exchange_open, MPI_COMM_WORLD, path, NULL, NULL);
    REFUSED(sago_comm_split_storage, MPI_COMM_WORLD, ".", SAGO_STORAGE_AUTO, 0, NULL);
    REFUSED(sago_comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL);
    REFUSED(sago_storage_shared, MPI_COMM_WORLD, 0, 0, NULL);
    REFUSED(sago_storage_get_stats, MPI_COMM_WORLD, NULL);
    REFUSED(sago_device_copy, NULL, memory, BYTES);
    REFUSED(sago_device_copy, memory, NULL, BYTES);
}

/* ---- Calls that cannot fail ---- */

static void harmless(void) {
    scene = "calls that cannot fail";
    CHECK(!sago_is_device_memory(NULL));
    (void)sago_has_device();
    sago_report_note(NULL, NULL, 1);
    sago_report_passed(NULL, 0, 0, 0, 0);
    sago_report_around(-1, 0);
    sago_report_layer(NULL, 0);
    sago_report_layer_opens(0);
    sago_report_count(NULL, 1);
    sago_wait_begin();
    sago_wait_end();
    sago_write_elsewhere();
    sago_quiet_begin(MPI_COMM_NULL);
    sago_quiet_end(MPI_COMM_NULL);
    CHECK(sago_version(NULL, NULL, NULL) != NULL);
    CHECK(sago_phase_string((sago_phase)-1) && sago_flush_string((sago_flush)-1));
    CHECK(sago_route_string((sago_route)-1) && sago_level_string((sago_level)-1));
    CHECK(sago_status_string((sago_status)-1) && sago_error_message());
    (void)sago_status_mpi_class((sago_status)-1);
}

int main(int argc, char **argv) {

    check_start(&argc, &argv);

    without_file();
    without_others();
    without_checkpoint();
    without_paths();
    file_without_results(scratch("f"));
    checkpoint_without_results(scratch("d"));
    others_without_results(scratch("o"));
    harmless();
    return check_end();
}
