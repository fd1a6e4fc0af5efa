/* The distance between words, and which word is worth suggesting.  Owns no words. */
#include "base/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/checked.h"

enum { LONGEST = 64 }; /* letters that are compared */

static int lower(const char *text, size_t i) { return tolower((unsigned char)text[i]); }

static bool is_swapped(const char *a, size_t i, const char *b, size_t j) {
    return i > 0 && j > 0 && lower(a, i) == lower(b, j - 1) && lower(a, i - 1) == lower(b, j);
}

int64_t sagoi_spelling_distance(const char *a, const char *b) {
    int64_t rows[3][LONGEST + 1] = {{0}};
    size_t width = strnlen(b, LONGEST), height = strnlen(a, LONGEST);
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = (int64_t)j;
    for (size_t i = 0; i < height; i++) {
        const int64_t *above = rows[i % 3], *twice = rows[(i + 2) % 3];
        int64_t *row = rows[(i + 1) % 3];
        row[0] = (int64_t)i + 1;
        for (size_t j = 0; j < width; j++) {
            int64_t replaced = above[j] + (lower(a, i) != lower(b, j));
            row[j + 1] = sagoi_min(replaced, 1 + sagoi_min(row[j], above[j + 1]));
            if (is_swapped(a, i, b, j))
                row[j + 1] = sagoi_min(row[j + 1], twice[j - 1] + 1);
        }
    }
    return rows[height % 3][width];
}

void sagoi_spelling_offer(sagoi_spelling *spelling, const char *known) {
    int64_t distance = sagoi_spelling_distance(spelling->word, known);
    if (!spelling->nearest || distance < spelling->distance) {
        spelling->nearest = known;
        spelling->distance = distance;
    }
    if (!spelling->begun && strlen(spelling->word) > 1 &&
        strncasecmp(known, spelling->word, strlen(spelling->word)) == 0)
        spelling->begun = known;
}

/* Suggests a word, unless two letters of a short word are wrong, since then it may be a different word. */
const char *sagoi_spelling_guess(const sagoi_spelling *spelling) {
    int64_t letters = (int64_t)strlen(spelling->word), most = letters < 3 ? 0 : letters < 5 ? 1 : 2;
    if (spelling->nearest && spelling->distance <= most)
        return spelling->nearest;
    return spelling->begun;
}
