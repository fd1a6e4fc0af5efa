/* Hints: every row, wrong values, aliases, the environment. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hints.h"
#include "support/unit.h"

static sagoi_hints fresh(void) {
    sagoi_hints hints;
    assert_int_equal(sagoi_hints_init(&hints), SAGO_OK);
    return hints;
}

static const sagoi_hint_row *row_of(const char *name) {
    int64_t count;
    const sagoi_hint_row *row = sagoi_hint_table(&count);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(row[i].name, name) == 0)
            return &row[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void assert_value(const sagoi_hints *hints, const char *name, const char *expected) {
    char text[64];
    sagoi_hint_format(hints, row_of(name), text, sizeof text);
    assert_string_equal(text, expected);
}

/* The value is refused, the message names all of `mentioned`, and nothing has changed. */
static void assert_refused(const char *key, const char *value, const char *const mentioned[]) {
    sagoi_hints hints = fresh(), before = hints;
    assert_int_equal(sagoi_hints_set(&hints, key, value), SAGO_ERR_HINT);
    for (; *mentioned; mentioned++)
        if (!strstr(sagoi_message(), *mentioned))
            fail_msg("\"%s\" does not mention \"%s\"", sagoi_message(), *mentioned);
    assert_memory_equal(&hints, &before, sizeof hints);
}

#define MENTIONED(...) ((const char *const[]){__VA_ARGS__, NULL})

static void table_covers_the_struct(void **state) {
    int64_t count;
    const sagoi_hint_row *row = sagoi_hint_table(&count);
    bool covered[sizeof(sagoi_hints) / sizeof(int64_t)] = {false};
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(row[i].field % sizeof(int64_t), 0);
        size_t words = row[i].type == SAGOI_HINT_TEXT ? SAGOI_HINT_TEXT_MAX / sizeof(int64_t) : 1;
        for (size_t w = 0; w < words; w++) {
            assert_false(covered[row[i].field / sizeof(int64_t) + w]);
            covered[row[i].field / sizeof(int64_t) + w] = true;
        }
        assert_true(strlen(row[i].help) > 10 && !strchr(row[i].help, '\n'));
        assert_true(row[i].type == SAGOI_HINT_TEXT ||
                    (row[i].type == SAGOI_HINT_ENUM) == (row[i].choices != NULL));
    }
    size_t named = offsetof(sagoi_hints, named) / sizeof(int64_t); /* the last field, the only one without a row */
    for (size_t i = 0; i < sizeof covered; i++)
        assert_true(covered[i] == (i < named));
}

static void defaults(void **state) {
    sagoi_hints hints = fresh();
    int64_t count;
    const sagoi_hint_row *row = sagoi_hint_table(&count);
    for (int64_t i = 0; i < count; i++)
        assert_value(&hints, row[i].name, row[i].fallback);
    assert_int_equal(hints.memory, 0);
    assert_int_equal(hints.messages, 8);
    assert_int_equal(hints.message_size, 4 << 20);
    assert_int_equal(hints.plan_cache, 16);
    assert_int_equal(hints.strategy, SAGOI_STRATEGY_AUTO);
}

/* Every value in range is taken, and what the table prints of it is taken again. */
static void assert_round_trip(const sagoi_hint_row *row, int64_t value) {
    char text[64], again[64];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    sagoi_hints hints = fresh();
    assert_int_equal(sagoi_hints_set(&hints, row->name, text), SAGO_OK);
    int64_t stored;
    memcpy(&stored, (const char *)&hints + row->field, sizeof stored);
    assert_int_equal(stored, value);
    sagoi_hint_format(&hints, row, text, sizeof text);
    sagoi_hints second = fresh();
    assert_int_equal(sagoi_hints_set(&second, row->name, text), SAGO_OK);
    sagoi_hint_format(&second, row, again, sizeof again);
    assert_string_equal(text, again);
    assert_memory_equal(&hints, &second, sizeof hints);
}

