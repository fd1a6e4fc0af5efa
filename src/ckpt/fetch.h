/* Pieces of a save's streams, from wherever they are, checked.  A piece that is damaged or missing at one level is
 * taken from the next: the nodes, redundancy, the directory. */
#ifndef SAGOI_CKPT_FETCH_H
#define SAGOI_CKPT_FETCH_H

#include "ckpt/state.h"

/* One file kept open: pieces of one writer are read one after another. */
typedef struct sagoi_source {
    sagoi_cfile file;
    int64_t level, writer;
} sagoi_source;

typedef struct sagoi_fetch {
    sago_ckpt *ckpt;
    const sagoi_overview *overview;
    const sagoi_save_view *save;
    sagoi_part *parts;      /* by writer; empty where there is none */
    bool *there;            /* by writer: is there a part at all? */
    unsigned char **wanted; /* by writer, by piece: 1 wanted, 0 not or done */
    sagoi_source source;
    char *piece;
    /* What to do with a piece that has come. */
    void (*deliver)(void *arg, int64_t writer, int64_t off, int64_t len, char *data);
    void *arg;
    sago_ckpt_report *report;
    bool again; /* what is damaged has been counted */
    bool hung;  /* something could not be read because its storage does not answer */
} sagoi_fetch;

/* Decodes the parts.  `save` has an intent. */
sago_status sagoi_fetch_init(sagoi_fetch *fetch) SAGOI_CHECKED;
void sagoi_fetch_cleanup(sagoi_fetch *fetch);

/* Marks the pieces of a range of a stream as wanted. */
void sagoi_fetch_want(sagoi_fetch *fetch, int64_t writer, int64_t from, int64_t to);
/* Collective.  Gets all that is wanted, and delivers it; what is damaged on the nodes is mended there, if it can
 * be.  SAGO_ERR_IO: something is nowhere intact; SAGO_ERR_TIMEOUT: perhaps where storage does not answer. */
sago_status sagoi_fetch_run(sagoi_fetch *fetch) SAGOI_CHECKED;

/* Opens the data file that a writer's stream is in at one level, which this rank must see. */
sago_status sagoi_fetch_open_data(const sagoi_fetch *fetch, sago_level level, int64_t writer,
                                  sagoi_cfile_mode mode, sagoi_cfile *file) SAGOI_CHECKED;

/* Reads and checks one piece at one level, which this rank must see.  SAGO_ERR_IO: it is damaged. */
sago_status sagoi_fetch_piece(sagoi_fetch *fetch, sago_level level, int64_t writer, int64_t piece) SAGOI_CHECKED;

#endif
