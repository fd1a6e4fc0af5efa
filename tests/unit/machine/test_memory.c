/* Available memory, read from fabricated /proc and /sys trees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "machine/memory.h"
#include "support/unit.h"

#define MIB (INT64_C(1) << 20)
#define UNKNOWN (256 * MIB)
#define V1_NONE "9223372036854771712\n"
#define V1_MOUNT "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
#define V2_MOUNT "35 31 0:32 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

static char root[256];

static int root_create(void **state) {
    (void)snprintf(root, sizeof root, "/tmp/sago-memory-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int root_destroy(void **state) {
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void put(const char *path, const char *text) {
    char full[1024];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void put_in(const char *directory, const char *name, const char *text) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    put(path, text);
}

static void put_v1(const char *directory, const char *limit, const char *usage, const char *stat) {
    put_in(directory, "memory.limit_in_bytes", limit);
    put_in(directory, "memory.usage_in_bytes", usage);
    put_in(directory, "memory.stat", stat);
}

static void put_v2(const char *directory, const char *max, const char *high, const char *current,
                   const char *stat) {
    put_in(directory, "memory.max", max);
    put_in(directory, "memory.high", high);
    put_in(directory, "memory.current", current);
    put_in(directory, "memory.stat", stat);
}

static void put_meminfo(int64_t mib) {
    char text[200];
    (void)snprintf(text, sizeof text,
                   "MemTotal: 99999999 kB\nMemFree: 1 kB\nMemAvailable:   %lld kB\nBuffers: 2 kB\n",
                   (long long)mib * 1024);
    put("/proc/meminfo", text);
}

static void host_only(void **state) {
    assert_int_equal(sagoi_memory_available(root), UNKNOWN);
    put_meminfo(1000);
    assert_int_equal(sagoi_memory_available(root), 1000 * MIB);
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", "23 1 0:5 / /proc rw - proc proc rw\n");
    assert_int_equal(sagoi_memory_available(root), 1000 * MIB);
}

static void version_1(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "5:devices:/\n4:cpu,memory:/job/step\n0::/\n");
    put("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" V1_MOUNT);
    put_v1("/sys/fs/cgroup/memory", V1_NONE, "5000000000\n", "cache 0\ntotal_inactive_file 0\n");
    put_v1("/sys/fs/cgroup/memory/job", V1_NONE, "1\n", "");
    put_v1("/sys/fs/cgroup/memory/job/step", "524288000\n", "104857600\n",
           "inactive_file 7\ntotal_inactive_file 52428800\ntotal_active_file 1\n");
    assert_int_equal(sagoi_memory_available(root), 450 * MIB);
    /* an ancestor is tighter */
    put_v1("/sys/fs/cgroup/memory/job", "209715200\n", "104857600\n", "total_inactive_file 0\n");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
    /* more in use than allowed: nothing, not less */
    put_v1("/sys/fs/cgroup/memory/job", "209715200\n", "309715200\n", "total_inactive_file 0\n");
    assert_int_equal(sagoi_memory_available(root), 0);
    /* the host is tighter */
    put_v1("/sys/fs/cgroup/memory/job", V1_NONE, "0\n", "");
    put_meminfo(10);
    assert_int_equal(sagoi_memory_available(root), 10 * MIB);
}

