/* What somebody may have meant by a word that nothing is called. */
#ifndef SAGOI_SPELLING_H
#define SAGOI_SPELLING_H

#include <stdint.h>

/* Letters to put in, take out, replace, or swap with their neighbour, whatever their case, to make `b` of `a`. */
int64_t sagoi_spelling_distance(const char *a, const char *b);

/* Looks for the nearest of several words: start with {.word = ...}, offer each word, ask. */
typedef struct sagoi_spelling {
    const char *word;
    const char *nearest; /* NULL: nothing was offered yet */
    const char *begun;   /* a longer word that begins like this one */
    int64_t distance;
} sagoi_spelling;

void sagoi_spelling_offer(sagoi_spelling *spelling, const char *known);

/* The word that was meant, or NULL: none is near enough to be named. */
const char *sagoi_spelling_guess(const sagoi_spelling *spelling);

#endif
