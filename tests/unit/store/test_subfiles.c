/* The rule by which a file is kept in several, its description, and the store that reads and writes them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "store/subfile_rule.h"
#include "support/inject.h"
#include "support/unit.h"

enum { BLOCK = 4096, SIZE = 200000 };

/* ---- The rule ---- */

/* Byte by byte: each has a place of its own, places are used in order, and shares and ends agree. */
static void rule_is_exact(void **state) {
    for (int64_t count = 2; count < 9; count++) {
        const sagoi_subfiles rule = {count, BLOCK};
        int64_t used[9] = {0};
        for (int64_t off = 0; off < SIZE; off++) {
            int64_t k = sagoi_subfile_of(&rule, off), end;
            assert_int_equal(sagoi_subfile_share(&rule, k, off), used[k]);
            assert_int_equal(sagoi_subfile_offset(&rule, off), used[k]++);
            assert_true(sagoi_subfile_end(&rule, k, used[k], &end));
            assert_int_equal(end, off + 1);
        }
        for (int64_t k = 0; k < count; k++)
            assert_int_equal(sagoi_subfile_share(&rule, k, SIZE), used[k]);
    }
}

static void rule_does_not_overflow(void **state) {
    const sagoi_subfiles rule = {SAGOI_SUBFILES_MAX, SAGOI_SUBFILE_BLOCK_MAX};
    int64_t end;
    assert_true(sagoi_subfiles_valid(&rule));
    assert_false(sagoi_subfile_end(&rule, 65535, INT64_MAX, &end));
    int64_t k = sagoi_subfile_of(&rule, INT64_MAX - 1), at = sagoi_subfile_offset(&rule, INT64_MAX - 1);
    assert_true(sagoi_subfile_end(&rule, k, at + 1, &end));
    assert_true(end == INT64_MAX);
    assert_true(sagoi_subfile_share(&rule, k, INT64_MAX) == at + 1);
}

/* ---- The description ---- */

static void description_comes_back(void **state) {
    const sagoi_subfiles rules[] = {{2, 4096}, {3, 1 << 24}, {SAGOI_SUBFILES_MAX, SAGOI_SUBFILE_BLOCK_MAX}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char text[SAGOI_SUBFILES_TEXT_MAX];
        sagoi_subfiles found = {0, 0};
        int64_t bytes = sagoi_subfiles_format(&rules[i], text);
        assert_int_equal(sagoi_subfiles_parse("it", text, bytes, &found), SAGO_OK);
        assert_memory_equal(&found, &rules[i], sizeof found);
    }
}

