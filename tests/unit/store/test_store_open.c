/* Opening what can and what cannot be opened, sizes, space, layout, and misuse. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "store_fixture.h"

static const sagoi_store_options read_write = {.flags = O_RDWR};

static sago_status try_open(const char *path, int flags) {
    sagoi_store_options options = {.flags = flags, .mode = 0600};
    sagoi_store *store = NULL;
    sagoi_message_clear();
    sago_status status = sagoi_store_open(path, &options, &store);
    assert_true((status == SAGO_OK) == (store != NULL));
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    return status;
}

static void assert_message_has(const char *text) {
    if (!strstr(sagoi_message(), text))
        fail_msg("\"%s\" does not say \"%s\"", sagoi_message(), text);
}

static void assert_refused(const char *path, int flags, sago_status status, const char *cause) {
    sago_status got = try_open(path, flags);
    if (got != status)
        fail_msg("%s: status %d, not %d (%s)", path, (int)got, (int)status, sagoi_message());
    assert_message_has(path);
    assert_message_has(cause);
}

static void directories_are_refused(void **state) {
    fixture *f = *state;
    assert_refused(f->place[0], O_RDONLY, SAGO_ERR_BAD_FILE, "directory");
    assert_refused(f->place[0], O_RDWR, SAGO_ERR_BAD_FILE, "directory");
    assert_refused(f->place[0], O_RDWR | O_CREAT, SAGO_ERR_BAD_FILE, "directory");
}

/* A hang here is a failure: the alarm ends the program. */
static void what_has_no_positions_is_refused(void **state) {
    fixture *f = *state;
    char path[300];
    (void)snprintf(path, sizeof path, "%s/fifo", f->place[0]);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)alarm(20);
    assert_refused(path, O_RDONLY, SAGO_ERR_BAD_FILE, "FIFO");
    assert_refused(path, O_WRONLY, SAGO_ERR_BAD_FILE, "FIFO");
    assert_refused(path, O_RDWR, SAGO_ERR_BAD_FILE, "FIFO");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.80s/socket", f->place[0]);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_refused(address.sun_path, O_RDWR, SAGO_ERR_BAD_FILE, "socket");
    (void)close(fd);
    assert_refused("/dev/null", O_RDWR, SAGO_ERR_BAD_FILE, "device");
    assert_refused("/proc/version", O_RDONLY, SAGO_ERR_BAD_FILE, "size");
    assert_refused("/dev/full", O_WRONLY, SAGO_ERR_BAD_FILE, "device");
    (void)alarm(0);
}

static void causes_are_named(void **state) {
    fixture *f = *state;
    char path[300];
    (void)snprintf(path, sizeof path, "%s/none", f->place[0]);
    assert_refused(path, O_RDWR, SAGO_ERR_NO_FILE, "No such file");
    assert_int_equal(try_open(path, O_RDWR | O_CREAT | O_EXCL), SAGO_OK);
    assert_refused(path, O_RDWR | O_CREAT | O_EXCL, SAGO_ERR_EXISTS, "exists");
    (void)snprintf(path, sizeof path, "%s/none/below", f->place[0]);
    assert_refused(path, O_RDWR | O_CREAT, SAGO_ERR_NO_FILE, "Not a directory");
    assert_int_equal(try_open("", O_RDWR), SAGO_ERR_NO_FILE);
    sagoi_store *store = NULL;
    assert_int_equal(sagoi_store_open(NULL, &read_write, &store), SAGO_ERR_ARG);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

/* In a child, as it gives up being root. */
static int child_without_rights(const char *path) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 77;
    sagoi_store *store = NULL;
    if (sagoi_store_open(path, &read_write, &store) != SAGO_ERR_ACCESS || store)
        return 1;
    return strstr(sagoi_message(), "Permission denied") ? 0 : 2;
}

static void no_permission_is_an_access_error(void **state) {
    fixture *f = *state;
    char path[300];
    (void)snprintf(path, sizeof path, "%s/locked", f->place[0]);
    assert_int_equal(try_open(path, O_RDWR | O_CREAT), SAGO_OK);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(f->place[0], 0755), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(child_without_rights(path));
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(result), 0);
}

static int leased_fd;

