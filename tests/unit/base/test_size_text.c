/* Sizes for people, and as hints that are read back. */
#include "base/size_text.h"

#include "base/hints.h"
#include "support/unit.h"

static void for_people(void **state) {
    assert_string_equal(sagoi_size_to_text(0).text, "0 B");
    assert_string_equal(sagoi_size_to_text(1023).text, "1023 B");
    assert_string_equal(sagoi_size_to_text(1024).text, "1 KiB");
    assert_string_equal(sagoi_size_to_text(1536).text, "1.5 KiB");
    assert_string_equal(sagoi_size_to_text(INT64_C(192) << 30).text, "192 GiB");
    assert_string_equal(sagoi_size_to_text(INT64_MAX).text, "8.0 EiB");
}

static void hints_are_read_back(void **state) {
    const int64_t sizes[] = {
        0, 1, 1000, 1024, 1025, 4 << 20, INT64_C(3) << 40, INT64_C(1) << 50, INT64_C(1) << 60};
    assert_string_equal(sagoi_size_to_hint(4 << 20).text, "4M");
    assert_string_equal(sagoi_size_to_hint(1025).text, "1025");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t again = -1;
        assert_true(sagoi_parse_size(sagoi_size_to_hint(sizes[i]).text, &again));
        assert_int_equal(again, sizes[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(for_people), cmocka_unit_test(hints_are_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