/* Whatever bit is wrong, and wherever it ends. */
static void damage_is_found(void **state) {
    const sagoi_subfiles rule = {12, 65536};
    char text[SAGOI_SUBFILES_TEXT_MAX];
    sagoi_subfiles found;
    int64_t bytes = sagoi_subfiles_format(&rule, text);
    for (int64_t i = 0; i < bytes * 8; i++) {
        text[i / 8] ^= (char)(1 << i % 8);
        assert_int_equal(sagoi_subfiles_parse("it", text, bytes, &found), SAGO_ERR_BAD_FILE);
        text[i / 8] ^= (char)(1 << i % 8);
    }
    for (int64_t n = 0; n < bytes; n++)
        assert_int_equal(sagoi_subfiles_parse("it", text, n, &found), SAGO_ERR_BAD_FILE);
    const char *const other[] = {"", "sago subfiles 2\ncount 2\nblock 4096\n",
                                 "sago subfiles 1\ncount 1\nblock 4096\n"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_equal(sagoi_subfiles_parse("it", other[i], (int64_t)strlen(other[i]), &found),
                         SAGO_ERR_BAD_FILE);
}

/* ---- The store ---- */

typedef struct scene {
    char dir[64], path[100];
    sagoi_store *store;
} scene;

static const sagoi_store_options make = {.flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0666, .subfiles = {3, BLOCK}};

static int set_up(void **state) {
    scene *s = calloc(1, sizeof *s);
    (void)snprintf(s->dir, sizeof s->dir, "/tmp/sago-subfiles-XXXXXX");
    if (!mkdtemp(s->dir))
        return -1;
    (void)snprintf(s->path, sizeof s->path, "%s/file", s->dir);
    *state = s;
    return sagoi_store_open(s->path, &make, &s->store);
}

static int tear_down(void **state) {
    scene *s = *state;
    (void)sagoi_store_close(&s->store);
    int left = sagoi_store_remove(s->path) != SAGO_OK;
    left += rmdir(s->dir);
    free(s);
    return left;
}

static int64_t size_of_part(const scene *s, int k) {
    char path[128];
    struct stat file;
    (void)snprintf(path, sizeof path, "%s/part.%05d", s->path, k);
    return stat(path, &file) == 0 ? file.st_size : -1;
}

static void store_against_model(void **state) {
    scene *s = *state;
    static unsigned char model[SIZE], data[SIZE], back[SIZE];
    int64_t size = 0, now, bytes;
    srand(4711);
    for (int i = 0; i < 400; i++) {
        int64_t off = rand() % (SIZE - 30000), len = rand() % 3 ? rand() % 300 : rand() % 30000;
        switch (rand() % 8) {
        case 0:
            assert_int_equal(sagoi_store_resize(s->store, off), SAGO_OK);
            memset(model + off, 0, (size_t)(SIZE - off));
            size = off;
            break;
        case 1:
            assert_int_equal(sagoi_store_sync(s->store), SAGO_OK);
            break;
        case 2:
        case 3:
            memset(back, 0xEE, sizeof back);
            assert_int_equal(sagoi_store_read(s->store, &(sagoi_io_run){off, len, (char *)back}, 1, &bytes),
                             SAGO_OK);
            assert_int_equal(bytes, off >= size ? 0 : len < size - off ? len : size - off);
            assert_memory_equal(back, model + off, bytes);
            for (int64_t k = bytes; k < len; k++)
                assert_int_equal(back[k], 0xEE); /* past the end nothing is touched */
            break;
        default:
            for (int64_t k = 0; k < len; k++)
                model[off + k] = data[k] = (unsigned char)rand();
            assert_int_equal(sagoi_store_write(s->store, &(sagoi_io_run){off, len, (char *)data}, 1), SAGO_OK);
            size = len > 0 && off + len > size ? off + len : size;
        }
        assert_int_equal(sagoi_store_size(s->store, &now), SAGO_OK);
        assert_int_equal(now, size);
    }
}

static void sizes_are_shared_out(void **state) {
    scene *s = *state;
    int64_t size;
    assert_int_equal(sagoi_store_allocate(s->store, 4 * BLOCK + 100), SAGO_OK);
    assert_int_equal(sagoi_store_size(s->store, &size), SAGO_OK);
    assert_int_equal(size, 4 * BLOCK + 100);
    assert_int_equal(size_of_part(s, 0), 2 * BLOCK);
    assert_int_equal(size_of_part(s, 1), BLOCK + 100);
    assert_int_equal(size_of_part(s, 2), BLOCK);
    sagoi_look look;
    assert_int_equal(sagoi_store_look(s->store, 1, 2, &look), SAGO_OK); /* subfile 1 alone */
    assert_int_equal(look.size, 4 * BLOCK + 100);
    assert_int_equal(sagoi_store_look(s->store, 0, 2, &look), SAGO_OK); /* 0 and 2 */
    assert_int_equal(look.size, 4 * BLOCK);
}

/* A subfile that is gone is an error, not zeros. */
static void lost_subfiles_are_noticed(void **state) {
    scene *s = *state;
    char path[128], byte;
    int64_t size, bytes;
    sagoi_store *again = NULL;
    (void)snprintf(path, sizeof path, "%s/part.00002", s->path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sagoi_store_size(s->store, &size), SAGO_ERR_BAD_FILE);
    assert_non_null(strstr(sagoi_message(), "part.00002"));
    assert_int_equal(sagoi_store_read(s->store, &(sagoi_io_run){2 * BLOCK, 1, &byte}, 1, &bytes),
                     SAGO_ERR_BAD_FILE);
    (void)snprintf(path, sizeof path, "%s/part.00000", s->path);
    assert_int_equal(unlink(path), 0);
    const sagoi_store_options reading = {.flags = O_RDONLY};
    assert_int_equal(sagoi_store_open(s->path, &reading, &again), SAGO_ERR_BAD_FILE);
}

/* What is there stays what it is, whatever is asked for. */
static void existing_files_stay(void **state) {
    scene *s = *state;
    char plain[128];
    sagoi_store *store = NULL;
    sagoi_store_options options = make;
    assert_int_equal(sagoi_store_open(s->path, &make, &store), SAGO_ERR_EXISTS);
    options.flags = O_RDWR | O_CREAT;
    options.subfiles.count = 7;
    assert_int_equal(sagoi_store_open(s->path, &options, &store), SAGO_OK);
    assert_int_equal(sagoi_store_subfiles(store)->count, 3);
    (void)sagoi_store_close(&store);
    (void)snprintf(plain, sizeof plain, "%s/plain", s->dir);
    options.subfiles.count = 0;
    assert_int_equal(sagoi_store_open(plain, &options, &store), SAGO_OK);
    (void)sagoi_store_close(&store);
    options.subfiles.count = 7;
    assert_int_equal(sagoi_store_open(plain, &options, &store), SAGO_OK);
    assert_null(sagoi_store_subfiles(store));
    (void)sagoi_store_close(&store);
    assert_int_equal(sagoi_store_remove(plain), SAGO_OK);
}

/* A directory that is none of ours is neither opened nor removed; nor one with a damaged description. */
static void other_directories(void **state) {
    scene *s = *state;
    char text[SAGOI_SUBFILES_TEXT_MAX], path[128];
    sagoi_store *store = NULL;
    const sagoi_store_options reading = {.flags = O_RDONLY};
    assert_int_equal(sagoi_store_open(s->dir, &reading, &store), SAGO_ERR_BAD_FILE);
    assert_int_not_equal(sagoi_store_remove(s->dir), SAGO_OK);
    (void)snprintf(path, sizeof path, "%s/" SAGOI_SUBFILES_NAME, s->path);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, text, 1, 20), 1);
    assert_int_equal(pwrite(fd, "7", 1, 20), 1);
    assert_int_equal(sagoi_store_open(s->path, &reading, &store), SAGO_ERR_BAD_FILE);
    assert_int_equal(sagoi_store_remove(s->path), SAGO_ERR_BAD_FILE);
    assert_int_equal(pwrite(fd, text, 1, 20), 1);
    (void)close(fd);
}

