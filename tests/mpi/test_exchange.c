/* Producers and consumers: every rank leaves a block for every other one, through directories that pairs of ranks
 * share or through the one that all see; where blocks are, what is refused, and that nothing is left. */
/* RUN: n=1,2,5 */
#include "mpi/check.h"

enum { BYTES_MOST = 70000 };

static char global[CHECK_PATH_MAX], local[CHECK_PATH_MAX];

static void make_dirs(void) {
    char name[32];
    snprintf(global, sizeof global, "%s", scratch("global"));
    snprintf(name, sizeof name, "local%d", rank / 2);
    snprintf(local, sizeof local, "%s", scratch(name));
    (void)mkdir(global, 0700);
    (void)mkdir(local, 0700);
    meet();
}

static int64_t bytes_of(int from, int to) { return (from * 7919 + to * 104729) % BYTES_MOST; }
static char block_byte(int from, int to, int64_t i) { return (char)(from * 31 + to * 17 + i * 7 + i / 251); }

/* Names in a folder of the directory, at any depth of one. */
static int count_names(const char *dir) {
    DIR *listing = opendir(dir);
    int n = 0;
    for (struct dirent *at = listing ? readdir(listing) : NULL; at; at = readdir(listing)) {
        char inside[2 * CHECK_PATH_MAX];
        if (strcmp(at->d_name, ".") == 0 || strcmp(at->d_name, "..") == 0)
            continue;
        snprintf(inside, sizeof inside, "%s/%s", dir, at->d_name);
        n += at->d_type == DT_DIR ? count_names(inside) : 1;
    }
    if (listing)
        closedir(listing);
    return n;
}

static void put_all(sago_exchange *exchange) {
    static char block[BYTES_MOST];
    for (int to = 0; to < ranks; to++) {
        for (int64_t i = 0; i < bytes_of(rank, to); i++)
            block[i] = block_byte(rank, to, i);
        CHECK_OK(sago_exchange_put(exchange, to, "a/b c%", block, bytes_of(rank, to)));
    }
}

static void get_all(sago_exchange *exchange) {
    static char block[BYTES_MOST];
    for (int from = 0; from < ranks; from++) {
        int64_t bytes = -1;
        CHECK_OK(sago_exchange_get(exchange, from, "a/b c%", block, sizeof block, 60, &bytes));
        CHECK_INT(bytes, bytes_of(from, rank));
        int64_t wrong = 0;
        for (int64_t i = 0; i < bytes; i++)
            wrong += block[i] != block_byte(from, rank, i);
        CHECK_INT(wrong, 0);
        CHECK(sago_exchange_get(exchange, from, "a/b c%", block, sizeof block, 0, NULL) == SAGO_ERR_NO_FILE);
    }
}

/* Pairs 2i and 2i + 1 share a directory. */
static void by_storage(void) {
    sago_exchange *exchange = NULL;
    scene = "by storage";
    CHECK_OK(sago_exchange_open(MPI_COMM_WORLD, global, local, &exchange));
    int mates = rank / 2 * 2 + 1 < ranks ? 2 : 1, all_local = 0;
    for (int r = 0; r < ranks; r++) {
        int near = -1;
        CHECK_OK(sago_exchange_is_local(exchange, rank, r, &near));
        CHECK_INT(near, r / 2 == rank / 2);
        all_local += (r / 2 * 2 + 1 < ranks ? 2 : 1);
    }
    put_all(exchange);
    meet();
    CHECK_INT(count_names(local), mates * mates);
    CHECK_INT(count_names(global), ranks * ranks - all_local);
    meet();
    get_all(exchange);
    meet();
    CHECK_INT(count_names(local) + count_names(global), 0);
    CHECK_OK(sago_exchange_close(&exchange));
    CHECK(exchange == NULL);
}

/* Whoever comes first waits; without local storage all goes through the one directory. */
static void waiting(void) {
    sago_exchange *exchange = NULL;
    char got[8] = "";
    int64_t bytes = 0;
    scene = "waiting";
    CHECK_OK(sago_exchange_open(MPI_COMM_WORLD, global, NULL, &exchange));
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    if (rank % 2 == 0 || ranks == 1) {
        usleep(20000);
        CHECK_OK(sago_exchange_put(exchange, next, "turn", "x", 1));
        CHECK_OK(sago_exchange_get(exchange, before, "turn", got, sizeof got, -1, &bytes));
    } else {
        CHECK_OK(sago_exchange_get(exchange, before, "turn", got, sizeof got, 60, &bytes));
        CHECK_OK(sago_exchange_put(exchange, next, "turn", "x", 1));
    }
    CHECK(bytes == 1 && got[0] == 'x');
    meet();
    CHECK_INT(count_names(global), 0);
    CHECK_OK(sago_exchange_close(&exchange));
}

static void refused(void) {
    sago_exchange *exchange = NULL;
    char got[2];
    int64_t bytes = 0;
    scene = "refused";
    CHECK(sago_exchange_open(MPI_COMM_WORLD, scratch("nowhere"), local, &exchange) != SAGO_OK);
    CHECK(sago_exchange_open(MPI_COMM_WORLD, rank == ranks - 1 ? NULL : global, local, &exchange) == SAGO_ERR_ARG);
    CHECK_OK(sago_exchange_open(MPI_COMM_WORLD, global, local, &exchange));
    CHECK(sago_exchange_put(exchange, ranks, "n", "x", 1) == SAGO_ERR_ARG);
    CHECK(sago_exchange_put(exchange, 0, "", "x", 1) == SAGO_ERR_ARG);
    CHECK(sago_exchange_put(exchange, 0, "n", NULL, 1) == SAGO_ERR_ARG);
    CHECK_OK(sago_exchange_put(exchange, rank, "n", "four", 4));
    CHECK(sago_exchange_put(exchange, rank, "n", "x", 1) == SAGO_ERR_EXISTS);
    CHECK(sago_exchange_get(exchange, rank, "n", got, sizeof got, 0, &bytes) == SAGO_ERR_ARG);
    CHECK_INT(bytes, 4);
    CHECK_OK(sago_exchange_put(exchange, rank, "empty", NULL, 0));
    CHECK_OK(sago_exchange_get(exchange, rank, "empty", NULL, 0, 0, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_OK(sago_exchange_close(&exchange)); /* with "n" never fetched */
    CHECK(sago_exchange_close(&exchange) == SAGO_ERR_HANDLE);
    meet();
    CHECK_INT(count_names(local) + count_names(global), 0);
    if (rank % 2 == 0)
        CHECK(rmdir(local) == 0); /* no folder is left either */
    if (rank == 0)
        CHECK(rmdir(global) == 0);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    make_dirs();
    by_storage();
    waiting();
    refused();
    return check_end();
}
