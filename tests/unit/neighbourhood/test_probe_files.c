/* Files for trying out a directory: exclusive, past no symbolic link, and gone at the end. */
/* cmocka wants these four first */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "neighbourhood/probe_files.h"
#include "support/inject.h"
#include "support/unit.h"

static const uint64_t name_bits[2] = {1, 2};
static char dir[64];

static int set_up(void **state) {
    (void)snprintf(dir, sizeof dir, "/tmp/sago-probe-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

/* Fails when anything is left. */
static int tear_down(void **state) { return rmdir(dir); }

static void probe_start(sagoi_probe *probe) {
    sagoi_probe_init(probe, dir);
    assert_int_equal(sagoi_probe_open(probe, true), SAGO_OK);
    sagoi_probe_set_name(probe, name_bits);
}

static const char *path_in(const char *name) {
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void test_one_file(void **state) {
    sagoi_probe one, other;
    probe_start(&one);
    probe_start(&other);
    assert_false(sagoi_probe_sees(&other));
    assert_int_equal(sagoi_probe_create(&one), SAGO_OK);
    assert_true(sagoi_probe_sees(&other));
    assert_int_equal(sagoi_probe_create(&other), SAGO_ERR_EXISTS); /* exclusive */
    assert_int_equal(sagoi_probe_remove_files(&other), SAGO_OK);   /* what it did not make it leaves */
    assert_true(sagoi_probe_sees(&one));
    assert_int_equal(sagoi_probe_remove_files(&one), SAGO_OK);
    assert_false(sagoi_probe_sees(&one));
    sagoi_probe_cleanup(&one);
    sagoi_probe_cleanup(&other);
}

static void test_listing(void **state) {
    sagoi_probe probes[3];
    int64_t least = -1;
    for (int i = 0; i < 3; i++) {
        probe_start(&probes[i]);
        assert_int_equal(sagoi_probe_enter(&probes[i], 7 + i), SAGO_OK);
    }
    /* Names that are no numbers of ranks are somebody else's. */
    static const char *const strange[] = {"3x", "-1", "007", "1 ", "+2", "99999999999999999999", "4.5"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        int fd = openat(probes[0].folder, strange[i], O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sagoi_probe_list(&probes[i], 100, &least), SAGO_OK);
        assert_int_equal(least, 7);
    }
    assert_int_equal(probes[0].counts.lists, 1);
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        assert_int_equal(unlinkat(probes[0].folder, strange[i], 0), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sagoi_probe_remove_files(&probes[i]), SAGO_OK);
    assert_int_equal(sagoi_probe_remove_folder(&probes[0], true), SAGO_OK);
    for (int i = 0; i < 3; i++)
        sagoi_probe_cleanup(&probes[i]);
}

/* Somebody knows the name and puts a link there: neither followed nor removed, its target untouched. */
static void test_links(void **state) {
    sagoi_probe probe;
    struct stat info;
    char link[256], folder[256];
    probe_start(&probe);
    (void)snprintf(link, sizeof link, "%s", path_in(probe.name));
    (void)snprintf(folder, sizeof folder, "%s", path_in(probe.folder_name));
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(sagoi_probe_create(&probe), SAGO_ERR_EXISTS);
    assert_int_not_equal(lstat(path_in("target"), &info), 0);
    assert_false(sagoi_probe_sees(&probe));
    assert_int_equal(mkdir(path_in("elsewhere"), 0700), 0);
    assert_int_equal(symlink("elsewhere", folder), 0);
    assert_int_not_equal(sagoi_probe_enter(&probe, 0), SAGO_OK);
    assert_int_equal(rmdir(path_in("elsewhere")), 0); /* still empty */
    assert_int_equal(sagoi_probe_remove_files(&probe), SAGO_OK);
    assert_int_equal(sagoi_probe_remove_folder(&probe, false), SAGO_OK);
    assert_int_equal(lstat(link, &info), 0);
    assert_int_equal(lstat(folder, &info), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(folder), 0);
    sagoi_probe_cleanup(&probe);
}

/* Somebody else's folder in the place of ours. */
static void test_foreign_folder(void **state) {
    sagoi_probe probe;
    if (geteuid() != 0)
        skip();
    probe_start(&probe);
    assert_int_equal(mkdir(path_in(probe.folder_name), 0700), 0);
    assert_int_equal(chown(path_in(probe.folder_name), 12345, 12345), 0);
    assert_int_equal(sagoi_probe_enter(&probe, 0), SAGO_ERR_ACCESS);
    assert_non_null(strstr(sagoi_message(), "12345"));
    assert_int_equal(sagoi_probe_remove_files(&probe), SAGO_OK);
    assert_int_equal(sagoi_probe_remove_folder(&probe, true), SAGO_OK);
    sagoi_probe_cleanup(&probe);
}

static void test_gone(void **state) {
    sagoi_probe probe;
    int64_t least = -1;
    probe_start(&probe);
    assert_int_equal(sagoi_probe_enter(&probe, 3), SAGO_OK);
    assert_int_equal(unlinkat(probe.folder, "3", 0), 0);
    assert_int_equal(sagoi_probe_list(&probe, 10, &least), SAGO_ERR_NO_FILE);
    assert_int_equal(least, -1);
    assert_int_equal(sagoi_probe_remove_files(&probe), SAGO_OK);
    assert_int_equal(sagoi_probe_remove_folder(&probe, true), SAGO_OK);
    sagoi_probe_cleanup(&probe);
}

static void test_unusable(void **state) {
    sagoi_probe probe;
    sagoi_probe_init(&probe, path_in("missing"));
    assert_int_equal(sagoi_probe_open(&probe, true), SAGO_ERR_NO_FILE);
    assert_non_null(strstr(sagoi_message(), "missing"));
    sagoi_probe_cleanup(&probe);
}

static int fail_remove(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    return op->kind == SAGOI_OP_UNLINK ? EACCES : 0;
}

/* What cannot be removed is told. */
static void test_left_behind(void **state) {
    sagoi_probe probe;
    probe_start(&probe);
    assert_int_equal(sagoi_probe_create(&probe), SAGO_OK);
    inject_file_hooks(&(file_hooks){.before = fail_remove});
    assert_int_equal(sagoi_probe_remove_files(&probe), SAGO_ERR_ACCESS);
    assert_non_null(strstr(sagoi_message(), probe.name));
    inject_file_hooks(NULL);
    assert_int_equal(unlink(path_in(probe.name)), 0);
    sagoi_probe_cleanup(&probe);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_listing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unusable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_left_behind, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
