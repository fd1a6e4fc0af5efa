/* What is good of a save on the nodes: the holder of data and parity reads and checks every byte, and all ranks
 * learn the result. */
#ifndef SAGOI_CKPT_SURVEY_H
#define SAGOI_CKPT_SURVEY_H

#include "ckpt/fetch.h"

/* One of the two files of a member of a set: the data of its writer, or the parity that it holds for others. */
typedef struct sagoi_member_file {
    int64_t writer;
    bool parity;
} sagoi_member_file;

/* Indexed by 2 * writer + parity. */
typedef struct sagoi_survey {
    const sagoi_intent *intent;
    int *holder;        /* the rank that can read the file; -1: none */
    int64_t *first;     /* where the file's pieces begin in `bad`; one number more at the end */
    unsigned char *bad; /* 1: damaged, or missing */
} sagoi_survey;

static inline int64_t sagoi_survey_index(sagoi_member_file file) { return 2 * file.writer + file.parity; }
/* Bytes of the pieces that are checked at a time. */
int64_t sagoi_survey_piece(const sagoi_survey *survey, sagoi_member_file file);
/* Is everything good from `from` up to `to`?  Bytes behind the end of a stream are zeros, and good. */
bool sagoi_survey_good(const sagoi_survey *survey, sagoi_member_file file, int64_t from, int64_t to);

/* Collective.  `fetch` must know the parts. */
sago_status sagoi_survey_make(sagoi_survey *survey, sagoi_fetch *fetch) SAGOI_CHECKED;
void sagoi_survey_cleanup(sagoi_survey *survey);

#endif
