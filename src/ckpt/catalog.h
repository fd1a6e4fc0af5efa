/* The saves that all ranks have found in the directories of all levels.  The truth is on the storage, so the
 * catalog is read anew whenever it is needed. */
#ifndef SAGOI_CKPT_CATALOG_H
#define SAGOI_CKPT_CATALOG_H

#include "ckpt/record.h"

typedef enum { SAGOI_ITEM_FOLDER, SAGOI_ITEM_INTENT, SAGOI_ITEM_PART, SAGOI_ITEM_PARITY } sagoi_item_kind;

/* What was seen of a save in a folder. */
enum {
    SAGOI_SAW_INTERRUPTED = 1, /* a writer began and did not end, so the save never was complete */
    /* Something cannot be read, or is of a newer format, so nobody knows what is there. */
    SAGOI_SAW_UNREADABLE = 2,
    SAGOI_SAW_MARK = 4,      /* the save was complete */
    SAGOI_SAW_DAMAGE = 8,    /* a record, or the data of a part, that was durable once has changed */
    SAGOI_SAW_ASIDE = 16,    /* the folder is set aside */
    SAGOI_SAW_REMOVED = 32,  /* the trace of a removal */
    SAGOI_SAW_BAD_DATA = 64, /* the save could not be restored from, whatever its records say */
    /* Made by an owner that had been replaced (ckpt/generation.h), so nothing of it counts. */
    SAGOI_SAW_LATE = 256,
    SAGOI_SAW_COPY = 512, /* set aside beside a folder of the same save that is not, so nothing in it counts */
    SAGOI_SAW_PART = 128, /* a part of this save, also one without its data */
};

/* One verified record, or a save's folder, at one place. */
typedef struct sagoi_item {
    int64_t kind;   /* sagoi_item_kind */
    int64_t level;  /* SAGO_LEVEL_LOCAL or _GLOBAL */
    int64_t holder; /* the rank that found it, and can read what belongs to it */
    int64_t step;
    uint64_t id_low; /* of the save; with the step it tells which save it is */
    int64_t index;   /* part: writer; parity: set; folder: bits SAGOI_SAW_* */
    int64_t member;  /* of parity; for a folder that is set aside: bytes in it */
    int64_t len;
    char *bytes; /* the record; for parts and parity only if they were asked for */
} sagoi_item;

typedef struct sagoi_catalog {
    sagoi_item *items;
    int64_t n, capacity;
} sagoi_catalog;

#define SAGOI_NO_STEP (-1)

/* Reads the directory of one level.  The records of parts and parity are kept for `step` only.  A directory that
 * does not exist has nothing.  SAGO_ERR_TIMEOUT: the directory does not answer, and what was found is not all. */
sago_status sagoi_catalog_scan(sagoi_catalog *catalog, const char *dir, sago_level level, int64_t holder,
                               int64_t step) SAGOI_CHECKED;
/* Forgets all items from number n on. */
void sagoi_catalog_cut(sagoi_catalog *catalog, int64_t n);
void sagoi_catalog_cleanup(sagoi_catalog *catalog);

/* Writes the catalog as a message, and reads a message (appending). */
void sagoi_catalog_encode(const sagoi_catalog *catalog, sagoi_wire_out *out);
sago_status sagoi_catalog_decode(sagoi_catalog *catalog, sagoi_wire_in *in) SAGOI_CHECKED;

/* One save, as the catalog knows it.  Parts in folders that are set aside count as parts, but a level with such a
 * folder is not complete. */
typedef struct sagoi_save_view {
    int64_t step;
    uint64_t id_low;
    const sagoi_item *intent_item; /* NULL: there is no intent */
    bool intent_at[SAGO_LEVEL_COUNT];
    int64_t parts[SAGO_LEVEL_COUNT];
    int64_t lost; /* writers missing at the local level that redundancy cannot bring back */
    bool complete[SAGO_LEVEL_COUNT];
    bool whole; /* the save is complete at a level, or every part is at one of them, set aside or not */
    int64_t saw[SAGO_LEVEL_COUNT]; /* bits SAGOI_SAW_* of any folder of the level */
    int64_t aside_bytes;           /* bytes in folders that are set aside, at all levels */
    sagoi_intent intent;           /* only if there is an intent */
} sagoi_save_view;

/* All saves, by step, then by time; freed by sagoi_views_free(). */
sago_status sagoi_catalog_views(const sagoi_catalog *catalog, sagoi_save_view **views, int64_t *n) SAGOI_CHECKED;
void sagoi_views_free(sagoi_save_view *views, int64_t n);

static inline bool sagoi_view_complete(const sagoi_save_view *view, sago_level at_least) {
    for (int level = at_least; level < SAGO_LEVEL_COUNT; level++)
        if (view->complete[level])
            return true;
    return false;
}

/* What was seen in any folder of a save. */
static inline int64_t sagoi_view_saw(const sagoi_save_view *view) {
    return view->saw[SAGO_LEVEL_LOCAL] | view->saw[SAGO_LEVEL_GLOBAL];
}
static inline bool sagoi_view_aside(const sagoi_save_view *view) {
    return (sagoi_view_saw(view) & SAGOI_SAW_ASIDE) != 0;
}
/* Did an owner make the save that had been replaced? */
static inline bool sagoi_view_late(const sagoi_save_view *view) {
    return !view->intent_item && (sagoi_view_saw(view) & SAGOI_SAW_LATE);
}

/* Was a save that is not complete now complete once? */
typedef enum {
    SAGOI_NEVER_COMPLETE,   /* it was interrupted, or is being removed */
    SAGOI_PERHAPS_COMPLETE, /* parts are there and others, or the intent, are not, which may also be damage */
    SAGOI_ONCE_COMPLETE,
} sagoi_past;
sagoi_past sagoi_view_past(const sagoi_save_view *view);
/* Does the save count as damaged, so that it is, or will be, set aside? */
bool sagoi_view_damaged(const sagoi_save_view *view);
/* What an incomplete save lacks, in words. */
void sagoi_view_lack(const sagoi_save_view *view, char *text, size_t room);

/* Below 0: x is older.  Owners are compared first, since clocks go back. */
int sagoi_view_age_order(const sagoi_save_view *x, const sagoi_save_view *y);

/* The save of a step that can be restored from, else NULL.  Of several it is the newest; a save that is complete
 * at one level comes before one whose parts are spread over both. */
const sagoi_save_view *sagoi_views_find(const sagoi_save_view *views, int64_t n, int64_t step);
/* The save that comes behind another one in this order, else NULL.  A step has several if a job did not see the
 * storage that had it, and saved it again. */
const sagoi_save_view *sagoi_views_next(const sagoi_save_view *views, int64_t n, const sagoi_save_view *after);

/* The index-th part or parity of a save at a level; NULL: it is not there. */
const sagoi_item *sagoi_catalog_part(const sagoi_catalog *catalog, const sagoi_save_view *save, sago_level level,
                                     int64_t writer);
const sagoi_item *sagoi_catalog_parity(const sagoi_catalog *catalog, const sagoi_save_view *save, int64_t set,
                                       int64_t member);

#endif
