/* JSON as it is written: on lines or on one, whatever bytes the texts have. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/escape.h"
#include "support/unit.h"

static void fill(sagoi_json *json) {
    sagoi_json_open(json, NULL, '{');
    sagoi_json_int(json, "n", -3);
    sagoi_json_open(json, "list", '[');
    sagoi_json_real(json, NULL, 0.5);
    sagoi_json_fixed(json, NULL, 2, 1);
    sagoi_json_real(json, NULL, INFINITY);
    sagoi_json_close(json, ']');
    sagoi_json_open(json, "none", '{');
    sagoi_json_close(json, '}');
    sagoi_json_lines(json, "lines", "a\nb\n");
    sagoi_json_text(json, "text", NULL);
    sagoi_json_bool(json, "yes", true);
    sagoi_json_close(json, '}');
}

static void expect(int lines, const char *expected) {
    char *text = NULL;
    size_t length = 0;
    sagoi_json json = {.out = open_memstream(&text, &length), .lines = lines};
    assert_non_null(json.out);
    fill(&json);
    assert_int_equal(fclose(json.out), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void lines_as_asked_for(void **state) {
    expect(0, "{\"n\": -3, \"list\": [0.5,2.0,null], \"none\": {}, \"lines\": [\"a\",\"b\"], \"text\": null, "
              "\"yes\": true}\n");
    expect(1, "{\n  \"n\": -3,\n  \"list\": [0.5,2.0,null],\n  \"none\": {},\n  \"lines\": [\"a\",\"b\"],\n"
              "  \"text\": null,\n  \"yes\": true\n}\n");
    expect(SAGOI_JSON_INDENTED,
           "{\n  \"n\": -3,\n  \"list\": [\n    0.5,\n    2.0,\n    null\n  ],\n  \"none\": {},\n"
           "  \"lines\": [\n    \"a\",\n    \"b\"\n  ],\n  \"text\": null,\n  \"yes\": true\n}\n");
}

/* The last byte begins a character of UTF-8 that does not end. */
static const char odd[] = "a\"<b>&\\ \001\177 \xff \xe2\x82\xac \xe2\x82";

static void any_bytes(void **state) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    sagoi_escape_json(out, odd, sizeof odd - 1);
    fputc('\n', out);
    sagoi_escape_xml(out, odd);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text,
                        "\"a\\\"\\u003cb\\u003e\\u0026\\\\ \\u0001\\u007f \\u00ff \xe2\x82\xac \\u00e2\\u0082\"\n"
                        "a&quot;&lt;b&gt;&amp;\\ __ _ \xe2\x82\xac __");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_as_asked_for), cmocka_unit_test(any_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