static void on_lease_break(int number) {
    (void)number;
    (void)fcntl(leased_fd, F_SETLEASE, F_UNLCK);
}

/* As a file server does: the holder is asked to give the lease up, and the open waits for it. */
static void a_leased_file_is_opened(void **state) {
    fixture *f = *state;
    char path[300];
    (void)snprintf(path, sizeof path, "%s/leased", f->place[0]);
    leased_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct sigaction action = {.sa_handler = on_lease_break}, before;
    assert_int_equal(sigaction(SIGIO, &action, &before), 0);
    bool leased = fcntl(leased_fd, F_SETLEASE, F_WRLCK) == 0;
    sago_status status = try_open(path, O_RDWR);
    assert_int_equal(sigaction(SIGIO, &before, NULL), 0);
    (void)close(leased_fd);
    if (!leased)
        skip();
    assert_int_equal(status, SAGO_OK);
}

/* The cause must not fall off the end of the message. */
static void long_paths_keep_their_cause(void **state) {
    fixture *f = *state;
    char path[1200], *end = path + snprintf(path, sizeof path, "%s", f->place[0]);
    while (end - path < 900)
        end += snprintf(end, sizeof path - (size_t)(end - path), "/a-rather-long-name");
    (void)snprintf(end, sizeof path - (size_t)(end - path), "/last");
    assert_int_equal(try_open(path, O_RDWR), SAGO_ERR_NO_FILE);
    assert_message_has("name/last: No such file");
    assert_message_has("...");
}

static void modes_are_enforced(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    char byte = 'x';
    sagoi_io_run run = {0, 1, &byte};
    assert_int_equal(sagoi_store_write(store, &run, 1), SAGO_OK);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    sagoi_store_options options = {.flags = O_RDONLY};
    assert_int_equal(sagoi_store_open(f->path, &options, &store), SAGO_OK);
    assert_int_equal(sagoi_store_write(store, &run, 1), SAGO_ERR_MODE);
    assert_int_equal(sagoi_store_resize(store, 0), SAGO_ERR_MODE);
    assert_int_equal(sagoi_store_allocate(store, 10), SAGO_ERR_MODE);
    assert_int_equal(sagoi_store_read(store, &run, 1, NULL), SAGO_OK);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    options.flags = O_WRONLY | O_APPEND; /* positions count all the same */
    assert_int_equal(sagoi_store_open(f->path, &options, &store), SAGO_OK);
    assert_int_equal(sagoi_store_read(store, &run, 1, NULL), SAGO_ERR_MODE);
    byte = 'y';
    assert_int_equal(sagoi_store_write(store, &run, 1), SAGO_OK);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    assert_file_is(f->path, "y", 1);
}

