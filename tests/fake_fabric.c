/* The made-up network: a library with uTofu's and PMIx's functions, whose answers the test sets. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* PMIx's types, as its standard has them. */
typedef struct {
    char nspace[256];
    uint32_t rank;
} proc_t;
typedef struct {
    uint8_t view;
    uint32_t *coord;
    size_t dims;
} coord_t;
typedef struct {
    size_t fabric;
    char *uuid, *osname;
    coord_t *coordinates;
    size_t ncoords;
} geometry_t;
typedef struct {
    uint16_t type;
    size_t size;
    void *array;
} array_t;
typedef struct {
    uint16_t type;
    union {
        bool flag;
        array_t *darray;
        coord_t *coord;
        void *room[3];
    } data;
} value_t;
typedef struct {
    char key[512];
    uint32_t flags;
    value_t value;
} info_t;

enum { BOOL = 1, DATA_ARRAY = 39, COORD = 47, GEOMETRY = 53, NOT_FOUND = -46 };

static int tofu = -1; /* what the query returns */
static int kind;      /* of PMIx's answer: 0 none, else a type, COORD + DATA_ARRAY: an array of them */
static uint32_t at[8];
static size_t dimensions;
static coord_t coordinates;
static geometry_t geometry;
static array_t array;
static long released;

void fake_fabric_tofu(int status, const uint32_t *coords);
void fake_fabric_pmix(int type, size_t dims, const uint32_t *coords);
long fake_fabric_released(void);
int utofu_query_my_coords(uint8_t *coords);
int PMIx_Initialized(void);
int PMIx_Get(const proc_t *proc, const char *key, const info_t *info, size_t ninfo, value_t **value);
void PMIx_Value_destruct(value_t *value);

void fake_fabric_tofu(int status, const uint32_t *coords) {
    tofu = status;
    memcpy(at, coords, 6 * sizeof *coords);
}

void fake_fabric_pmix(int type, size_t dims, const uint32_t *coords) {
    kind = type;
    dimensions = dims;
    if (dims <= 8)
        memcpy(at, coords, dims * sizeof *coords);
}

long fake_fabric_released(void) { return released; }

int utofu_query_my_coords(uint8_t *coords) {
    for (int i = 0; tofu == 0 && i < 6; i++)
        coords[i] = (uint8_t)at[i];
    return tofu;
}

int PMIx_Initialized(void) { return 1; }

/* Answers only who asks for itself, and would not wait. */
int PMIx_Get(const proc_t *proc, const char *key, const info_t *info, size_t ninfo, value_t **value) {
    if (kind == 0 || strcmp(proc->nspace, "job@1") != 0 || proc->rank != 3 || strcmp(key, "pmix.fab.coord") != 0 ||
        ninfo != 1 || strcmp(info->key, "pmix.optional") != 0 || info->value.type != BOOL ||
        !info->value.data.flag)
        return NOT_FOUND;
    coordinates = (coord_t){1, at, dimensions};
    geometry = (geometry_t){0, NULL, NULL, &coordinates, 1};
    array = kind == GEOMETRY ? (array_t){GEOMETRY, 1, &geometry} : (array_t){COORD, 1, &coordinates};
    *value = calloc(1, sizeof **value);
    if (!*value)
        return NOT_FOUND;
    (*value)->type = kind == COORD ? COORD : DATA_ARRAY;
    if (kind == COORD)
        (*value)->data.coord = &coordinates;
    else
        (*value)->data.darray = &array;
    return 0;
}

void PMIx_Value_destruct(value_t *value) {
    memset(value, 0xff, sizeof *value);
    released++;
}