/* More of them than are kept open. */
static void many_subfiles(void **state) {
    scene *s = *state;
    enum { COUNT = 300 };
    static unsigned char data[COUNT * BLOCK + 5], back[sizeof data];
    char path[128];
    sagoi_store *store = NULL;
    sagoi_store_options options = make;
    int64_t bytes = 0;
    options.subfiles.count = COUNT;
    (void)snprintf(path, sizeof path, "%s/many", s->dir);
    assert_int_equal(sagoi_store_open(path, &options, &store), SAGO_OK);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    assert_int_equal(sagoi_store_write(store, &(sagoi_io_run){0, sizeof data, (char *)data}, 1), SAGO_OK);
    assert_int_equal(sagoi_store_sync(store), SAGO_OK);
    assert_int_equal(sagoi_store_read(store, &(sagoi_io_run){0, sizeof back, (char *)back}, 1, &bytes), SAGO_OK);
    assert_int_equal(bytes, sizeof data);
    assert_memory_equal(back, data, sizeof data);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    assert_int_equal(sagoi_store_remove(path), SAGO_OK);
}

/* ---- Faults ---- */

static int fail_sync(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_SYNC ? EIO : 0;
}

static int fail_write(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_WRITE ? ENOSPC : 0;
}

/* A write that fails says so; a failed sync is not forgotten; a creation that fails leaves nothing. */
static void faults(void **state) {
    scene *s = *state;
    char byte = 1, path[128];
    sagoi_store *store = NULL;
    struct stat there;
    inject_file_hooks(&(file_hooks){.before = fail_write});
    assert_int_equal(sagoi_store_write(s->store, &(sagoi_io_run){BLOCK, 1, &byte}, 1), SAGO_ERR_NO_SPACE);
    (void)snprintf(path, sizeof path, "%s/failed", s->dir);
    assert_int_equal(sagoi_store_open(path, &make, &store), SAGO_ERR_NO_SPACE);
    assert_int_equal(stat(path, &there), -1);
    inject_file_hooks(&(file_hooks){.before = fail_sync});
    assert_int_equal(sagoi_store_sync(s->store), SAGO_ERR_IO);
    inject_file_hooks(NULL);
    assert_int_equal(sagoi_store_sync(s->store), SAGO_ERR_IO);
}

