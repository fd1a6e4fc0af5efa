/* Guesses what somebody meant by a word that nothing is called. */
#ifndef SAGOI_SPELLING_H
#define SAGOI_SPELLING_H

#include <stdint.h>

/* The number of letters to insert, delete, replace, or swap with their neighbour, to make `b` of `a`, whatever
 * their case. */
int64_t sagoi_spelling_distance(const char *a, const char *b);

/* Looks for the nearest of several words: start with {.word = ...}, offer each word, then ask. */
typedef struct sagoi_spelling {
    const char *word;
    const char *nearest; /* NULL: nothing was offered yet */
    const char *begun;   /* a longer word that begins like this one */
    int64_t distance;
} sagoi_spelling;

void sagoi_spelling_offer(sagoi_spelling *spelling, const char *known);

/* The word that was probably meant; NULL: no word is near enough. */
const char *sagoi_spelling_guess(const sagoi_spelling *spelling);

#endif