/* A container: its own cgroup is what is mounted. */
static void version_1_container(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "4:memory:/docker/abc\n");
    put("/proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    put_v1("/sys/fs/cgroup/memory", "104857600\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
    /* somebody else's */
    put("/proc/self/mountinfo", "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    assert_int_equal(sagoi_memory_available(root), 1000 * MIB);
}

static void version_2(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "0::/user.slice/job\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put_v2("/sys/fs/cgroup/user.slice", "max\n", "max\n", "99\n", "inactive_file 3\n");
    put_v2("/sys/fs/cgroup/user.slice/job", "524288000\n", "max\n", "209715200\n",
           "anon 1\ninactive_anon 5\ninactive_file 104857600\n");
    assert_int_equal(sagoi_memory_available(root), 400 * MIB);
    put_in("/sys/fs/cgroup/user.slice/job", "memory.high", "314572800\n");
    assert_int_equal(sagoi_memory_available(root), 200 * MIB);
    put_in("/sys/fs/cgroup/user.slice", "memory.max", "1048675\n");
    put_in("/sys/fs/cgroup/user.slice", "memory.high", "0\n");
    assert_int_equal(sagoi_memory_available(root), 0);
    put_in("/sys/fs/cgroup/user.slice", "memory.high", "max\n");
    assert_int_equal(sagoi_memory_available(root), MIB + 99 - 96);
}

/* The page cache counts as used by more than is used: never more than the limit. */
static void inactive_above_usage(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put_v2("/sys/fs/cgroup", "104857600\n", "max\n", "1000\n", "inactive_file 99999999999\n");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
}

static void nested_deeply(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "0::/a/b/c/d/e\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put_v2("/sys/fs/cgroup/a/b/c/d/e", "838860800\n", "max\n", "0\n", "");
    put_v2("/sys/fs/cgroup/a/b/c", "734003200\n", "max\n", "0\n", "");
    put_v2("/sys/fs/cgroup/a", "629145600\n", "max\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 600 * MIB);
    put_v2("/sys/fs/cgroup", "524288000\n", "max\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 500 * MIB);
}

/* systemd's hybrid: both generations, the memory controller in the first. */
static void both_versions(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "4:memory:/x\n0::/y\n");
    put("/proc/self/mountinfo", V1_MOUNT "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put_v1("/sys/fs/cgroup/memory/x", "104857600\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
    put_v2("/sys/fs/cgroup/unified/y", "52428800\n", "max\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 50 * MIB);
}

/* Paths in a namespace: ".." as the mounted directory is an ancestor, in the own path it is elsewhere. */
static void namespaces(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", "35 31 0:32 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put_v2("/sys/fs/cgroup", "104857600\n", "max\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
    put("/proc/self/cgroup", "0::/../../other\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    put_v2("/sys/other", "1048576\n", "max\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
    put("/proc/self/cgroup", "0::/job/..\n");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
    put("/proc/self/cgroup", "0::/..job/x..\n"); /* just names */
    put_v2("/sys/fs/cgroup/..job/x..", "2097152\n", "max\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 2 * MIB);
}

static void escaped_and_odd_names(void **state) {
    put_meminfo(1000);
    put("/proc/self/cgroup", "4:memory:/with space:and colon\n");
    put("/proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup\\040two\\134x rw - cgroup cgroup rw,memory\n");
    put_v1("/sys/fs/cgroup two\\x/with space:and colon", "104857600\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 100 * MIB);
}

static void garbage(void **state) {
    put("/proc/meminfo", "MemAvailable: lots kB\n\n\nMemAvailableX: 5 kB\n");
    put("/proc/self/cgroup", "\n:\n::\n0::relative\n4:memory\nno colons\n0::/job\n");
    put("/proc/self/mountinfo", " - \n - cgroup2\n1 2 3 - cgroup2 a b\n1 2 3 / - cgroup2 a b\n"
                                "1 2 3 x y z - cgroup2 a b\n" V2_MOUNT "\n");
    assert_int_equal(sagoi_memory_available(root), UNKNOWN);
    put_v2("/sys/fs/cgroup/job", "-5\n", "12 apples\n", "?\n", "inactive_file x\n");
    assert_int_equal(sagoi_memory_available(root), 12);
    put_v2("/sys/fs/cgroup/job", "12apples\n", "\n", "?\n", "inactive_file x\n");
    assert_int_equal(sagoi_memory_available(root), UNKNOWN);
    put_v2("/sys/fs/cgroup/job", "18446744073709551615\n", "99999999999999999999999\n", "1\n", "");
    assert_int_equal(sagoi_memory_available(root), UNKNOWN);
    put_v2("/sys/fs/cgroup/job", "104857600", "max", "99999999999999999999", "inactive_file -3");
    assert_int_equal(sagoi_memory_available(root), 0);
    put("/proc/meminfo", "MemAvailable: 9223372036854775807 kB\n");
    put_in("/sys/fs/cgroup/job", "memory.max", "");
    assert_int_equal(sagoi_memory_available(root), UNKNOWN);
}

/* However long a line is, its parts are no lines of their own. */
static void long_lines(void **state) {
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 400);
    assert_non_null(text);
    memset(text, 'a', LENGTH);
    (void)snprintf(text + LENGTH, 400, "0::/evil\nMemAvailable: 4 kB\n" V2_MOUNT "0::/job\n");
    put("/proc/meminfo", text);
    put("/proc/self/cgroup", text);
    put("/proc/self/mountinfo", text);
    put_v2("/sys/fs/cgroup/job", "2048\n", "max\n", "0\n", "");
    put_v2("/sys/fs/cgroup/evil", "1024\n", "max\n", "0\n", "");
    assert_int_equal(sagoi_memory_available(root), 2048);
    free(text);
}

static void not_files(void **state) {
    char path[300];
    (void)snprintf(path, sizeof path, "%s/proc", root);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody ever writes to it */
    (void)snprintf(path, sizeof path, "%s/proc/self", root);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(sagoi_memory_available(root), UNKNOWN);
}

static void random_bytes(void **state) {
    static const char alphabet[] = "0123456789:/\\ -,.\n\nabcgroup2memory";
    put_v2("/sys/fs/cgroup/job", "4096\n", "max\n", "0\n", "");
    srand(7);
    for (int round = 0; round < 300; round++) {
        char text[3][400];
        for (int file = 0; file < 3; file++) {
            size_t length = (size_t)(rand() % 399);
            for (size_t i = 0; i < length; i++)
                text[file][i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
            text[file][length] = '\0';
        }
        put("/proc/meminfo", text[0]);
        put("/proc/self/cgroup", text[1]);
        put("/proc/self/mountinfo", text[2]);
        assert_true(sagoi_memory_available(root) >= 0);
    }
}

static void this_machine(void **state) {
    int64_t bytes = sagoi_memory_available("");
    assert_true(bytes > 0 && bytes < INT64_C(1) << 60);
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, root_create, root_destroy)

static void shares(void **state) {
    const int64_t part = SAGOI_MEMORY_PART;
    assert_int_equal(sagoi_memory_share(1000 * MIB, 4 * part, 4), 1000 * MIB); /* the only file */
    assert_int_equal(sagoi_memory_share(1000 * MIB, 4 * (part / 2), 4), 500 * MIB);
    assert_int_equal(sagoi_memory_share(1000 * MIB, part, 4), 250 * MIB); /* of one rank */
    assert_int_equal(sagoi_memory_share(1000 * MIB, part / 2, 4), 125 * MIB);
    /* a rank has two files open, one of them together with another rank, which has none else */
    assert_int_equal(sagoi_memory_share(1000 * MIB, part / 2 + part, 2) +
                         sagoi_memory_share(1000 * MIB, part / 2, 2),
                     1000 * MIB);
    assert_int_equal(sagoi_memory_share(0, part, 4), 0);
    assert_int_equal(sagoi_memory_share(-5, part, 4), 0);
    assert_int_equal(sagoi_memory_share(MIB, 0, 4), 0);
    assert_int_equal(sagoi_memory_share(MIB, 9 * part, 4), MIB); /* never more than there is */
    assert_int_equal(sagoi_memory_share(MIB, part, 0), MIB);
    assert_true(sagoi_memory_share(INT64_MAX, INT64_MAX, INT64_MAX) == INT64_MAX);
    assert_in_range(sagoi_memory_share(INT64_MAX, part, INT64_MAX), 1, INT64_MAX);
}

/* Whatever files the ranks of a node open on whatever communicators, together they have no more than there is, and
 * no less but for rounding. */
static void shares_of_random_files(void **state) {
    enum { RANKS = 16, FILES = 40 };
    srand(7);
    for (int round = 0; round < 200; round++) {
        bool opened[FILES][RANKS] = {{false}};
        int64_t files_of[RANKS] = {0}, memory = (rand() % 4096 + 1) * MIB + rand() % MIB, sum = 0;
        int files = rand() % FILES + 1;
        for (int f = 0; f < files; f++)
            for (int r = 0; r < RANKS; r++)
                files_of[r] += opened[f][r] = f == 0 || rand() % 3 == 0;
        for (int f = 0; f < files; f++) {
            int64_t parts = 0;
            for (int r = 0; r < RANKS; r++)
                parts += opened[f][r] ? SAGOI_MEMORY_PART / files_of[r] : 0;
            sum += sagoi_memory_share(memory, parts, RANKS);
        }
        assert_true(sum <= memory);
        assert_true(sum >= memory - memory / 1000 - 4096);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_ROOT(host_only),
        IN_ROOT(version_1),
        IN_ROOT(version_1_container),
        IN_ROOT(version_2),
        IN_ROOT(inactive_above_usage),
        IN_ROOT(nested_deeply),
        IN_ROOT(both_versions),
        IN_ROOT(namespaces),
        IN_ROOT(escaped_and_odd_names),
        IN_ROOT(garbage),
        IN_ROOT(long_lines),
        IN_ROOT(not_files),
        IN_ROOT(random_bytes),
        cmocka_unit_test(shares),
        cmocka_unit_test(shares_of_random_files),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
