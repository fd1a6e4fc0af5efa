/* Made by entry_points.py; change that and run it. */
#include "front.h"

/* clang-format off */

#define PASS(entry) front_entry(entry, b)(a, b, c, d, e, f)

const char *const front_names[DROPIN_ENTRY_COUNT] = {
    "MPI_File_open", "PMPI_File_open",
    "MPI_File_close", "PMPI_File_close",
    "MPI_File_delete", "PMPI_File_delete",
    "MPI_File_set_view", "PMPI_File_set_view",
    "MPI_File_get_view", "PMPI_File_get_view",
    "MPI_File_get_position", "PMPI_File_get_position",
    "MPI_File_seek", "PMPI_File_seek",
    "MPI_File_seek_shared", "PMPI_File_seek_shared",
    "MPI_File_set_atomicity", "PMPI_File_set_atomicity",
    "MPI_File_set_size", "PMPI_File_set_size",
    "MPI_File_get_size", "PMPI_File_get_size",
    "MPI_File_preallocate", "PMPI_File_preallocate",
    "MPI_File_sync", "PMPI_File_sync",
    "MPI_File_get_info", "PMPI_File_get_info",
    "MPI_File_write_at_all", "PMPI_File_write_at_all",
    "MPI_File_read_at_all", "PMPI_File_read_at_all",
    "MPI_File_write_all", "PMPI_File_write_all",
    "MPI_File_read_all", "PMPI_File_read_all",
    "MPI_File_write_at_all_begin", "PMPI_File_write_at_all_begin",
    "MPI_File_read_at_all_begin", "PMPI_File_read_at_all_begin",
    "MPI_File_write_all_begin", "PMPI_File_write_all_begin",
    "MPI_File_read_all_begin", "PMPI_File_read_all_begin",
    "MPI_File_iwrite_at_all", "PMPI_File_iwrite_at_all",
    "MPI_File_iread_at_all", "PMPI_File_iread_at_all",
    "MPI_File_iwrite_all", "PMPI_File_iwrite_all",
    "MPI_File_iread_all", "PMPI_File_iread_all",
    "MPI_File_write", "PMPI_File_write",
    "MPI_File_read", "PMPI_File_read",
    "MPI_File_write_at", "PMPI_File_write_at",
    "MPI_File_read_at", "PMPI_File_read_at",
    "MPI_File_write_shared", "PMPI_File_write_shared",
    "MPI_File_read_shared", "PMPI_File_read_shared",
    "MPI_File_iwrite", "PMPI_File_iwrite",
    "MPI_File_iread", "PMPI_File_iread",
    "MPI_File_iwrite_at", "PMPI_File_iwrite_at",
    "MPI_File_iread_at", "PMPI_File_iread_at",
    "MPI_File_iwrite_shared", "PMPI_File_iwrite_shared",
    "MPI_File_iread_shared", "PMPI_File_iread_shared",
    "MPI_File_write_ordered", "PMPI_File_write_ordered",
    "MPI_File_read_ordered", "PMPI_File_read_ordered",
    "MPI_File_write_ordered_begin", "PMPI_File_write_ordered_begin",
    "MPI_File_read_ordered_begin", "PMPI_File_read_ordered_begin",
    "MPI_File_write_at_all_end", "PMPI_File_write_at_all_end",
    "MPI_File_read_at_all_end", "PMPI_File_read_at_all_end",
    "MPI_File_write_all_end", "PMPI_File_write_all_end",
    "MPI_File_read_all_end", "PMPI_File_read_all_end",
    "MPI_File_write_ordered_end", "PMPI_File_write_ordered_end",
    "MPI_File_read_ordered_end", "PMPI_File_read_ordered_end",
    "MPI_Wait", "PMPI_Wait",
    "MPI_Waitall", "PMPI_Waitall",
    "MPI_Waitany", "PMPI_Waitany",
    "MPI_Waitsome", "PMPI_Waitsome",
    "MPI_Test", "PMPI_Test",
    "MPI_Testall", "PMPI_Testall",
    "MPI_Testany", "PMPI_Testany",
    "MPI_Testsome", "PMPI_Testsome",
    "MPI_Request_get_status", "PMPI_Request_get_status",
    "MPI_Comm_split_type", "PMPI_Comm_split_type",
    "MPI_Finalize", "PMPI_Finalize",
    "MPI_Abort", "PMPI_Abort",
    "MPI_Intercomm_merge", "PMPI_Intercomm_merge",
#if MPI_VERSION >= 4
    "MPI_File_write_at_all_c", "PMPI_File_write_at_all_c",
    "MPI_File_read_at_all_c", "PMPI_File_read_at_all_c",
    "MPI_File_write_all_c", "PMPI_File_write_all_c",
    "MPI_File_read_all_c", "PMPI_File_read_all_c",
    "MPI_File_write_at_all_begin_c", "PMPI_File_write_at_all_begin_c",
    "MPI_File_read_at_all_begin_c", "PMPI_File_read_at_all_begin_c",
    "MPI_File_write_all_begin_c", "PMPI_File_write_all_begin_c",
    "MPI_File_read_all_begin_c", "PMPI_File_read_all_begin_c",
    "MPI_File_iwrite_at_all_c", "PMPI_File_iwrite_at_all_c",
    "MPI_File_iread_at_all_c", "PMPI_File_iread_at_all_c",
    "MPI_File_iwrite_all_c", "PMPI_File_iwrite_all_c",
    "MPI_File_iread_all_c", "PMPI_File_iread_all_c",
    "MPI_File_write_c", "PMPI_File_write_c",
    "MPI_File_read_c", "PMPI_File_read_c",
    "MPI_File_write_at_c", "PMPI_File_write_at_c",
    "MPI_File_read_at_c", "PMPI_File_read_at_c",
    "MPI_File_write_shared_c", "PMPI_File_write_shared_c",
    "MPI_File_read_shared_c", "PMPI_File_read_shared_c",
    "MPI_File_iwrite_c", "PMPI_File_iwrite_c",
    "MPI_File_iread_c", "PMPI_File_iread_c",
    "MPI_File_iwrite_at_c", "PMPI_File_iwrite_at_c",
    "MPI_File_iread_at_c", "PMPI_File_iread_at_c",
    "MPI_File_iwrite_shared_c", "PMPI_File_iwrite_shared_c",
    "MPI_File_iread_shared_c", "PMPI_File_iread_shared_c",
    "MPI_File_write_ordered_c", "PMPI_File_write_ordered_c",
    "MPI_File_read_ordered_c", "PMPI_File_read_ordered_c",
    "MPI_File_write_ordered_begin_c", "PMPI_File_write_ordered_begin_c",
    "MPI_File_read_ordered_begin_c", "PMPI_File_read_ordered_begin_c",
#endif
};

