/* Which word was meant. */
#include "base/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *guess(const char *word) {
    static const char *const known[] = {"bench", "plan", "ls", "e3sm-f", "e3sm-g", "ranks-per-node", "dir"};
    sagoi_spelling spelling = {.word = word};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        sagoi_spelling_offer(&spelling, known[i]);
    return sagoi_spelling_guess(&spelling);
}

static void distances(void **state) {
    (void)state;
    assert_int_equal(sagoi_spelling_distance("", ""), 0);
    assert_int_equal(sagoi_spelling_distance("", "abc"), 3);
    assert_int_equal(sagoi_spelling_distance("abc", ""), 3);
    assert_int_equal(sagoi_spelling_distance("bench", "BENCH"), 0);
    assert_int_equal(sagoi_spelling_distance("bnech", "bench"), 1); /* swapped */
    assert_int_equal(sagoi_spelling_distance("kitten", "sitting"), 3);
    assert_int_equal(sagoi_spelling_distance("abcd", "badc"), 2);
    assert_int_equal(sagoi_spelling_distance("reprot", "report"), 1);
}

static void long_words_end_somewhere(void **state) {
    char word[200];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof word; i++)
        word[i] = 'x';
    word[sizeof word - 1] = '\0';
    assert_int_equal(sagoi_spelling_distance(word, word), 0);
    assert_int_equal(sagoi_spelling_distance(word, "abc"), 64);
    assert_int_equal(sagoi_spelling_distance("abc", word), 64);
}

static void guesses(void **state) {
    (void)state;
    assert_string_equal(guess("bnech"), "bench");
    assert_string_equal(guess("Bench"), "bench");
    assert_string_equal(guess("dri"), "dir");
    assert_string_equal(guess("lss"), "ls");
    assert_string_equal(guess("e3sm"), "e3sm-f");
    assert_string_equal(guess("ranks"), "ranks-per-node");
    assert_null(guess("foo"));
    assert_null(guess("x"));
    assert_null(guess(""));
    assert_null(guess("wibble"));
    sagoi_spelling nothing = {.word = "bench"};
    assert_null(sagoi_spelling_guess(&nothing));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances), cmocka_unit_test(long_words_end_somewhere),
                                       cmocka_unit_test(guesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
