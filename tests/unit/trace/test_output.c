/* What is at a path of the user's stays what it is: files are replaced as a whole, all else is written to. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/output.h"
#include "support/unit.h"

static char dir[] = "/tmp/sago-output-XXXXXX";

static int enter(void **state) { return !mkdtemp(dir) || chdir(dir) != 0; }

static int leave(void **state) { return chdir("/") != 0 || rmdir(dir) != 0; }

static int entries(void) {
    int count = 0;
    DIR *list = opendir(".");
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    (void)closedir(list);
    return count;
}

static bool put(const char *path, const char *text) {
    sagoi_output out;
    return sagoi_output_open(&out, path) && (fputs(text, out.file), sagoi_output_close(&out));
}

static void assert_text(const char *path, const char *text) {
    char got[64] = "";
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_true(fread(got, 1, sizeof got - 1, in) == strlen(text));
    (void)fclose(in);
    assert_string_equal(got, text);
}

static mode_t kind(const char *path) {
    struct stat info;
    assert_return_code(lstat(path, &info), errno);
    return info.st_mode;
}

static void files_are_replaced(void **state) {
    assert_int_equal(sagoi_output_check("file"), 0);
    assert_int_equal(entries(), 0);
    assert_true(put("file", "one"));
    assert_return_code(chmod("file", 0640), errno);
    int old = open("file", O_RDONLY);
    char byte = 0;
    assert_true(put("file", "two"));
    assert_text("file", "two");
    assert_int_equal(kind("file") & 0777, 0640);
    assert_int_equal(read(old, &byte, 1), 1);
    assert_int_equal(byte, 'o');
    (void)close(old);
    assert_int_equal(entries(), 1);
    (void)unlink("file");
}

static void links_stay(void **state) {
    assert_return_code(mkdir("real", 0777), errno);
    assert_return_code(symlink("real/file", "second"), errno);
    assert_return_code(symlink("second", "first"), errno);
    for (int i = 0; i < 2; i++) { /* there is no file at first */
        assert_int_equal(sagoi_output_check("first"), 0);
        assert_true(put("first", "text"));
        assert_text("real/file", "text");
    }
    assert_true(S_ISLNK(kind("first")) && S_ISLNK(kind("second")));
    (void)unlink("first"), (void)unlink("real/file"), (void)rmdir("real");
    assert_return_code(symlink("second", "first"), errno);
    (void)unlink("second");
    assert_return_code(symlink("first", "second"), errno);
    assert_int_equal(sagoi_output_check("first"), ELOOP);
    assert_false(put("first", "text"));
    (void)unlink("first"), (void)unlink("second");
}

static void fifos_are_written(void **state) {
    char got[8] = "";
    assert_return_code(mkfifo("fifo", 0666), errno);
    assert_true(sagoi_output_is_special("fifo"));
    assert_int_equal(sagoi_output_check("fifo"), 0);
    assert_false(put("fifo", "text"));
    assert_string_equal(sagoi_output_reason(errno), "nobody reads from it");
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_true(put("fifo", "text"));
    assert_int_equal(read(reader, got, sizeof got), 4);
    sagoi_output out; /* the reader goes away: no signal */
    assert_true(sagoi_output_open(&out, "fifo"));
    fputs("text", out.file);
    (void)close(reader);
    assert_false(sagoi_output_close(&out));
    assert_int_equal(errno, EPIPE);
    assert_true(S_ISFIFO(kind("fifo")));
    assert_int_equal(entries(), 1);
    (void)unlink("fifo");
}

static void devices_stay(void **state) {
    if (mknod("null", S_IFCHR | 0666, 1 << 8 | 3) != 0)
        return;                /* only root may make one */
    if (put("null", "text")) { /* not on a file system without devices */
        assert_true(S_ISCHR(kind("null")));
        assert_return_code(mknod("full", S_IFCHR | 0666, 1 << 8 | 7), errno);
        assert_false(put("full", "text"));
        assert_int_equal(errno, ENOSPC);
        assert_true(S_ISCHR(kind("full")));
        (void)unlink("full");
    }
    assert_int_equal(entries(), 1);
    (void)unlink("null");
}

static void directories_are_refused(void **state) {
    assert_return_code(mkdir("folder", 0777), errno);
    assert_int_equal(sagoi_output_check("folder"), EISDIR);
    assert_false(put("folder", "text"));
    assert_int_equal(errno, EISDIR);
    sagoi_output out; /* it comes while the file is written */
    assert_true(sagoi_output_open(&out, "late"));
    assert_return_code(mkdir("late", 0777), errno);
    assert_false(sagoi_output_close(&out));
    assert_int_equal(entries(), 2);
    (void)rmdir("folder"), (void)rmdir("late");
    assert_int_equal(sagoi_output_check("nowhere/file"), ENOENT);
    assert_false(put("nowhere/file", "text"));
}

/* Where standard output goes, what was printed before and after stays. */
static void own_output_is_kept(void **state) {
    int saved = dup(STDOUT_FILENO), file = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    (void)fflush(stdout);
    assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(write(STDOUT_FILENO, "a", 1), 1);
    bool good = put("said", "b");
    assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(saved), (void)close(file);
    assert_true(good);
    assert_text("said", "ab");
    (void)unlink("said");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_replaced),      cmocka_unit_test(links_stay),
        cmocka_unit_test(fifos_are_written),       cmocka_unit_test(devices_stay),
        cmocka_unit_test(directories_are_refused), cmocka_unit_test(own_output_is_kept)};
    return cmocka_run_group_tests(tests, enter, leave);
}
