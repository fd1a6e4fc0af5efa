#include "view/run_list.h"

#include <limits.h>

#include "mpi/quiet.h"
#include "view/contents.h"

enum {
    LEAST_NUMBERS = 256, /* numbers that describe a type; a type with fewer is read quickly by any library */
    NUMBERS_A_RUN = 4    /* numbers for each run; a list of runs has two */
};

typedef struct run_list {
    int64_t room, count;
    MPI_Aint *places;
    int *lengths;
} run_list;

/* false: a run is too long for a list. */
static bool fill(run_list *list, const sagoi_flat *flat) {
    const sagoi_extents all = {.pattern = &flat->pattern, .extent = flat->extent, .end = flat->size};
    sagoi_cursor cursor;
    sagoi_span span;
    sagoi_cursor_init(&cursor, &all);
    while (sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
        for (sagoi_walk run = sagoi_walk_span(&span); sagoi_walk_run(&run); list->count++) {
            if (run.len > INT_MAX || list->count == list->room)
                return false;
            list->places[list->count] = run.off;
            list->lengths[list->count] = (int)run.len;
        }
    return true;
}

static bool has_bounds_of(MPI_Datatype type, const sagoi_flat *flat) {
    int64_t lower_bound, extent;
    return sagoi_type_extent(type, &lower_bound, &extent) == SAGO_OK && lower_bound == flat->lower_bound &&
           extent == flat->extent;
}

/* Takes `runs` over.  ROMIO moves the data of a resized type by the lower bound, which is not what MPI says, so no
 * type gets a lower bound that it does not have by itself. */
static MPI_Datatype with_bounds_of(MPI_Datatype runs, const sagoi_flat *flat) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (has_bounds_of(runs, flat))
        return runs;
    if (flat->lower_bound != 0 || MPI_Type_create_resized(runs, 0, flat->extent, &type) != MPI_SUCCESS)
        type = MPI_DATATYPE_NULL;
    (void)MPI_Type_free(&runs);
    return type;
}

static MPI_Datatype type_of(const run_list *list, const sagoi_flat *flat) {
    MPI_Datatype runs;
    if (MPI_Type_create_hindexed((int)list->count, list->lengths, list->places, MPI_BYTE, &runs) != MPI_SUCCESS)
        return MPI_DATATYPE_NULL;
    MPI_Datatype type = with_bounds_of(runs, flat);
    if (type != MPI_DATATYPE_NULL && MPI_Type_commit(&type) != MPI_SUCCESS)
        (void)MPI_Type_free(&type);
    return type;
}

/* MPI has no call that tells, but refuses to pack a type that is not committed. */
static bool is_committed(MPI_Datatype type) {
    int size;
    return MPI_Pack_size(1, type, MPI_COMM_SELF, &size) == MPI_SUCCESS;
}

MPI_Datatype sagoi_run_list(const sagoi_flat *flat, MPI_Datatype type, sagoi_budget *budget) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    run_list list = {.room = flat->pattern.run_count};
    if (flat->numbers < LEAST_NUMBERS || list.room > INT_MAX || list.room > flat->numbers / NUMBERS_A_RUN)
        return made;
    list.places = sagoi_budget_alloc(budget, list.room * (int64_t)sizeof *list.places);
    list.lengths = sagoi_budget_alloc(budget, list.room * (int64_t)sizeof *list.lengths);
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (list.places && list.lengths && is_committed(type) && fill(&list, flat))
        made = type_of(&list, flat);
    sagoi_quiet_end(MPI_COMM_NULL);
    sagoi_budget_free(budget, list.places);
    sagoi_budget_free(budget, list.lengths);
    return made;
}