static void numbers_in_and_out_of_range(void **state) {
    int64_t count;
    const sagoi_hint_row *row = sagoi_hint_table(&count);
    for (int64_t i = 0; i < count; i++) {
        if (row[i].type != SAGOI_HINT_SIZE && row[i].type != SAGOI_HINT_INT)
            continue;
        assert_round_trip(&row[i], row[i].low);
        assert_round_trip(&row[i], row[i].low + 1);
        assert_round_trip(&row[i], row[i].high);
        if (strncmp(row[i].name, "sago_", 5) != 0)
            continue;
        char over[32];
        (void)snprintf(over, sizeof over, "%lld", (long long)row[i].high + 1);
        assert_refused(row[i].name, over, MENTIONED(row[i].name, over));
        assert_refused(row[i].name, "-1", MENTIONED(row[i].name, "-1"));
        assert_refused(row[i].name, "many", MENTIONED(row[i].name, "many"));
        assert_refused(row[i].name, "", MENTIONED(row[i].name));
        assert_refused(row[i].name, "99999999999999999999", MENTIONED(row[i].name));
        assert_refused(row[i].name, "4 x", MENTIONED(row[i].name));
    }
    assert_refused("sago_window", "1K", MENTIONED("sago_window", "1K", "4K", "1G", "auto"));
    assert_refused("sago_messages", "0", MENTIONED("1", "1024"));
    assert_refused("sago_messages", "auto", MENTIONED("sago_messages"));
    assert_refused("sago_messages", "8K", MENTIONED("sago_messages"));
}

static void auto_is_zero(void **state) {
    sagoi_hints hints = fresh();
    assert_int_equal(sagoi_hints_set(&hints, "sago_window", "1M"), SAGO_OK);
    assert_int_equal(sagoi_hints_set(&hints, "sago_window", "auto"), SAGO_OK);
    assert_int_equal(hints.window, 0);
    assert_int_equal(sagoi_hints_set(&hints, "sago_aggregators", "0"), SAGO_OK);
    assert_int_equal(hints.aggregators, 0);
    assert_int_equal(sagoi_hints_set(&hints, "sago_plan_cache", "0"), SAGO_OK);
    assert_value(&hints, "sago_plan_cache", "0");
}

static void texts(void **state) {
    sagoi_hints hints = fresh(), again = fresh();
    assert_int_equal(sagoi_hints_set(&hints, "sago_machine", "  theta "), SAGO_OK);
    assert_string_equal(hints.machine, "theta");
    assert_int_equal(sagoi_hints_set(&again, "sago_machine", "a/much/longer/one.sago"), SAGO_OK);
    assert_int_equal(sagoi_hints_set(&again, "sago_machine", "theta"), SAGO_OK);
    assert_memory_equal(&hints, &again, sizeof hints); /* nothing of the longer one is left */
    assert_int_equal(sagoi_hints_set(&hints, "sago_machine", "auto"), SAGO_OK);
    assert_string_equal(hints.machine, "");
    char large[SAGOI_HINT_TEXT_MAX + 1];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_refused("sago_site", large, MENTIONED("sago_site", "511"));
    assert_refused("sago_site", " ", MENTIONED("sago_site"));
    large[SAGOI_HINT_TEXT_MAX - 1] = '\0';
    assert_int_equal(sagoi_hints_set(&hints, "sago_site", large), SAGO_OK);
    assert_string_equal(hints.site, large);
}

static void enums(void **state) {
    sagoi_hints hints = fresh();
    const char *const strategies[] = {"auto", "direct", "mapped", "aggregated"};
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(sagoi_hints_set(&hints, "sago_strategy", strategies[i]), SAGO_OK);
        assert_int_equal(hints.strategy, i);
        assert_value(&hints, "sago_strategy", strategies[i]);
    }
    assert_int_equal(sagoi_hints_set(&hints, "sago_move", " RMA "), SAGO_OK);
    assert_int_equal(hints.move, SAGOI_MOVE_RMA);
    assert_int_equal(sagoi_hints_set(&hints, "sago_io", "uring"), SAGO_OK);
    assert_int_equal(hints.io, SAGOI_IO_URING);
    assert_int_equal(sagoi_hints_set(&hints, "sago_merge", "true"), SAGO_OK);
    assert_int_equal(hints.merge, SAGOI_CHOICE_ON);
    assert_int_equal(sagoi_hints_set(&hints, "sago_map", "disable"), SAGO_OK);
    assert_int_equal(hints.map, SAGOI_CHOICE_OFF);
    assert_refused("sago_move", "pigeon", MENTIONED("sago_move", "pigeon", "auto|packed|rma"));
    assert_refused("sago_move", "auto|packed", MENTIONED("sago_move"));
    assert_refused("sago_move", "rm", MENTIONED("sago_move"));
    assert_refused("sago_strategy", "on", MENTIONED("sago_strategy"));
}

