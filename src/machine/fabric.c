#include "machine/fabric.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hints.h"
#include "base/loaded.h"

/* ---- Tofu ---- */

enum { TOFU_COORDINATES = 6 };

static bool tofu_ask(sagoi_node_name *name) {
    int (*query)(uint8_t * coordinates) = NULL;
    uint8_t at[TOFU_COORDINATES] = {0};
    void *symbol = dlsym(RTLD_DEFAULT, "utofu_query_my_coords");
    if (!symbol)
        return false;
    memcpy(&query, &symbol, sizeof symbol);
    if (query(at) != 0)
        return false;
    name->teller = SAGOI_TOLD_BY_TOFU;
    name->dimensions = TOFU_COORDINATES;
    for (int i = 0; i < TOFU_COORDINATES; i++)
        name->coordinate[i] = at[i];
    return true;
}

/* ---- PMIx ---- */

/* As in version 4 of the standard; only what is needed here. */
typedef struct pmix_proc {
    char nspace[256];
    uint32_t rank;
} pmix_proc;
typedef struct pmix_coordinates {
    uint8_t view;
    uint32_t *coordinate;
    size_t dimensions;
} pmix_coordinates;
typedef struct pmix_geometry {
    size_t fabric;
    char *uuid, *os_name;
    pmix_coordinates *coordinates;
    size_t views;
} pmix_geometry;
typedef struct pmix_array {
    uint16_t type;
    size_t size;
    void *array;
} pmix_array;
typedef struct pmix_value {
    uint16_t type;
    union {
        bool flag;
        const pmix_array *array;
        const pmix_coordinates *coordinates;
        struct {
            void *largest[3];
        } room; /* the largest of the standard's members has three words */
    } data;
} pmix_value;
typedef struct pmix_info {
    char key[512];
    uint32_t flags;
    pmix_value value;
} pmix_info;

enum { PMIX_BOOL = 1, PMIX_DATA_ARRAY = 39, PMIX_COORD = 47, PMIX_GEOMETRY = 53 };

typedef struct pmix_calls {
    int (*initialized)(void);
    int (*get)(const pmix_proc *proc, const char *key, const pmix_info *info, size_t infos, pmix_value **value);
    void (*destruct)(pmix_value *value);
} pmix_calls;

static bool pmix_find(pmix_calls *calls) {
    static const char *const names[] = {"libpmix.so.2", "libpmix.so", NULL};
    const sagoi_wanted functions[] = {{"PMIx_Initialized", &calls->initialized},
                                      {"PMIx_Get", &calls->get},
                                      {"PMIx_Value_destruct", &calls->destruct},
                                      {NULL, NULL}};
    return sagoi_loaded_find(names, functions) && calls->initialized() > 0;
}

/* The launcher tells each process its name. */
static bool pmix_self(pmix_proc *self) {
    const char *job = sagoi_environment("PMIX_NAMESPACE"), *rank = sagoi_environment("PMIX_RANK");
    char *end = NULL;
    memset(self, 0, sizeof *self);
    if (!job || !rank || strlen(job) >= sizeof self->nspace)
        return false;
    (void)snprintf(self->nspace, sizeof self->nspace, "%s", job);
    self->rank = (uint32_t)strtoul(rank, &end, 10);
    return end != rank && !*end;
}

/* The first device of the node counts: the others are on the same router, or on one like it in another plane. */
static const pmix_coordinates *pmix_first(const pmix_value *value) {
    if (value->type == PMIX_COORD)
        return value->data.coordinates;
    const pmix_array *array = value->type == PMIX_DATA_ARRAY ? value->data.array : NULL;
    if (!array || array->size == 0 || !array->array)
        return NULL;
    if (array->type == PMIX_COORD)
        return array->array;
    const pmix_geometry *device = array->type == PMIX_GEOMETRY ? array->array : NULL;
    return device && device->views > 0 ? device->coordinates : NULL;
}

static bool pmix_take(const pmix_value *value, sagoi_node_name *name) {
    const pmix_coordinates *at = pmix_first(value);
    if (!at || !at->coordinate || at->dimensions == 0 || at->dimensions > SAGOI_DIMENSIONS_MAX)
        return false;
    name->teller = SAGOI_TOLD_BY_PMIX;
    name->dimensions = (int64_t)at->dimensions;
    for (size_t i = 0; i < at->dimensions; i++)
        name->coordinate[i] = at->coordinate[i];
    return true;
}

/* Looks only at what the process has been told already, since a question to the server could wait for others. */
static bool pmix_ask(sagoi_node_name *name) {
    pmix_calls calls;
    pmix_proc self;
    pmix_value *value = NULL;
    pmix_info told = {.key = "pmix.optional", .value = {.type = PMIX_BOOL, .data = {.flag = true}}};
    if (!pmix_self(&self) || !pmix_find(&calls) || calls.get(&self, "pmix.fab.coord", &told, 1, &value) != 0 ||
        !value)
        return false;
    bool taken = pmix_take(value, name);
    calls.destruct(value);
    free(value);
    return taken;
}

bool sagoi_fabric_ask(sagoi_node_name *name) { return tofu_ask(name) || pmix_ask(name); }

/* ---- Places ---- */

/* Seconds that a router takes: about 100 ns on Tofu, Aries and InfiniBand alike. */
static const double hop_seconds = 1e-7;

bool sagoi_fabric_lay(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology, int64_t *place) {
    int64_t low[SAGOI_DIMENSIONS_MAX], at[SAGOI_DIMENSIONS_MAX], dimensions = name[0].dimensions;
    sagoi_level level = topology->level[0];
    level.latency = level.latency < hop_seconds ? level.latency : hop_seconds;
    for (int64_t n = 0; n < nodes; n++)
        if (name[n].dimensions == 0 || name[n].dimensions != dimensions || name[n].teller != name[0].teller)
            return false;
    topology->kind = SAGOI_TORUS;
    topology->dimensions = dimensions;
    for (int64_t i = 0; i < dimensions; i++) {
        int64_t high = low[i] = name[0].coordinate[i];
        for (int64_t n = 1; n < nodes; n++) {
            low[i] = sagoi_min(low[i], name[n].coordinate[i]);
            high = sagoi_max(high, name[n].coordinate[i]);
        }
        /* Wide enough that the way round is never the shorter one. */
        topology->extent[i] = 2 * (high - low[i]) + 1;
        topology->level[i] = level;
    }
    if (sagoi_topology_complete(topology) != SAGO_OK)
        return false;
    for (int64_t n = 0; n < nodes; n++) {
        for (int64_t i = 0; i < dimensions; i++)
            at[i] = name[n].coordinate[i] - low[i];
        place[n] = sagoi_topology_place(topology, at);
    }
    return true;
}
