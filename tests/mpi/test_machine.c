/* RUN: n=1,4 */
/* Opening a file looks at the machine: a description or site file that is named is used, or refused by all ranks
 * with the same words; nothing is left behind by a refusal. */
#include "mpi/check.h"

static const char good[] = "name small\ntopology fat-tree 2 4\nlevel all latency 1us bandwidth 1GB/s\n"
                           "ranks-per-node 4\nmemory 1GiB\n";

/* The path of a file with these contents, written by rank 0. */
static const char *put(const char *name, const char *text) {
    const char *path = scratch(name);
    meet();
    if (rank == 0) {
        FILE *file = fopen(path, "w");
        CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    }
    meet();
    return path;
}

static sago_status try_open(const char *hints) {
    const char *path = fresh("data");
    sago_file *file = NULL;
    sago_status status = open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file);
    if (!status) {
        int64_t mine = rank;
        CHECK_OK(sago_write_at_all(file, rank * (MPI_Offset)sizeof mine, &mine, sizeof mine, MPI_BYTE, NULL));
        CHECK_OK(sago_close(&file));
    } else {
        CHECK(!file);
        meet();
        CHECK(access(path, F_OK) != 0);
    }
    return status;
}

static void hinted(const char *key, const char *path, sago_status wanted, const char *says) {
    char hints[CHECK_PATH_MAX + 64];
    scene = says ? says : path;
    (void)snprintf(hints, sizeof hints, "%s=%s", key, path);
    CHECK_INT(try_open(hints), wanted);
    if (says && !strstr(sago_error_message(), says)) {
        check_failed(__FILE__, __LINE__);
        printf("\"%s\" does not say \"%s\"\n", sago_error_message(), says);
    }
}

/* What the site file gives is in force, unless the hint says something else. */
static void check_local_dirs(const char *site) {
    static const char *const hints[] = {"", " sago_local_dirs=/mine"}, *const wanted[] = {"/a:/b", "/mine"};
    for (int i = 0; i < 2; i++) {
        char text[CHECK_PATH_MAX + 64], value[64] = "";
        sago_file *file = NULL;
        int found = 0;
        MPI_Info told;
        scene = "local directories of the site file";
        (void)snprintf(text, sizeof text, "sago_site=%s%s", site, hints[i]);
        CHECK_OK(open_hinted(scratch("data"), MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
        MPI_Info_create(&told);
        CHECK_OK(sago_get_hints(file, told));
        MPI_Info_get(told, "sago_local_dirs", sizeof value - 1, value, &found);
        CHECK(found && strcmp(value, wanted[i]) == 0);
        MPI_Info_free(&told);
        CHECK_OK(sago_close(&file));
    }
}

/* Files that are open at once on the same ranks, on whatever communicators: the site file is read for the first.
 */
static void check_read_once(const char *site) {
    enum { FILES = 3 };
    char text[16];
    sago_file *files[FILES] = {NULL};
    MPI_Comm comms[FILES] = {MPI_COMM_WORLD, MPI_COMM_WORLD, MPI_COMM_NULL};
    MPI_Info info;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    MPI_Info_create(&info);
    MPI_Info_set(info, "sago_site", site);
    scene = "the site file is read once";
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(text, sizeof text, "data-%d", i);
        CHECK_OK(sago_open(comms[i], scratch(text), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &files[i]));
        meet();
        if (rank == 0 && i == 0)
            CHECK(unlink(site) == 0);
        meet();
    }
    for (int i = 0; i < FILES; i++)
        CHECK_OK(sago_close(&files[i]));
    MPI_Info_free(&info);
    MPI_Comm_free(&comms[2]);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    hinted("sago_machine", put("good.sago", good), SAGO_OK, NULL);
    hinted("sago_machine", "theta", SAGO_OK, NULL);
    hinted("sago_machine", "none", SAGO_OK, NULL);
    hinted("sago_machine", "no-such-machine", SAGO_ERR_NO_FILE, "no-such-machine");
    hinted("sago_machine", put("zero.sago", "name x\ntopology flat 4\nlevel 0 latency 1us bandwidth 0B/s\n"),
           SAGO_ERR_ARG, "zero.sago:3: level: bandwidth '0B/s' is not");
    hinted("sago_machine",
           put("cycle.sago", "name x\nranks-per-node 1\nmemory 1G\ntopology switches\n"
                             "switch a switches b\nswitch b switches a\n"),
           SAGO_ERR_ARG, "cycle.sago:5: switch a: it is above itself");
    hinted("sago_machine",
           put("hosts.sago", "name x\nranks-per-node 1\nmemory 1G\ntopology flat 1\n"
                             "level 0 latency 1us bandwidth 1GB/s\nhosts no-such-host\n"),
           SAGO_ERR_ARG, "is not among its hosts");
    hinted("sago_site",
           put("site", "sago_aggregators_per_node 2\nsago_domain_write 1M\nnetwork latency 1us bandwidth 1GB/s\n"),
           SAGO_OK, NULL);
    check_local_dirs(put("dirs-site", "sago_local_dirs /a:/b\n"));
    check_read_once(put("once-site", "sago_local_dirs /a:/b\n"));
    hinted("sago_site", put("bad-site", "sago_aggregators_per_node many\n"), SAGO_ERR_ARG, "bad-site:1: ");
    hinted("sago_site", "/nowhere/site", SAGO_ERR_NO_FILE, "/nowhere/site");
    hinted("sago_machine", put("good.sago", good), SAGO_OK, NULL); /* asked anew after a refusal */
    return check_end();
}