static void booleans(void **state) {
    const char *const yes[] = {"on", "true", "1", "enable", "On", " TRUE"};
    const char *const no[] = {"off", "false", "0", "disable"};
    sagoi_hints hints = fresh();
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        hints.direct_io = 0;
        assert_int_equal(sagoi_hints_set(&hints, "sago_direct_io", yes[i]), SAGO_OK);
        assert_int_equal(hints.direct_io, 1);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        hints.direct_io = 1;
        assert_int_equal(sagoi_hints_set(&hints, "sago_direct_io", no[i]), SAGO_OK);
        assert_int_equal(hints.direct_io, 0);
    }
    assert_refused("sago_series_copy", "perhaps", MENTIONED("sago_series_copy", "perhaps", "on or off"));
    assert_refused("sago_series_copy", "2", MENTIONED("sago_series_copy"));
}

static void unknown_keys(void **state) {
    assert_refused("sago_memroy", "1M", MENTIONED("sago_memroy", "sago_memory"));
    assert_refused("sago_windows", "1M", MENTIONED("did you mean sago_window?"));
    assert_refused("sago_", "1M", MENTIONED("sago_"));
    assert_refused("sago_local_agregators", "2", MENTIONED("sago_local_aggregators"));
    assert_refused("sago_ckpt_keep", "1", MENTIONED("did you mean sago_ckpt_keep_"));
    assert_refused("sago_nonsense", "1", MENTIONED("sago_nonsense is unknown; `sago hints` lists all"));
    char longest[600];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "sago_", 5);
    longest[sizeof longest - 1] = '\0';
    assert_refused(longest, "1", MENTIONED("sago_xxx", "`sago hints` lists all"));
    assert_refused("sago_window", longest, MENTIONED("sago_window"));

    sagoi_hints hints = fresh(), before = hints;
    const char *const others[] = {"romio_ds_write", "access_style", "sago", "Sago_window", "", "cb_config_list"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(sagoi_hints_set(&hints, others[i], "whatever"), SAGO_OK);
    assert_memory_equal(&hints, &before, sizeof hints);
    assert_int_equal(sagoi_hints_set(&hints, NULL, "1"), SAGO_ERR_ARG);
    assert_int_equal(sagoi_hints_set(&hints, "sago_window", NULL), SAGO_ERR_ARG);
}

static void aliases(void **state) {
    sagoi_hints hints = fresh();
    assert_int_equal(sagoi_hints_set(&hints, "cb_nodes", "12"), SAGO_OK);
    assert_int_equal(hints.aggregators, 12);
    assert_int_equal(sagoi_hints_set(&hints, "cb_buffer_size", "16777216"), SAGO_OK);
    assert_int_equal(hints.window, 16 << 20);
    assert_int_equal(sagoi_hints_set(&hints, "cb_buffer_size", "lots"), SAGO_OK);
    assert_int_equal(sagoi_hints_set(&hints, "cb_buffer_size", "17"), SAGO_OK);
    assert_int_equal(hints.window, 16 << 20);
}

/* Who enables collective buffering by habit leaves the choice to Sago; who disables it gets no aggregators. */
static void romio_collective_buffering(void **state) {
    sagoi_hints hints = fresh();
    assert_int_equal(sagoi_hints_set(&hints, "romio_cb_write", "enable"), SAGO_OK);
    assert_int_equal(sagoi_hints_set(&hints, "romio_cb_read", "enable"), SAGO_OK);
    assert_int_equal(hints.strategy, SAGOI_STRATEGY_AUTO);
    assert_int_equal(sagoi_hints_set(&hints, "romio_cb_read", "disable"), SAGO_OK);
    assert_int_equal(hints.strategy, SAGOI_STRATEGY_DIRECT);
    assert_int_equal(sagoi_hints_set(&hints, "romio_cb_read", "mapped"), SAGO_OK);
    assert_int_equal(sagoi_hints_set(&hints, "romio_cb_write", "enable"), SAGO_OK);
    assert_int_equal(sagoi_hints_set(&hints, "romio_cb_write", "automatic"), SAGO_OK);
    assert_int_equal(hints.strategy, SAGOI_STRATEGY_DIRECT); /* the order of keys does not matter */
}

static void own_names_win_over_aliases(void **state) {
    for (int alias_first = 0; alias_first < 2; alias_first++) {
        sagoi_hints hints = fresh();
        if (alias_first)
            assert_int_equal(sagoi_hints_set(&hints, "cb_buffer_size", "2M"), SAGO_OK);
        assert_int_equal(sagoi_hints_set(&hints, "sago_window", "1M"), SAGO_OK);
        if (!alias_first)
            assert_int_equal(sagoi_hints_set(&hints, "cb_buffer_size", "2M"), SAGO_OK);
        assert_int_equal(hints.window, 1 << 20);
    }
}

