/* What is there: the saves found in the directories of all levels, by all ranks.  The truth is on the storage;
 * this is read anew whenever it is needed. */
#ifndef SAGOI_CKPT_CATALOG_H
#define SAGOI_CKPT_CATALOG_H

#include "ckpt/record.h"

typedef enum { SAGOI_ITEM_FOLDER, SAGOI_ITEM_INTENT, SAGOI_ITEM_PART, SAGOI_ITEM_PARITY } sagoi_item_kind;

enum {
    SAGOI_FOLDER_INTERRUPTED = 1, /* a writer was interrupted there */
    SAGOI_FOLDER_UNREADABLE =
        2, /* something could not be read, or is of a newer format: nobody knows what is there */
};

/* One verified record (or a save's folder) at one place. */
typedef struct sagoi_item {
    int64_t kind;   /* sagoi_item_kind */
    int64_t level;  /* SAGO_LEVEL_LOCAL or _GLOBAL */
    int64_t holder; /* the rank that found it and can read what belongs to it */
    int64_t step;
    uint64_t id_low; /* with the step: which save */
    int64_t index;   /* part: writer; parity: set; folder: bits SAGOI_FOLDER_* */
    int64_t member;  /* parity */
    int64_t len;
    char *bytes; /* of the record; parts and parity only where they were asked for */
} sagoi_item;

typedef struct sagoi_catalog {
    sagoi_item *items;
    int64_t n, capacity;
} sagoi_catalog;

#define SAGOI_NO_STEP (-1)

/* Looks through the directory of one level.  The records of parts and parity are kept for `step` only.  A
 * directory that does not exist has nothing. */
sago_status sagoi_catalog_scan(sagoi_catalog *catalog, const char *dir, sago_level level, int64_t holder,
                               int64_t step) SAGOI_CHECKED;
void sagoi_catalog_cleanup(sagoi_catalog *catalog);

/* As a message, and back (appending). */
void sagoi_catalog_encode(const sagoi_catalog *catalog, sagoi_wire_out *out);
sago_status sagoi_catalog_decode(sagoi_catalog *catalog, sagoi_wire_in *in) SAGOI_CHECKED;

/* One save as the catalog knows it. */
typedef struct sagoi_save_view {
    int64_t step;
    uint64_t id_low;
    const sagoi_item *intent_item; /* NULL: no intent anywhere */
    bool intent_at[SAGO_LEVEL_COUNT];
    int64_t parts[SAGO_LEVEL_COUNT];
    int64_t lost; /* writers missing at the local level that redundancy cannot bring back */
    bool complete[SAGO_LEVEL_COUNT];
    sagoi_intent intent; /* if there is one */
} sagoi_save_view;

/* All saves, by step, then by time; to be freed by sagoi_views_free(). */
sago_status sagoi_catalog_views(const sagoi_catalog *catalog, sagoi_save_view **views, int64_t *n) SAGOI_CHECKED;
void sagoi_views_free(sagoi_save_view *views, int64_t n);

static inline bool sagoi_view_complete(const sagoi_save_view *view, sago_level at_least) {
    for (int level = at_least; level < SAGO_LEVEL_COUNT; level++)
        if (view->complete[level])
            return true;
    return false;
}

/* The complete save of a step (the newest, if there are several), else NULL. */
const sagoi_save_view *sagoi_views_find(const sagoi_save_view *views, int64_t n, int64_t step);

/* The index-th part or parity of a save at a level, or NULL. */
const sagoi_item *sagoi_catalog_part(const sagoi_catalog *catalog, const sagoi_save_view *save, sago_level level,
                                     int64_t writer);
const sagoi_item *sagoi_catalog_parity(const sagoi_catalog *catalog, const sagoi_save_view *save, int64_t set,
                                       int64_t member);

#endif
