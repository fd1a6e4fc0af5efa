/* The entry points, and when the core is loaded.
 *
 * Until a call concerns Sago, calls go straight to the function behind Sago, so a program without MPI-IO never
 * has more of Sago than this.  The first such call decides for all calls: they go to the core or, if Sago is
 * not for this program, past it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sago/sago.h>

#include "absent.h"
#include "front.h"
#include "library.h"
#include "told.h"

typedef enum {
    UNDECIDED, /* no MPI library is loaded yet */
    READY,     /* the MPI library is the one that the core was built for */
    FOREIGN,   /* the MPI library is another one, which the user was not told yet */
    PAST,      /* decided: all calls go past Sago */
    SERVING,   /* decided: all calls go to the core */
} front_state;

_Atomic(dropin_entry *) front_entries[DROPIN_ENTRY_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the fields below */
static front_state state;
static mpi_library mpi;

/* A preloaded tool or the MPI library.  The loader's own rules may not find the library from here, if dlopen() has
 * loaded it for the use of some libraries only. */
static void *next_of(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    return symbol || !mpi.handle ? symbol : dlsym(mpi.handle, name);
}

/* The functions for the core.  By PMPI_x the core means the MPI library itself, since a tool may have that name,
 * too. */
static void *next_of_core(const char *name) {
    bool itself = strncmp(name, "PMPI_", strlen("PMPI_")) == 0;
    void *symbol = itself ? library_has(&mpi, name) : NULL;
    return symbol ? symbol : next_of(name);
}

static dropin_word nothing_behind(dropin_word a, dropin_word b, dropin_word c, dropin_word d, dropin_word e,
                                  dropin_word f) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    return MPI_ERR_OTHER;
}

static bool is_set(const char *variable, const char *no) {
    const char *value = getenv(variable);
    return value && *value && strcmp(value, no) != 0;
}

static front_state look(void) {
    if (!library_find(&mpi))
        return UNDECIDED;
    if (is_disabled())
        return PAST;
    return library_is_own(&mpi) ? READY : FOREIGN;
}

/* The core cannot be loaded here; elsewhere it may be. */
static front_state do_without(void) {
    dropin_entry *found[DROPIN_ENTRY_COUNT] = {NULL};
    const char *said = dlerror(), *why = said ? said : "no libsago-mpiio-core.so";
    tell_broken(why);
    absent_begin(&mpi, why, next_of, found);
    for (int i = 0; i < DROPIN_ENTRY_COUNT; i++)
        if (found[i])
            atomic_store_explicit(&front_entries[i], found[i], memory_order_release);
    return PAST;
}

static front_state begin(void) {
    dropin_entry *found[DROPIN_ENTRY_COUNT];
    void (*core_begin)(dropin_next *, dropin_entry **);
    void *core = library_beside(&state, "libsago-mpiio-core.so"),
         *symbol = core ? dlsym(core, "sago_dropin_begin") : NULL;
    if (!symbol)
        return do_without();
    if (!library_serves(&mpi, core)) { /* the core's own MPI library is a copy, perhaps by another name */
        tell_foreign(&mpi);
        (void)dlclose(core);
        return PAST;
    }
    memcpy(&core_begin, &symbol, sizeof core_begin);
    core_begin(next_of_core, found);
    for (int i = 0; i < DROPIN_ENTRY_COUNT; i++)
        atomic_store_explicit(&front_entries[i], found[i], memory_order_release);
    return SERVING;
}

/* Calls that may concern Sago, or in which it has to report. */
static bool is_for_sago(int index, dropin_word second) {
    switch (index) {
    case DROPIN_MPI_Comm_split_type:
    case DROPIN_PMPI_Comm_split_type:
        return (int)second == SAGO_COMM_TYPE_NEIGHBORHOOD || (int)second == DROPIN_NEIGHBORHOOD;
    case DROPIN_MPI_Finalize:
    case DROPIN_PMPI_Finalize:
        return is_set("SAGO_STATS", "off") || is_set("SAGO_REPORT", "") || is_set("SAGO_TRACE", "");
    case DROPIN_MPI_Intercomm_merge:
    case DROPIN_PMPI_Intercomm_merge:
        return true;
    default:
        return strstr(front_names[index], "MPI_File_") != NULL;
    }
}

static front_state decide(front_state now) {
    if (now == FOREIGN) {
        tell_foreign(&mpi);
        return PAST;
    }
    if (now == PAST)
        tell_disabled();
    return now == READY ? begin() : now;
}

/* May the answer for this entry be kept for later calls? */
static bool is_final(int index) {
    bool always =
        index < DROPIN_MPI_Comm_split_type && !strstr(front_names[index], "MPI_File_"); /* until Sago begins */
    return state == PAST || (state != UNDECIDED && always);
}

dropin_entry *front_resolve(int index, dropin_word second) {
    (void)pthread_mutex_lock(&lock);
    if (state == UNDECIDED)
        state = look();
    if (is_for_sago(index, second))
        state = decide(state);
    dropin_entry *entry = atomic_load_explicit(&front_entries[index], memory_order_relaxed);
    if (!entry) {
        void *next = next_of(front_names[index]);
        entry = next ? DROPIN_AS_ENTRY(next) : nothing_behind;
        if (is_final(index))
            atomic_store_explicit(&front_entries[index], entry, memory_order_release);
    }
    (void)pthread_mutex_unlock(&lock);
    return entry;
}