static void reserved_names_are_lenient(void **state) {
    sagoi_hints hints = fresh();
    assert_int_equal(sagoi_hints_set(&hints, "striping_factor", "8"), SAGO_OK);
    assert_int_equal(hints.striping_factor, 8);
    assert_int_equal(sagoi_hints_set(&hints, "striping_unit", "1048576"), SAGO_OK);
    assert_int_equal(hints.striping_unit, 1 << 20);
    assert_int_equal(sagoi_hints_set(&hints, "striping_factor", "-1"), SAGO_OK);
    assert_int_equal(sagoi_hints_set(&hints, "striping_unit", "wide"), SAGO_OK);
    assert_int_equal(hints.striping_factor, 8);
    assert_int_equal(hints.striping_unit, 1 << 20);
}

static void environment(void **state) {
    sagoi_hints hints;
    assert_int_equal(setenv("SAGO_MEMORY", "64M", 1), 0);
    assert_int_equal(setenv("SAGO_WINDOW", "1M", 1), 0);
    assert_int_equal(setenv("SAGO_STRATEGY", "", 1), 0);
    assert_int_equal(setenv("SAGO_NO_HINT_OF_OURS", "x", 1), 0);
    hints = fresh();
    assert_int_equal(hints.memory, 64 << 20);
    assert_int_equal(hints.strategy, SAGOI_STRATEGY_AUTO);
    assert_int_equal(sagoi_hints_set(&hints, "sago_memory", "32M"), SAGO_OK);
    assert_int_equal(hints.memory, 32 << 20);
    assert_int_equal(sagoi_hints_set(&hints, "cb_buffer_size", "2M"), SAGO_OK);
    assert_int_equal(hints.window, 2 << 20);

    sagoi_hints before = hints;
    assert_int_equal(setenv("SAGO_MEMORY", "lots", 1), 0);
    assert_int_equal(sagoi_hints_init(&hints), SAGO_ERR_HINT);
    assert_non_null(strstr(sagoi_message(), "SAGO_MEMORY"));
    assert_non_null(strstr(sagoi_message(), "lots"));
    assert_memory_equal(&hints, &before, sizeof hints);
    unsetenv("SAGO_MEMORY");
    unsetenv("SAGO_WINDOW");
    unsetenv("SAGO_STRATEGY");
    unsetenv("SAGO_NO_HINT_OF_OURS");
}

static void sizes(void **state) {
    const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"0", 0},          {"4096", 4096},          {"64M", 64 << 20},
                {"1GiB", 1 << 30}, {"1gb", 1 << 30},        {" 2 k ", 2048},
                {"7B", 7},         {"3kib", 3072},          {"1T", 1LL << 40},
                {"1P", 1LL << 50}, {"8191P", 8191LL << 50}, {"9223372036854775807", INT64_MAX}};
    const char *const bad[] = {"",      " ",   "M",  "-1",   "+1",    "1.5G", "0x10", "1KK",
                               "1MiBs", "1iB", "1E", "12 3", "8192P", "1k1",  "auto", "9223372036854775808",
                               "1\n2"};
    int64_t bytes;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(sagoi_parse_size(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sagoi_parse_size(bad[i], &bytes))
            fail_msg("\"%s\" was taken as %lld", bad[i], (long long)bytes);
    assert_false(sagoi_parse_size(NULL, &bytes));
}

/* The tests are about Sago's own defaults, not the developer's. */
static int clear_environment(void **state) {
    int64_t count;
    const sagoi_hint_row *row = sagoi_hint_table(&count);
    for (int64_t i = 0; i < count; i++) {
        char name[64] = "";
        for (size_t k = 0; row[i].name[k] && k + 1 < sizeof name; k++)
            name[k] = (char)toupper((unsigned char)row[i].name[k]);
        (void)unsetenv(name);
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_covers_the_struct),
        cmocka_unit_test(defaults),
        cmocka_unit_test(numbers_in_and_out_of_range),
        cmocka_unit_test(auto_is_zero),
        cmocka_unit_test(texts),
        cmocka_unit_test(enums),
        cmocka_unit_test(booleans),
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(aliases),
        cmocka_unit_test(romio_collective_buffering),
        cmocka_unit_test(own_names_win_over_aliases),
        cmocka_unit_test(reserved_names_are_lenient),
        cmocka_unit_test(environment),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