dropin_entry front_MPI_File_open __asm__("MPI_File_open");
DROPIN_CALLS_ANY dropin_word front_MPI_File_open(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_open); }
dropin_entry front_PMPI_File_open __asm__("PMPI_File_open");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_open(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_open); }
dropin_entry front_MPI_File_close __asm__("MPI_File_close");
DROPIN_CALLS_ANY dropin_word front_MPI_File_close(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_close); }
dropin_entry front_PMPI_File_close __asm__("PMPI_File_close");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_close(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_close); }
dropin_entry front_MPI_File_delete __asm__("MPI_File_delete");
DROPIN_CALLS_ANY dropin_word front_MPI_File_delete(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_delete); }
dropin_entry front_PMPI_File_delete __asm__("PMPI_File_delete");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_delete(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_delete); }
dropin_entry front_MPI_File_set_view __asm__("MPI_File_set_view");
DROPIN_CALLS_ANY dropin_word front_MPI_File_set_view(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_set_view); }
dropin_entry front_PMPI_File_set_view __asm__("PMPI_File_set_view");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_set_view(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_set_view); }
dropin_entry front_MPI_File_get_view __asm__("MPI_File_get_view");
DROPIN_CALLS_ANY dropin_word front_MPI_File_get_view(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_get_view); }
dropin_entry front_PMPI_File_get_view __asm__("PMPI_File_get_view");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_get_view(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_get_view); }
dropin_entry front_MPI_File_get_position __asm__("MPI_File_get_position");
DROPIN_CALLS_ANY dropin_word front_MPI_File_get_position(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_get_position); }
dropin_entry front_PMPI_File_get_position __asm__("PMPI_File_get_position");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_get_position(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_get_position); }
dropin_entry front_MPI_File_seek __asm__("MPI_File_seek");
DROPIN_CALLS_ANY dropin_word front_MPI_File_seek(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_seek); }
dropin_entry front_PMPI_File_seek __asm__("PMPI_File_seek");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_seek(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_seek); }
dropin_entry front_MPI_File_seek_shared __asm__("MPI_File_seek_shared");
DROPIN_CALLS_ANY dropin_word front_MPI_File_seek_shared(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_seek_shared); }
dropin_entry front_PMPI_File_seek_shared __asm__("PMPI_File_seek_shared");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_seek_shared(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_seek_shared); }
dropin_entry front_MPI_File_set_atomicity __asm__("MPI_File_set_atomicity");
DROPIN_CALLS_ANY dropin_word front_MPI_File_set_atomicity(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_set_atomicity); }
dropin_entry front_PMPI_File_set_atomicity __asm__("PMPI_File_set_atomicity");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_set_atomicity(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_set_atomicity); }
dropin_entry front_MPI_File_set_size __asm__("MPI_File_set_size");
DROPIN_CALLS_ANY dropin_word front_MPI_File_set_size(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_set_size); }
dropin_entry front_PMPI_File_set_size __asm__("PMPI_File_set_size");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_set_size(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_set_size); }
dropin_entry front_MPI_File_get_size __asm__("MPI_File_get_size");
DROPIN_CALLS_ANY dropin_word front_MPI_File_get_size(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_get_size); }
dropin_entry front_PMPI_File_get_size __asm__("PMPI_File_get_size");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_get_size(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_get_size); }
dropin_entry front_MPI_File_preallocate __asm__("MPI_File_preallocate");
DROPIN_CALLS_ANY dropin_word front_MPI_File_preallocate(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_preallocate); }
dropin_entry front_PMPI_File_preallocate __asm__("PMPI_File_preallocate");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_preallocate(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_preallocate); }
dropin_entry front_MPI_File_sync __asm__("MPI_File_sync");
DROPIN_CALLS_ANY dropin_word front_MPI_File_sync(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_sync); }
dropin_entry front_PMPI_File_sync __asm__("PMPI_File_sync");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_sync(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_sync); }
dropin_entry front_MPI_File_get_info __asm__("MPI_File_get_info");
DROPIN_CALLS_ANY dropin_word front_MPI_File_get_info(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_get_info); }
dropin_entry front_PMPI_File_get_info __asm__("PMPI_File_get_info");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_get_info(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_get_info); }
dropin_entry front_MPI_File_write_at_all __asm__("MPI_File_write_at_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_at_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_at_all); }
dropin_entry front_PMPI_File_write_at_all __asm__("PMPI_File_write_at_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_at_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_at_all); }
dropin_entry front_MPI_File_read_at_all __asm__("MPI_File_read_at_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_at_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_at_all); }
dropin_entry front_PMPI_File_read_at_all __asm__("PMPI_File_read_at_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_at_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_at_all); }
dropin_entry front_MPI_File_write_all __asm__("MPI_File_write_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_all); }
dropin_entry front_PMPI_File_write_all __asm__("PMPI_File_write_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_all); }
dropin_entry front_MPI_File_read_all __asm__("MPI_File_read_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_all); }
dropin_entry front_PMPI_File_read_all __asm__("PMPI_File_read_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_all); }
dropin_entry front_MPI_File_write_at_all_begin __asm__("MPI_File_write_at_all_begin");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_at_all_begin(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_at_all_begin); }
dropin_entry front_PMPI_File_write_at_all_begin __asm__("PMPI_File_write_at_all_begin");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_at_all_begin(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_at_all_begin); }
dropin_entry front_MPI_File_read_at_all_begin __asm__("MPI_File_read_at_all_begin");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_at_all_begin(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_at_all_begin); }
dropin_entry front_PMPI_File_read_at_all_begin __asm__("PMPI_File_read_at_all_begin");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_at_all_begin(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_at_all_begin); }
dropin_entry front_MPI_File_write_all_begin __asm__("MPI_File_write_all_begin");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_all_begin(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_all_begin); }
dropin_entry front_PMPI_File_write_all_begin __asm__("PMPI_File_write_all_begin");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_all_begin(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_all_begin); }
dropin_entry front_MPI_File_read_all_begin __asm__("MPI_File_read_all_begin");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_all_begin(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_all_begin); }
dropin_entry front_PMPI_File_read_all_begin __asm__("PMPI_File_read_all_begin");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_all_begin(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_all_begin); }
dropin_entry front_MPI_File_iwrite_at_all __asm__("MPI_File_iwrite_at_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_at_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_at_all); }
dropin_entry front_PMPI_File_iwrite_at_all __asm__("PMPI_File_iwrite_at_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_at_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_at_all); }
dropin_entry front_MPI_File_iread_at_all __asm__("MPI_File_iread_at_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_at_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_at_all); }
dropin_entry front_PMPI_File_iread_at_all __asm__("PMPI_File_iread_at_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_at_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_at_all); }
dropin_entry front_MPI_File_iwrite_all __asm__("MPI_File_iwrite_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_all); }
dropin_entry front_PMPI_File_iwrite_all __asm__("PMPI_File_iwrite_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_all); }
dropin_entry front_MPI_File_iread_all __asm__("MPI_File_iread_all");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_all(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_all); }
dropin_entry front_PMPI_File_iread_all __asm__("PMPI_File_iread_all");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_all(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_all); }
dropin_entry front_MPI_File_write __asm__("MPI_File_write");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write); }
dropin_entry front_PMPI_File_write __asm__("PMPI_File_write");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write); }
dropin_entry front_MPI_File_read __asm__("MPI_File_read");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read); }
dropin_entry front_PMPI_File_read __asm__("PMPI_File_read");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read); }
dropin_entry front_MPI_File_write_at __asm__("MPI_File_write_at");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_at(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_at); }
dropin_entry front_PMPI_File_write_at __asm__("PMPI_File_write_at");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_at(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_at); }
dropin_entry front_MPI_File_read_at __asm__("MPI_File_read_at");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_at(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_at); }
dropin_entry front_PMPI_File_read_at __asm__("PMPI_File_read_at");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_at(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_at); }
dropin_entry front_MPI_File_write_shared __asm__("MPI_File_write_shared");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_shared(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_shared); }
dropin_entry front_PMPI_File_write_shared __asm__("PMPI_File_write_shared");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_shared(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_shared); }
dropin_entry front_MPI_File_read_shared __asm__("MPI_File_read_shared");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_shared(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_shared); }
dropin_entry front_PMPI_File_read_shared __asm__("PMPI_File_read_shared");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_shared(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_shared); }
dropin_entry front_MPI_File_iwrite __asm__("MPI_File_iwrite");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite); }
dropin_entry front_PMPI_File_iwrite __asm__("PMPI_File_iwrite");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite); }
dropin_entry front_MPI_File_iread __asm__("MPI_File_iread");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread); }
dropin_entry front_PMPI_File_iread __asm__("PMPI_File_iread");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread); }
dropin_entry front_MPI_File_iwrite_at __asm__("MPI_File_iwrite_at");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_at(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_at); }
dropin_entry front_PMPI_File_iwrite_at __asm__("PMPI_File_iwrite_at");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_at(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_at); }
dropin_entry front_MPI_File_iread_at __asm__("MPI_File_iread_at");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_at(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_at); }
dropin_entry front_PMPI_File_iread_at __asm__("PMPI_File_iread_at");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_at(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_at); }
dropin_entry front_MPI_File_iwrite_shared __asm__("MPI_File_iwrite_shared");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_shared(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_shared); }
dropin_entry front_PMPI_File_iwrite_shared __asm__("PMPI_File_iwrite_shared");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_shared(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_shared); }
dropin_entry front_MPI_File_iread_shared __asm__("MPI_File_iread_shared");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_shared(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_shared); }
dropin_entry front_PMPI_File_iread_shared __asm__("PMPI_File_iread_shared");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_shared(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_shared); }
dropin_entry front_MPI_File_write_ordered __asm__("MPI_File_write_ordered");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_ordered(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_ordered); }
dropin_entry front_PMPI_File_write_ordered __asm__("PMPI_File_write_ordered");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_ordered(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_ordered); }
dropin_entry front_MPI_File_read_ordered __asm__("MPI_File_read_ordered");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_ordered(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_ordered); }
dropin_entry front_PMPI_File_read_ordered __asm__("PMPI_File_read_ordered");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_ordered(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_ordered); }
dropin_entry front_MPI_File_write_ordered_begin __asm__("MPI_File_write_ordered_begin");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_ordered_begin(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_ordered_begin); }
dropin_entry front_PMPI_File_write_ordered_begin __asm__("PMPI_File_write_ordered_begin");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_ordered_begin(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_ordered_begin); }
dropin_entry front_MPI_File_read_ordered_begin __asm__("MPI_File_read_ordered_begin");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_ordered_begin(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_ordered_begin); }
dropin_entry front_PMPI_File_read_ordered_begin __asm__("PMPI_File_read_ordered_begin");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_ordered_begin(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_ordered_begin); }
dropin_entry front_MPI_File_write_at_all_end __asm__("MPI_File_write_at_all_end");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_at_all_end(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_at_all_end); }
dropin_entry front_PMPI_File_write_at_all_end __asm__("PMPI_File_write_at_all_end");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_at_all_end(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_at_all_end); }
dropin_entry front_MPI_File_read_at_all_end __asm__("MPI_File_read_at_all_end");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_at_all_end(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_at_all_end); }
dropin_entry front_PMPI_File_read_at_all_end __asm__("PMPI_File_read_at_all_end");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_at_all_end(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_at_all_end); }
dropin_entry front_MPI_File_write_all_end __asm__("MPI_File_write_all_end");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_all_end(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_all_end); }
dropin_entry front_PMPI_File_write_all_end __asm__("PMPI_File_write_all_end");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_all_end(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_all_end); }
dropin_entry front_MPI_File_read_all_end __asm__("MPI_File_read_all_end");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_all_end(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_all_end); }
dropin_entry front_PMPI_File_read_all_end __asm__("PMPI_File_read_all_end");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_all_end(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_all_end); }
dropin_entry front_MPI_File_write_ordered_end __asm__("MPI_File_write_ordered_end");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_ordered_end(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_ordered_end); }
dropin_entry front_PMPI_File_write_ordered_end __asm__("PMPI_File_write_ordered_end");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_ordered_end(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_ordered_end); }
dropin_entry front_MPI_File_read_ordered_end __asm__("MPI_File_read_ordered_end");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_ordered_end(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_ordered_end); }
dropin_entry front_PMPI_File_read_ordered_end __asm__("PMPI_File_read_ordered_end");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_ordered_end(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_ordered_end); }
dropin_entry front_MPI_Wait __asm__("MPI_Wait");
DROPIN_CALLS_ANY dropin_word front_MPI_Wait(DROPIN_WORDS) { return PASS(DROPIN_MPI_Wait); }
dropin_entry front_PMPI_Wait __asm__("PMPI_Wait");
DROPIN_CALLS_ANY dropin_word front_PMPI_Wait(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Wait); }
dropin_entry front_MPI_Waitall __asm__("MPI_Waitall");
DROPIN_CALLS_ANY dropin_word front_MPI_Waitall(DROPIN_WORDS) { return PASS(DROPIN_MPI_Waitall); }
dropin_entry front_PMPI_Waitall __asm__("PMPI_Waitall");
DROPIN_CALLS_ANY dropin_word front_PMPI_Waitall(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Waitall); }
dropin_entry front_MPI_Waitany __asm__("MPI_Waitany");
DROPIN_CALLS_ANY dropin_word front_MPI_Waitany(DROPIN_WORDS) { return PASS(DROPIN_MPI_Waitany); }
dropin_entry front_PMPI_Waitany __asm__("PMPI_Waitany");
DROPIN_CALLS_ANY dropin_word front_PMPI_Waitany(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Waitany); }
dropin_entry front_MPI_Waitsome __asm__("MPI_Waitsome");
DROPIN_CALLS_ANY dropin_word front_MPI_Waitsome(DROPIN_WORDS) { return PASS(DROPIN_MPI_Waitsome); }
dropin_entry front_PMPI_Waitsome __asm__("PMPI_Waitsome");
DROPIN_CALLS_ANY dropin_word front_PMPI_Waitsome(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Waitsome); }
dropin_entry front_MPI_Test __asm__("MPI_Test");
DROPIN_CALLS_ANY dropin_word front_MPI_Test(DROPIN_WORDS) { return PASS(DROPIN_MPI_Test); }
dropin_entry front_PMPI_Test __asm__("PMPI_Test");
DROPIN_CALLS_ANY dropin_word front_PMPI_Test(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Test); }
dropin_entry front_MPI_Testall __asm__("MPI_Testall");
DROPIN_CALLS_ANY dropin_word front_MPI_Testall(DROPIN_WORDS) { return PASS(DROPIN_MPI_Testall); }
dropin_entry front_PMPI_Testall __asm__("PMPI_Testall");
DROPIN_CALLS_ANY dropin_word front_PMPI_Testall(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Testall); }
dropin_entry front_MPI_Testany __asm__("MPI_Testany");
DROPIN_CALLS_ANY dropin_word front_MPI_Testany(DROPIN_WORDS) { return PASS(DROPIN_MPI_Testany); }
dropin_entry front_PMPI_Testany __asm__("PMPI_Testany");
DROPIN_CALLS_ANY dropin_word front_PMPI_Testany(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Testany); }
dropin_entry front_MPI_Testsome __asm__("MPI_Testsome");
DROPIN_CALLS_ANY dropin_word front_MPI_Testsome(DROPIN_WORDS) { return PASS(DROPIN_MPI_Testsome); }
dropin_entry front_PMPI_Testsome __asm__("PMPI_Testsome");
DROPIN_CALLS_ANY dropin_word front_PMPI_Testsome(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Testsome); }
dropin_entry front_MPI_Request_get_status __asm__("MPI_Request_get_status");
DROPIN_CALLS_ANY dropin_word front_MPI_Request_get_status(DROPIN_WORDS) { return PASS(DROPIN_MPI_Request_get_status); }
dropin_entry front_PMPI_Request_get_status __asm__("PMPI_Request_get_status");
DROPIN_CALLS_ANY dropin_word front_PMPI_Request_get_status(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Request_get_status); }
dropin_entry front_MPI_Comm_split_type __asm__("MPI_Comm_split_type");
DROPIN_CALLS_ANY dropin_word front_MPI_Comm_split_type(DROPIN_WORDS) { return PASS(DROPIN_MPI_Comm_split_type); }
dropin_entry front_PMPI_Comm_split_type __asm__("PMPI_Comm_split_type");
DROPIN_CALLS_ANY dropin_word front_PMPI_Comm_split_type(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Comm_split_type); }
dropin_entry front_MPI_Finalize __asm__("MPI_Finalize");
DROPIN_CALLS_ANY dropin_word front_MPI_Finalize(DROPIN_WORDS) { return PASS(DROPIN_MPI_Finalize); }
dropin_entry front_PMPI_Finalize __asm__("PMPI_Finalize");
DROPIN_CALLS_ANY dropin_word front_PMPI_Finalize(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Finalize); }
dropin_entry front_MPI_Abort __asm__("MPI_Abort");
DROPIN_CALLS_ANY dropin_word front_MPI_Abort(DROPIN_WORDS) { return PASS(DROPIN_MPI_Abort); }
dropin_entry front_PMPI_Abort __asm__("PMPI_Abort");
DROPIN_CALLS_ANY dropin_word front_PMPI_Abort(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Abort); }
dropin_entry front_MPI_Intercomm_merge __asm__("MPI_Intercomm_merge");
DROPIN_CALLS_ANY dropin_word front_MPI_Intercomm_merge(DROPIN_WORDS) { return PASS(DROPIN_MPI_Intercomm_merge); }
dropin_entry front_PMPI_Intercomm_merge __asm__("PMPI_Intercomm_merge");
DROPIN_CALLS_ANY dropin_word front_PMPI_Intercomm_merge(DROPIN_WORDS) { return PASS(DROPIN_PMPI_Intercomm_merge); }
#if MPI_VERSION >= 4
dropin_entry front_MPI_File_write_at_all_c __asm__("MPI_File_write_at_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_at_all_c); }
dropin_entry front_PMPI_File_write_at_all_c __asm__("PMPI_File_write_at_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_at_all_c); }
dropin_entry front_MPI_File_read_at_all_c __asm__("MPI_File_read_at_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_at_all_c); }
dropin_entry front_PMPI_File_read_at_all_c __asm__("PMPI_File_read_at_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_at_all_c); }
dropin_entry front_MPI_File_write_all_c __asm__("MPI_File_write_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_all_c); }
dropin_entry front_PMPI_File_write_all_c __asm__("PMPI_File_write_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_all_c); }
dropin_entry front_MPI_File_read_all_c __asm__("MPI_File_read_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_all_c); }
dropin_entry front_PMPI_File_read_all_c __asm__("PMPI_File_read_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_all_c); }
dropin_entry front_MPI_File_write_at_all_begin_c __asm__("MPI_File_write_at_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_at_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_at_all_begin_c); }
dropin_entry front_PMPI_File_write_at_all_begin_c __asm__("PMPI_File_write_at_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_at_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_at_all_begin_c); }
dropin_entry front_MPI_File_read_at_all_begin_c __asm__("MPI_File_read_at_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_at_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_at_all_begin_c); }
dropin_entry front_PMPI_File_read_at_all_begin_c __asm__("PMPI_File_read_at_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_at_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_at_all_begin_c); }
dropin_entry front_MPI_File_write_all_begin_c __asm__("MPI_File_write_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_all_begin_c); }
dropin_entry front_PMPI_File_write_all_begin_c __asm__("PMPI_File_write_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_all_begin_c); }
dropin_entry front_MPI_File_read_all_begin_c __asm__("MPI_File_read_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_all_begin_c); }
dropin_entry front_PMPI_File_read_all_begin_c __asm__("PMPI_File_read_all_begin_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_all_begin_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_all_begin_c); }
dropin_entry front_MPI_File_iwrite_at_all_c __asm__("MPI_File_iwrite_at_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_at_all_c); }
dropin_entry front_PMPI_File_iwrite_at_all_c __asm__("PMPI_File_iwrite_at_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_at_all_c); }
dropin_entry front_MPI_File_iread_at_all_c __asm__("MPI_File_iread_at_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_at_all_c); }
dropin_entry front_PMPI_File_iread_at_all_c __asm__("PMPI_File_iread_at_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_at_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_at_all_c); }
dropin_entry front_MPI_File_iwrite_all_c __asm__("MPI_File_iwrite_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_all_c); }
dropin_entry front_PMPI_File_iwrite_all_c __asm__("PMPI_File_iwrite_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_all_c); }
dropin_entry front_MPI_File_iread_all_c __asm__("MPI_File_iread_all_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_all_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_all_c); }
dropin_entry front_PMPI_File_iread_all_c __asm__("PMPI_File_iread_all_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_all_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_all_c); }
dropin_entry front_MPI_File_write_c __asm__("MPI_File_write_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_c); }
dropin_entry front_PMPI_File_write_c __asm__("PMPI_File_write_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_c); }
dropin_entry front_MPI_File_read_c __asm__("MPI_File_read_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_c); }
dropin_entry front_PMPI_File_read_c __asm__("PMPI_File_read_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_c); }
dropin_entry front_MPI_File_write_at_c __asm__("MPI_File_write_at_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_at_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_at_c); }
dropin_entry front_PMPI_File_write_at_c __asm__("PMPI_File_write_at_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_at_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_at_c); }
dropin_entry front_MPI_File_read_at_c __asm__("MPI_File_read_at_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_at_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_at_c); }
dropin_entry front_PMPI_File_read_at_c __asm__("PMPI_File_read_at_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_at_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_at_c); }
dropin_entry front_MPI_File_write_shared_c __asm__("MPI_File_write_shared_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_shared_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_shared_c); }
dropin_entry front_PMPI_File_write_shared_c __asm__("PMPI_File_write_shared_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_shared_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_shared_c); }
dropin_entry front_MPI_File_read_shared_c __asm__("MPI_File_read_shared_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_shared_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_shared_c); }
dropin_entry front_PMPI_File_read_shared_c __asm__("PMPI_File_read_shared_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_shared_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_shared_c); }
dropin_entry front_MPI_File_iwrite_c __asm__("MPI_File_iwrite_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_c); }
dropin_entry front_PMPI_File_iwrite_c __asm__("PMPI_File_iwrite_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_c); }
dropin_entry front_MPI_File_iread_c __asm__("MPI_File_iread_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_c); }
dropin_entry front_PMPI_File_iread_c __asm__("PMPI_File_iread_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_c); }
dropin_entry front_MPI_File_iwrite_at_c __asm__("MPI_File_iwrite_at_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_at_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_at_c); }
dropin_entry front_PMPI_File_iwrite_at_c __asm__("PMPI_File_iwrite_at_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_at_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_at_c); }
dropin_entry front_MPI_File_iread_at_c __asm__("MPI_File_iread_at_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_at_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_at_c); }
dropin_entry front_PMPI_File_iread_at_c __asm__("PMPI_File_iread_at_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_at_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_at_c); }
dropin_entry front_MPI_File_iwrite_shared_c __asm__("MPI_File_iwrite_shared_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iwrite_shared_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iwrite_shared_c); }
dropin_entry front_PMPI_File_iwrite_shared_c __asm__("PMPI_File_iwrite_shared_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iwrite_shared_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iwrite_shared_c); }
dropin_entry front_MPI_File_iread_shared_c __asm__("MPI_File_iread_shared_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_iread_shared_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_iread_shared_c); }
dropin_entry front_PMPI_File_iread_shared_c __asm__("PMPI_File_iread_shared_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_iread_shared_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_iread_shared_c); }
dropin_entry front_MPI_File_write_ordered_c __asm__("MPI_File_write_ordered_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_ordered_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_ordered_c); }
dropin_entry front_PMPI_File_write_ordered_c __asm__("PMPI_File_write_ordered_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_ordered_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_ordered_c); }
dropin_entry front_MPI_File_read_ordered_c __asm__("MPI_File_read_ordered_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_ordered_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_ordered_c); }
dropin_entry front_PMPI_File_read_ordered_c __asm__("PMPI_File_read_ordered_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_ordered_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_ordered_c); }
dropin_entry front_MPI_File_write_ordered_begin_c __asm__("MPI_File_write_ordered_begin_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_write_ordered_begin_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_write_ordered_begin_c); }
dropin_entry front_PMPI_File_write_ordered_begin_c __asm__("PMPI_File_write_ordered_begin_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_write_ordered_begin_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_write_ordered_begin_c); }
dropin_entry front_MPI_File_read_ordered_begin_c __asm__("MPI_File_read_ordered_begin_c");
DROPIN_CALLS_ANY dropin_word front_MPI_File_read_ordered_begin_c(DROPIN_WORDS) { return PASS(DROPIN_MPI_File_read_ordered_begin_c); }
dropin_entry front_PMPI_File_read_ordered_begin_c __asm__("PMPI_File_read_ordered_begin_c");
DROPIN_CALLS_ANY dropin_word front_PMPI_File_read_ordered_begin_c(DROPIN_WORDS) { return PASS(DROPIN_PMPI_File_read_ordered_begin_c); }
#endif