static void wrong_runs_touch_nothing(void **state) {
    fixture *f = *state;
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    char buf[8] = "abcdefg";
    sagoi_io_run negative[] = {{0, 1, buf}, {-1, 1, buf}}, shorter[] = {{0, 1, buf}, {5, -1, buf}};
    sagoi_io_run overflowing[] = {{0, 1, buf}, {INT64_MAX - 3, 8, buf}},
                 overlapping[] = {{0, 4, buf}, {3, 4, buf}};
    sagoi_io_run descending[] = {{10, 4, buf}, {3, 4, buf}};
    assert_int_equal(sagoi_store_write(store, negative, 2), SAGO_ERR_ARG);
    assert_int_equal(sagoi_store_write(store, shorter, 2), SAGO_ERR_ARG);
    assert_int_equal(sagoi_store_read(store, shorter, 2, NULL), SAGO_ERR_ARG);
    assert_int_equal(sagoi_store_write(store, overflowing, 2), SAGO_ERR_OVERFLOW);
    assert_message_has(f->path);
    assert_int_equal(sagoi_store_write(store, overlapping, 2), SAGO_ERR_EXTENTS);
    assert_int_equal(sagoi_store_write(store, descending, 2), SAGO_ERR_EXTENTS);
    assert_int_equal(sagoi_store_write(store, NULL, 1), SAGO_ERR_ARG);
    assert_int_equal(sagoi_store_write(store, negative, -1), SAGO_ERR_ARG);
    uint64_t marks = 1;
    assert_int_equal(sagoi_store_write_marked(store, buf, -1, 8, &marks, (sagoi_sieve){0, 0}), SAGO_ERR_ARG);
    assert_int_equal(sagoi_store_write_marked(store, buf, INT64_MAX - 3, 8, &marks, (sagoi_sieve){0, 0}),
                     SAGO_ERR_OVERFLOW);
    assert_int_equal(sagoi_store_resize(store, -1), SAGO_ERR_ARG);
    assert_int_equal(sagoi_store_allocate(store, -1), SAGO_ERR_ARG);
    assert_file_is(f->path, "", 0);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static int64_t size_of(sagoi_store *store) {
    int64_t size = -1;
    assert_int_equal(sagoi_store_size(store, &size), SAGO_OK);
    return size;
}

static void sizes_and_space(void **state) {
    for (int place = 0; place < PLACES; place++) {
        sagoi_store *store = fixture_open(*state, place, &ways[0]);
        assert_int_equal(sagoi_store_resize(store, 100000), SAGO_OK);
        assert_int_equal(size_of(store), 100000);
        struct stat file;
        assert_int_equal(fstat(sagoi_store_fd(store), &file), 0);
        assert_int_equal(file.st_blocks, 0);
        assert_int_equal(sagoi_store_allocate(store, 50000), SAGO_OK); /* holes filled, not shortened */
        assert_int_equal(size_of(store), 100000);
        assert_int_equal(fstat(sagoi_store_fd(store), &file), 0);
        assert_in_range(file.st_blocks * 512, 50000, 100000);
        assert_int_equal(sagoi_store_allocate(store, 200000), SAGO_OK);
        assert_int_equal(size_of(store), 200000);
        assert_int_equal(sagoi_store_allocate(store, 0), SAGO_OK);
        assert_int_equal(sagoi_store_resize(store, 0), SAGO_OK);
        assert_int_equal(size_of(store), 0);
        assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    }
}

/* ramfs has no fallocate: the size is all that can be had. */
static void space_without_fallocate(void **state) {
    fixture *f = *state;
    if (!place_mount(f, "ramfs", NULL))
        skip();
    sagoi_store *store = fixture_open(f, 0, &ways[0]);
    char byte = 'b';
    sagoi_io_run run = {5, 1, &byte};
    assert_int_equal(sagoi_store_write(store, &run, 1), SAGO_OK);
    assert_int_equal(sagoi_store_allocate(store, 20), SAGO_OK);
    assert_file_is(f->path, "\0\0\0\0\0b\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    assert_int_equal(sagoi_store_allocate(store, 10), SAGO_OK);
    assert_int_equal(size_of(store), 20);
    assert_string_equal(sagoi_store_layout(store)->name, "ramfs");
    assert_true(sagoi_store_layout(store)->in_memory);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
}

static void layouts_are_known(void **state) {
    sagoi_store *store = fixture_open(*state, 0, &ways[0]);
    const sagoi_layout *layout = sagoi_store_layout(store);
    if (!getenv("SAGO_TEST_DIR")) {
        assert_string_equal(layout->name, "tmpfs");
        assert_true(layout->local && layout->in_memory);
    }
    assert_in_range(layout->block, 512, 1 << 30);
    assert_int_equal(layout->stripe_unit, 0);
    assert_int_equal(sagoi_store_close(&store), SAGO_OK);
    sagoi_layout found;
    struct stat file;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &file), 0);
    sagoi_layout_of(fd, &file, &found);
    assert_string_equal(found.name, "unknown (0x9fa0)");
    assert_false(found.local);
    (void)close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_are_refused),
        cmocka_unit_test(what_has_no_positions_is_refused),
        cmocka_unit_test(causes_are_named),
        cmocka_unit_test(no_permission_is_an_access_error),
        cmocka_unit_test(long_paths_keep_their_cause),
        cmocka_unit_test(modes_are_enforced),
        cmocka_unit_test(wrong_runs_touch_nothing),
        cmocka_unit_test(sizes_and_space),
        cmocka_unit_test(layouts_are_known),
        cmocka_unit_test(a_leased_file_is_opened),
        cmocka_unit_test_teardown(space_without_fallocate, place_unmount),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
