/* What of a save on the nodes is good: every byte of data and parity is read and checked by the rank that holds
 * it, and all ranks know the result. */
#ifndef SAGOI_CKPT_SURVEY_H
#define SAGOI_CKPT_SURVEY_H

#include "ckpt/fetch.h"

/* One of the files that a member of a set has: the data of its writer, or the parity it holds for the others. */
typedef struct sagoi_member_file {
    int64_t writer;
    bool parity;
} sagoi_member_file;

/* By 2 * writer + parity. */
typedef struct sagoi_survey {
    const sagoi_intent *intent;
    int *holder;        /* the rank that can read the file; -1: nobody */
    int64_t *first;     /* where the file's pieces begin in `bad`; one more at the end */
    unsigned char *bad; /* 1: damaged, or not there */
} sagoi_survey;

static inline int64_t sagoi_survey_index(sagoi_member_file file) { return 2 * file.writer + file.parity; }
/* Bytes of the pieces that are checked at once. */
int64_t sagoi_survey_piece(const sagoi_survey *survey, sagoi_member_file file);
/* Is everything good from `from` up to `to`?  What lies behind the end of a stream is zeros, and good. */
bool sagoi_survey_good(const sagoi_survey *survey, sagoi_member_file file, int64_t from, int64_t to);

/* Collective.  `fetch` knows the parts. */
sago_status sagoi_survey_make(sagoi_survey *survey, sagoi_fetch *fetch) SAGOI_CHECKED;
void sagoi_survey_cleanup(sagoi_survey *survey);

#endif
