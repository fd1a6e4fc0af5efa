/* Pieces of a save's streams, checked, from wherever they are.  A piece that is damaged or missing at one source
 * is taken from the next: the nodes, redundancy, the directory. */
#ifndef SAGOI_CKPT_FETCH_H
#define SAGOI_CKPT_FETCH_H

#include "ckpt/state.h"

/* A file that stays open, since pieces of one writer are read one after another. */
typedef struct sagoi_source {
    sagoi_cfile file;
    int64_t level, writer;
} sagoi_source;

typedef struct sagoi_fetch {
    sago_ckpt *ckpt;
    const sagoi_overview *overview;
    const sagoi_save_view *save;
    sagoi_part *parts;      /* for each writer; empty: there is none */
    bool *there;            /* for each writer: is there a part? */
    unsigned char **wanted; /* for each writer and piece: 1: wanted; 0: not wanted, or done */
    sagoi_source source;
    char *piece;
    /* Called with a piece that has come. */
    void (*deliver)(void *arg, int64_t writer, int64_t off, int64_t len, char *data);
    void *arg;
    sago_ckpt_report *report;
    bool again; /* damage has been counted already */
    bool hung;  /* something could not be read because its storage does not answer */
} sagoi_fetch;

/* Decodes the parts.  `save` must have an intent. */
sago_status sagoi_fetch_init(sagoi_fetch *fetch) SAGOI_CHECKED;
void sagoi_fetch_cleanup(sagoi_fetch *fetch);

/* Marks the pieces of a range of a stream as wanted. */
void sagoi_fetch_want(sagoi_fetch *fetch, int64_t writer, int64_t from, int64_t to);
/* Collective.  Gets and delivers everything that is wanted, and mends damage on the nodes if that is possible.
 * SAGO_ERR_IO: some piece is intact nowhere; SAGO_ERR_TIMEOUT: it may be where storage does not answer. */
sago_status sagoi_fetch_run(sagoi_fetch *fetch) SAGOI_CHECKED;

/* Opens the data file with a writer's stream at one level; this rank must see the file. */
sago_status sagoi_fetch_open_data(const sagoi_fetch *fetch, sago_level level, int64_t writer,
                                  sagoi_cfile_mode mode, sagoi_cfile *file) SAGOI_CHECKED;

/* Reads and checks one piece at one level, which this rank must see.  SAGO_ERR_IO: the piece is damaged. */
sago_status sagoi_fetch_piece(sagoi_fetch *fetch, sago_level level, int64_t writer, int64_t piece) SAGOI_CHECKED;

#endif