/* ---- A rule that is made later ---- */

static const sagoi_store_options make_later = {
    .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0666, .subfiles = {3, BLOCK}, .ruled_later = true};

static int set_up_later(void **state) {
    scene *s = calloc(1, sizeof *s);
    (void)snprintf(s->dir, sizeof s->dir, "/tmp/sago-subfiles-XXXXXX");
    if (!mkdtemp(s->dir))
        return -1;
    (void)snprintf(s->path, sizeof s->path, "%s/file", s->dir);
    *state = s;
    return sagoi_store_open(s->path, &make_later, &s->store);
}

/* Two who have it open: empty to both, one rule for both, whatever the second would have liked. */
static void rule_is_made_once(void **state) {
    scene *s = *state;
    sagoi_store *other = NULL;
    const sagoi_store_options open_both = {.flags = O_RDWR};
    int64_t size = -1, bytes = -1;
    char byte = 5, back = 0;
    assert_int_equal(sagoi_store_open(s->path, &open_both, &other), SAGO_OK);
    assert_int_equal(sagoi_store_subfile_count(other), 3);
    assert_null(sagoi_store_subfiles(other));
    assert_int_equal(sagoi_store_size(other, &size), SAGO_OK);
    assert_int_equal(size, 0);
    assert_int_equal(sagoi_store_read(other, &(sagoi_io_run){0, 1, &back}, 1, &bytes), SAGO_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(sagoi_store_resize(other, 0), SAGO_OK);
    assert_int_equal(sagoi_store_write(other, &(sagoi_io_run){7, 0, &byte}, 1), SAGO_OK); /* nothing */
    assert_null(sagoi_store_subfiles(other));
    assert_int_equal(sagoi_store_make_rule(s->store, 5 * BLOCK), SAGO_OK);
    assert_int_equal(sagoi_store_make_rule(other, 7 * BLOCK), SAGO_OK);
    assert_int_equal(sagoi_store_subfiles(other)->block, 5 * BLOCK);
    assert_int_equal(sagoi_store_write(s->store, &(sagoi_io_run){5 * BLOCK, 1, &byte}, 1), SAGO_OK);
    assert_int_equal(size_of_part(s, 1), 1);
    assert_int_equal(sagoi_store_read(other, &(sagoi_io_run){5 * BLOCK, 1, &back}, 1, &bytes), SAGO_OK);
    assert_true(bytes == 1 && back == byte);
    assert_int_equal(sagoi_store_close(&other), SAGO_OK);
}

/* Whatever is written first without a rule makes the default one. */
static void writes_make_the_default(void **state) {
    scene *s = *state;
    char byte = 5;
    assert_int_equal(sagoi_store_write(s->store, &(sagoi_io_run){BLOCK, 1, &byte}, 1), SAGO_OK);
    assert_int_equal(sagoi_store_subfiles(s->store)->block, BLOCK);
    assert_int_equal(size_of_part(s, 1), 1);
}

static int calls_left; /* until the process dies, as far as the files can tell */

static int die(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op_changes(op->kind) && calls_left-- <= 0 ? EIO : 0;
}

/* Whoever makes the rule ends after each of its calls in turn: there is a rule then, or an empty file, which can
 * be written to, and either can be removed. */
static void ends_while_making(void **state) {
    scene *s = *state;
    bool made = false;
    for (int calls = 0; !made; calls++) {
        sagoi_store *store = NULL, *later = NULL;
        char path[128], byte = 5;
        int64_t size = -1;
        const sagoi_store_options open_both = {.flags = O_RDWR};
        assert_true(calls < 20);
        (void)snprintf(path, sizeof path, "%s/dies", s->dir);
        assert_int_equal(sagoi_store_open(path, &make_later, &store), SAGO_OK);
        calls_left = calls;
        inject_file_hooks(&(file_hooks){.before = die});
        made = sagoi_store_make_rule(store, 2 * BLOCK) == SAGO_OK && calls_left > 0;
        inject_file_hooks(NULL);
        assert_int_equal(sagoi_store_open(path, &open_both, &later), SAGO_OK);
        assert_int_equal(sagoi_store_size(later, &size), SAGO_OK);
        assert_int_equal(size, 0);
        assert_int_equal(sagoi_store_write(later, &(sagoi_io_run){0, 1, &byte}, 1), SAGO_OK);
        int64_t block = sagoi_store_subfiles(later)->block;
        assert_true(block == BLOCK || block == 2 * BLOCK);
        assert_int_equal(sagoi_store_write(store, &(sagoi_io_run){BLOCK, 1, &byte}, 1), SAGO_OK);
        assert_int_equal(sagoi_store_subfiles(store)->block, block);
        assert_int_equal(sagoi_store_size(later, &size), SAGO_OK);
        assert_int_equal(size, BLOCK + 1);
        assert_int_equal(sagoi_store_close(&store), SAGO_OK);
        assert_int_equal(sagoi_store_close(&later), SAGO_OK);
        assert_int_equal(sagoi_store_remove(path), SAGO_OK);
    }
}

static int fail_link(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_LINK ? EPERM : 0;
}

/* Without links the rule is made with the file. */
static void without_links(void **state) {
    scene *s = *state;
    sagoi_store *store = NULL;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/linkless", s->dir);
    inject_file_hooks(&(file_hooks){.before = fail_link});
    assert_int_equal(sagoi_store_open(path, &make_later, &store), SAGO_OK);
    inject_file_hooks(NULL);
    assert_int_equal(sagoi_store_subfiles(store)->block, BLOCK);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    assert_int_equal(sagoi_store_remove(path), SAGO_OK);
}

/* A description that does not belong to these subfiles, and one that was lost after something was written. */
static void wrong_descriptions(void **state) {
    scene *s = *state;
    char text[SAGOI_SUBFILES_TEXT_MAX], path[128], byte = 5;
    sagoi_store *other = NULL;
    const sagoi_store_options open_both = {.flags = O_RDWR};
    int64_t size, length = sagoi_subfiles_format(&(sagoi_subfiles){9, BLOCK}, text);
    (void)snprintf(path, sizeof path, "%s/" SAGOI_SUBFILES_NAME, s->path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    assert_int_equal(write(fd, text, (size_t)length), length);
    (void)close(fd);
    assert_int_equal(sagoi_store_size(s->store, &size), SAGO_ERR_BAD_FILE);
    assert_int_equal(sagoi_store_write(s->store, &(sagoi_io_run){0, 1, &byte}, 1), SAGO_ERR_BAD_FILE);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sagoi_store_write(s->store, &(sagoi_io_run){0, 1, &byte}, 1), SAGO_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sagoi_store_open(s->path, &open_both, &other), SAGO_OK);
    assert_int_equal(sagoi_store_size(other, &size), SAGO_ERR_BAD_FILE);
    assert_int_equal(sagoi_store_write(other, &(sagoi_io_run){0, 1, &byte}, 1), SAGO_ERR_BAD_FILE);
    assert_int_equal(sagoi_store_close(&other), SAGO_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_is_exact),
        cmocka_unit_test(rule_does_not_overflow),
        cmocka_unit_test(description_comes_back),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test_setup_teardown(store_against_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_are_shared_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_subfiles_are_noticed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(existing_files_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_subfiles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rule_is_made_once, set_up_later, tear_down),
        cmocka_unit_test_setup_teardown(writes_make_the_default, set_up_later, tear_down),
        cmocka_unit_test_setup_teardown(ends_while_making, set_up_later, tear_down),
        cmocka_unit_test_setup_teardown(without_links, set_up_later, tear_down),
        cmocka_unit_test_setup_teardown(wrong_descriptions, set_up_later, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
