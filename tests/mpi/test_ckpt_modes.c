/* RUN: n=4 */
/* Who writes a checkpoint, and who waits for that (002, section 3).  Threaded rbIO: the writer's thread, and
 * nobody waits.  rbIO: the writer, and its workers go on.  coIO: the ranks that the engine's plan says, and nobody
 * goes on before all is written.  Writes of data are held up until those who need not wait have gone on: if they
 * did wait, nobody would come to that. */
#include <ftw.h>
#include <stdatomic.h>

#include "mpi/ckpt_model.h"
#include "support/inject.h"

enum { BYTES = 300000, TRIES = 30000 }; /* of a millisecond each: only a failure takes as long */

static unsigned char data[BYTES];
static int wait_for; /* so many ranks have gone on, before a write may begin */
static atomic_llong written, most, missed;

/* Ranks that have returned from the save leave a file. */
static char left[CHECK_RANKS_MAX][CHECK_PATH_MAX + 8];

static int gone_on(void) {
    int gone = 0;
    for (int r = 0; r < ranks; r++)
        gone += access(left[r], F_OK) == 0;
    return gone;
}

static int before_write(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg;
    if (op->kind != SAGOI_OP_WRITE || !strstr(op->path, ".data"))
        return 0;
    for (int try = 0; gone_on() < wait_for && missed == 0; try++) {
        missed = try == TRIES;
        (void)usleep(1000);
    }
    written += *len;
    most = *len > most ? *len : most;
    return 0;
}

static int64_t on_storage;

static int add_data(const char *path, const struct stat *is, int type, struct FTW *place) {
    (void)place;
    on_storage += type == FTW_F && strstr(path, ".data") ? is->st_size : 0;
    return 0;
}

static int64_t data_on_storage(const char *dir) {
    on_storage = 0;
    (void)nftw(dir, add_data, 16, FTW_PHYS);
    return on_storage;
}

typedef struct mode {
    const char *hints;
    int wait_for;                       /* as above */
    int writers;                        /* ranks that write data */
    enum { NOBODY, WRITERS, ALL } stay; /* in the save, until the data is written */
} mode;

static const mode modes[] = {
    {"sago_ckpt_mode=threaded sago_ckpt_group=4", 4, 1, NOBODY},
    {"sago_ckpt_mode=rbio sago_ckpt_group=4", 3, 1, WRITERS},
    {"sago_ckpt_mode=coio sago_ckpt_group=4 sago_strategy=direct", 0, 4, ALL},
    {"sago_ckpt_mode=coio sago_ckpt_group=4 sago_strategy=aggregated sago_aggregators=1", 0, 1, ALL},
    {"sago_ckpt_mode=coio sago_ckpt_files=2 sago_strategy=aggregated sago_aggregators=1", 0, 2, ALL}};

/* Returns the bytes of data that are on storage when the save returns. */
static int64_t save_once(const mode *m, const char *dir) {
    static const file_hooks hooks = {.before = before_write};
    sago_ckpt *ckpt = NULL;
    wait_for = m->wait_for;
    written = most = missed = 0;
    (void)unlink(left[rank]);
    CHECK_OK(ckpt_open_hinted(MPI_COMM_WORLD, dir, m->hints, &ckpt));
    CHECK_OK(sago_ckpt_protect_local(ckpt, "data", data, sizeof data));
    meet();
    inject_file_hooks(&hooks);
    CHECK_OK(sago_ckpt_save(ckpt, 1));
    int64_t stored = data_on_storage(dir);
    CHECK(close(creat(left[rank], 0600)) == 0);
    CHECK_OK(sago_ckpt_wait(ckpt, 1, SAGO_LEVEL_GLOBAL));
    inject_file_hooks(NULL);
    CHECK_OK(sago_ckpt_restore(ckpt, 1));
    CHECK_OK(sago_ckpt_close(&ckpt));
    return stored;
}

static void check_mode(const mode *m, const char *dir) {
    scene = m->hints;
    int64_t stored = save_once(m, dir);
    if (m->stay == ALL || (m->stay == WRITERS && written > 0))
        CHECK(stored >= (int64_t)BYTES * ranks);
    CHECK_INT(missed, 0);
    CHECK_INT(sum_everywhere(written), (long long)BYTES * ranks);
    CHECK_INT(sum_everywhere(written > 0), m->writers);
    CHECK(m->writers == ranks || most == 0 || most > BYTES); /* blocks of several ranks in one request */
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    fill_bytes(data, sizeof data, rank);
    for (int r = 0; r < ranks; r++)
        (void)snprintf(left[r], sizeof left[r], "%s.%d", scratch("gone"), r);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char dir[CHECK_PATH_MAX + 8];
        (void)snprintf(dir, sizeof dir, "%s.%d", scratch("ckpt"), (int)i);
        check_mode(&modes[i], dir);
        meet();
    }
    return check_end();
}
