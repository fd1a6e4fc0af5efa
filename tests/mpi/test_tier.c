/* RUN: n=1,4 */
/* The local tier: collective writes that go to local storage first are in the global file after a sync, a read or
 * a close, exactly; the later call wins, also between neighbourhoods; holes stay holes; full local storage is no
 * error.
 *
 *   test_tier [SEEDS]        random programs, default 20
 *
 * On the virtual cluster local storage is a node's or a rack's (SAGO_CLUSTER_SCRATCH, SAGO_CLUSTER_RACK); on one
 * machine all ranks share it. */
#include "check.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/file.h>

#include "support/inject.h"
#include "support/random.h"

enum { SIZE = 200000, STEPS = 12, PIECES = 40 };

static char hints[600]; /* of a file with a local tier */
static const char *local_root;

/* `window`: merging moves no more than this at once. */
static void choose_local(const char *dirs, const char *window) {
    (void)snprintf(hints, sizeof hints, "sago_tier=local sago_local_dirs=%s sago_window=%s", dirs, window);
}

/* Names in local storage that are the tier's. */
static int tier_files(void) {
    DIR *stream = opendir(local_root);
    int count = 0;
    for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
        count += strncmp(entry->d_name, ".sago-tier-", 11) == 0;
    if (stream)
        closedir(stream);
    return count;
}

/* ---- A model: the bytes of the file, and how long it is ---- */

typedef struct model {
    unsigned char bytes[SIZE];
    int64_t end;
} model;

static void model_put(model *m, int64_t offset, int64_t length, int64_t whose) {
    for (int64_t i = offset; i < offset + length; i++)
        m->bytes[i] = byte_of(i, whose);
    if (length > 0 && offset + length > m->end)
        m->end = offset + length;
}

/* Every rank's pieces of one call, drawn alike on all ranks: pieces of the file dealt out at random, some to
 * nobody. */
typedef struct pieces {
    sago_extent mine[PIECES];
    int64_t n;
    unsigned char data[SIZE];
    int64_t bytes;
} pieces;

static void draw_pieces(uint64_t *seed, int64_t whose, model *m, pieces *p) {
    int64_t at = (int64_t)(next_random(seed) % (SIZE / 2)), most = 1 + (int64_t)(next_random(seed) % 1500);
    p->n = p->bytes = 0;
    for (int i = 0; i < PIECES && at < SIZE - 2000; i++) {
        int owner = (int)(next_random(seed) % (uint64_t)(ranks + 1));
        int64_t length = (int64_t)(next_random(seed) % (uint64_t)most);
        if (owner < ranks) /* else a hole */
            model_put(m, at, length, whose);
        if (owner == rank) {
            p->mine[p->n++] = (sago_extent){at, length};
            for (int64_t k = 0; k < length; k++)
                p->data[p->bytes++] = byte_of(at + k, whose);
        }
        at += length;
    }
}

static void write_extents(sago_file *file, uint64_t *seed, int64_t whose, model *m) {
    static pieces p;
    draw_pieces(seed, whose, m, &p);
    CHECK_OK(sago_write_extents_all(file, p.n, p.mine, p.data));
}

static void start_extents(sago_file *file, uint64_t *seed, int64_t whose, model *m) {
    static pieces p;
    sago_request *request = NULL;
    draw_pieces(seed, whose, m, &p);
    CHECK_OK(sago_iwrite_extents_all(file, p.n, p.mine, p.data, &request));
    CHECK_OK(sago_wait(&request, NULL));
}

/* Blocks dealt out in turn through a view, beginning somewhere; the view stays set. */
static void write_view(sago_file *file, uint64_t *seed, int64_t whose, model *m) {
    int64_t block = 1 + (int64_t)(next_random(seed) % 50), blocks = (int64_t)(next_random(seed) % 200);
    int64_t disp = (int64_t)(next_random(seed) % 3000), skip = (int64_t)(next_random(seed) % 5);
    unsigned char data[50 * 200];
    MPI_Datatype one, turns;
    MPI_Type_contiguous((int)block, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, (MPI_Aint)block * ranks, &turns);
    MPI_Type_commit(&turns);
    CHECK_OK(sago_set_view(file, disp + block * rank, one, turns));
    for (int64_t i = 0; i < blocks; i++)
        for (int r = 0; r < ranks; r++) {
            int64_t at = disp + ((skip + i) * ranks + r) * block;
            model_put(m, at, block, whose);
            for (int64_t k = 0; r == rank && k < block; k++)
                data[i * block + k] = byte_of(at + k, whose);
        }
    CHECK_OK(sago_write_at_all(file, skip, data, blocks * block, MPI_BYTE, NULL));
    MPI_Type_free(&one);
    MPI_Type_free(&turns);
}

/* ---- Independent calls ---- */

enum { SLOT = 100, SLOTS = SIZE - 2000 }; /* where rank r writes by itself: from SLOTS + r * SLOT on */

/* Wherever what a rank asks for is, it gets the latest bytes or is told that it cannot; what the others wrote by
 * themselves is not looked at. */
static void check_own_read(sago_file *file, const model *m, int64_t offset, int64_t length, bool must) {
    static unsigned char back[SIZE];
    MPI_Count bytes = -1;
    memset(back, 0, sizeof back);
    sago_status status = sago_read_at(file, offset, back, length, MPI_BYTE, &bytes);
    if (status == SAGO_ERR_STATE && !must) {
        CHECK(strstr(sago_error_message(), "sago_sync"));
        return;
    }
    CHECK_INT(status, SAGO_OK);
    int64_t i = offset, slots_end = SLOTS + (int64_t)ranks * SLOT, mine = SLOTS + (int64_t)rank * SLOT;
    while (i < offset + bytes &&
           (back[i - offset] == m->bytes[i] || (i >= SLOTS && i < slots_end && (i < mine || i >= mine + SLOT))))
        i++;
    CHECK_INT(i, offset + bytes);
}

static void write_alone(sago_file *file, uint64_t *seed, int64_t whose, model *m) {
    unsigned char data[SLOT];
    int64_t skip = (int64_t)(next_random(seed) % SLOT), mine = SLOTS + (int64_t)rank * SLOT + skip;
    for (int64_t k = 0; k < SLOT - skip; k++)
        data[k] = byte_of(mine + k, whose);
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
    CHECK_OK(sago_write_at(file, mine, data, SLOT - skip, MPI_BYTE, NULL));
    for (int r = 0; r < ranks; r++)
        model_put(m, SLOTS + (int64_t)r * SLOT + skip, SLOT - skip, whose);
    check_own_read(file, m, mine, SLOT - skip, true);
    uint64_t own = *seed + (uint64_t)rank;
    int64_t from = (int64_t)(next_random(&own) % SIZE);
    check_own_read(file, m, from, (int64_t)(next_random(&own) % (uint64_t)(SIZE - from)), false);
}

static void check_read(sago_file *file, const model *m) {
    static unsigned char back[SIZE];
    MPI_Count bytes = -1;
    MPI_Offset size = -1;
    sago_extent all = {0, SIZE};
    CHECK_OK(sago_read_extents_all(file, 1, &all, back, &bytes));
    CHECK_INT(bytes, m->end);
    CHECK_OK(sago_get_size(file, &size)); /* also of what others wrote by themselves */
    CHECK_INT(size, m->end);
    int64_t i = 0;
    while (i < m->end && back[i] == m->bytes[i])
        i++;
    CHECK_INT(i, m->end);
}

static void test_random(uint64_t seed) {
    static model m;
    char path[CHECK_PATH_MAX];
    sago_file *file = NULL;
    (void)snprintf(path, sizeof path, "%s", scratch("tier.data"));
    memset(&m, 0, sizeof m);
    scene = "random";
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, hints, &file));
    if (!file)
        return;
    for (int step = 1; step <= STEPS; step++)
        switch (next_random(&seed) % 11) {
        case 0:
            check_read(file, &m);
            break;
        case 1:
            CHECK_OK(sago_sync(file));
            CHECK_FILE(path, m.bytes, m.end);
            break;
        case 2:
            CHECK_OK(sago_sync_local(file));
            break;
        case 3:
            start_extents(file, &seed, step, &m);
            break;
        case 4:
        case 5:
            write_view(file, &seed, step, &m);
            break;
        case 6:
        case 7:
            write_alone(file, &seed, step, &m);
            break;
        default:
            write_extents(file, &seed, step, &m);
        }
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, m.bytes, m.end);
    CHECK_INT(tier_files(), 0);
    delete_file(path);
}

/* ---- Particular cases ---- */

static sago_file *open_tier(const char *path) { return create_hinted(path, hints); }

/* Nothing reaches the global file before it is asked for; then all of it. */
static void test_stays_local(void) {
    static model m;
    uint64_t seed = 7;
    char path[CHECK_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", scratch("stays"));
    memset(&m, 0, sizeof m);
    scene = "stays local";
    sago_file *file = open_tier(path);
    write_extents(file, &seed, 1, &m);
    write_view(file, &seed, 2, &m);
    meet();
    CHECK_INT(plain_size(path), 0);
    CHECK(tier_files() > 0);
    CHECK_OK(sago_sync_local(file));
    CHECK_INT(plain_size(path), 0);
    CHECK_INT(stats_of(file).local_writes, 2);
    CHECK_INT(stats_of(file).local_merges, 0);
    meet();
    CHECK_OK(sago_sync(file));
    CHECK_INT(stats_of(file).local_merges, 1);
    CHECK_INT(stats_of(file).routes[SAGO_ROUTE_LOCAL], 2);
    CHECK_INT(stats_of(file).collective_writes, 2);
    CHECK_FILE(path, m.bytes, m.end);
    CHECK_OK(sago_close(&file));
    delete_file(path);
}

/* Nonblocking calls see what is local, whatever comes before and after them. */
static void test_nonblocking(void) {
    enum { BLOCK = 3000 };
    static unsigned char data[2][BLOCK], back[2][BLOCK];
    char path[CHECK_PATH_MAX];
    sago_request *request[3] = {NULL, NULL, NULL};
    (void)snprintf(path, sizeof path, "%s", scratch("nonblocking"));
    scene = "nonblocking";
    sago_file *file = open_tier(path);
    int other = (rank + 1) % ranks;
    sago_extent mine = {(int64_t)BLOCK * rank, BLOCK}, theirs = {(int64_t)BLOCK * other, BLOCK};
    for (int i = 0; i < 2; i++)
        for (int64_t k = 0; k < BLOCK; k++)
            data[i][k] = byte_of(mine.offset + k, i);
    CHECK_OK(sago_write_extents_all(file, 1, &mine, data[0]));
    CHECK_OK(sago_iread_extents_all(file, 1, &theirs, back[0], &request[0]));
    CHECK_OK(sago_iwrite_extents_all(file, 1, &mine, data[1], &request[1]));
    CHECK_OK(sago_iread_extents_all(file, 1, &theirs, back[1], &request[2]));
    CHECK_OK(sago_write_extents_all(file, 1, &mine, data[0])); /* after them, in local storage again */
    for (int i = 0; i < 3; i++)
        CHECK_OK(sago_wait(&request[i], NULL));
    for (int i = 0; i < 2; i++) {
        int64_t k = 0;
        while (k < BLOCK && back[i][k] == byte_of(theirs.offset + k, i))
            k++;
        CHECK_INT(k, BLOCK);
    }
    CHECK_INT(stats_of(file).local_writes, 2);
    CHECK_INT(stats_of(file).local_merges, 1);
    CHECK_OK(
        sago_iwrite_extents_all(file, rank == 0 ? -1 : 1, &mine, data[1], &request[0])); /* wrong on one rank */
    EXPECT(sago_wait(&request[0], NULL), SAGO_ERR_ARG, "extents", 0);
    CHECK_OK(sago_close(&file));
    meet();
    CHECK_INT(plain_read(path, back[0], BLOCK, mine.offset), BLOCK);
    CHECK(memcmp(back[0], data[0], BLOCK) == 0);
    delete_file(path);
}

/* What a job that died has left goes when a file with a tier is opened; what is new, or in use, stays. */
/* A rank writes alone while what is local is merged for a nonblocking call: before any other rank has come to that
 * call, and again and again until it is done. */
static void test_alone_beside_merge(void) {
    enum { BLOCK = 4096, RUN = 8, PAGES = 200 };
    static unsigned char all[BLOCK], back[BLOCK], own[PAGES * RUN];
    sago_extent mine = {(int64_t)rank * BLOCK, BLOCK}, runs[PAGES];
    const int64_t beyond = (int64_t)ranks * BLOCK * 2 + (int64_t)rank * PAGES * RUN * 2;
    char path[CHECK_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", scratch("beside-merge"));
    scene = "alone beside a merge";
    sago_file *file = open_tier(path);
    for (int64_t round = 0; round < 20; round++) {
        sago_request *request = NULL;
        int64_t n = 0;
        int done = 0;
        memset(all, (int)(round + rank), sizeof all);
        CHECK_OK(sago_write_extents_all(file, 1, &mine, all));
        CHECK_OK(sago_iread_extents_all(file, 1, &mine, back, &request));
        for (int64_t i = 0; i < PAGES; i++)
            runs[i] = (sago_extent){beyond + i * 2 * RUN, RUN};
        memset(own, (int)(100 + round), sizeof own);
        sago_extent whole = {0, PAGES / 2 * RUN};
        CHECK_OK(sago_write_pieces(file, PAGES / 2, runs, own, 1, &whole));
        MPI_Barrier(MPI_COMM_WORLD);
        for (n = PAGES / 2; n < PAGES && !done; n++) {
            whole.length = RUN;
            CHECK_OK(sago_write_pieces(file, 1, &runs[n], own, 1, &whole));
            CHECK_OK(sago_test(&request, &done, NULL));
        }
        CHECK_OK(sago_wait(&request, NULL));
        CHECK(memcmp(all, back, sizeof all) == 0);
        memset(own, 0, sizeof own);
        MPI_Count bytes = 0;
        whole.length = n * RUN;
        if (round % 2)
            CHECK_OK(sago_sync(file));
        CHECK_OK(sago_read_pieces(file, n, runs, own, 1, &whole, &bytes));
        CHECK_INT(bytes, n * RUN);
        int64_t lost = 0;
        for (int64_t i = 0; i < n * RUN; i++)
            lost += own[i] != (unsigned char)(100 + round);
        CHECK_INT(lost, 0);
    }
    CHECK_OK(sago_close(&file));
    delete_file(path);
}

static void test_leftovers(void) {
    static const char *const names[] = {".sago-tier-0123-0", ".sago-tier-4567-0", ".sago-tier-89ab-0", "another"};
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    const bool stays[] = {false, true, true, true}; /* left, in use, new, not the tier's */
    char path[CHECK_PATH_MAX], left[4][CHECK_PATH_MAX + 40];
    int held = -1;
    (void)snprintf(path, sizeof path, "%s", scratch("leftovers"));
    scene = "leftovers";
    for (int i = 0; i < 4; i++) {
        (void)snprintf(left[i], sizeof left[i], "%s/%s", local_root, names[i]);
        if (rank > 0)
            continue;
        int fd = open(left[i], O_RDWR | O_CREAT, 0600);
        CHECK(fd >= 0 && (i == 2 || futimens(fd, old) == 0));
        if (i == 1)
            held = fd;
        else
            (void)close(fd);
    }
    if (rank == 0)
        CHECK(flock(held, LOCK_SH) == 0);
    meet();
    sago_file *file = open_tier(path), *second = NULL;
    for (int i = 0; i < 4 && rank == 0; i++)
        CHECK_INT(access(left[i], F_OK) == 0, stays[i]);
    /* Its own is locked, too, as old as it may look. */
    uint64_t seed = 11;
    static model m;
    memset(&m, 0, sizeof m);
    write_extents(file, &seed, 1, &m);
    meet();
    DIR *stream = rank == 0 ? opendir(local_root) : NULL;
    for (struct dirent *entry = stream ? readdir(stream) : NULL; entry; entry = readdir(stream))
        if (strncmp(entry->d_name, ".sago-tier-", 11) == 0 && !strstr(entry->d_name, "89ab"))
            CHECK(utimensat(dirfd(stream), entry->d_name, old, 0) == 0);
    if (stream)
        closedir(stream);
    meet();
    char path2[CHECK_PATH_MAX + 8];
    (void)snprintf(path2, sizeof path2, "%s.2", path);
    second = open_tier(path2);
    CHECK_OK(sago_close(&second));
    CHECK_OK(sago_close(&file));
    CHECK_FILE(path, m.bytes, m.end);
    meet();
    for (int i = 1; i < 4 && rank == 0; i++)
        CHECK(unlink(left[i]) == 0);
    if (held >= 0)
        (void)close(held);
    delete_file(path2);
    delete_file(path);
}

/* Independent calls: a rank sees what it wrote, and what its neighbourhood wrote without gaps; never wrong bytes.
 */
static void test_alone(void) {
    enum { BLOCK = 500 };
    static unsigned char data[BLOCK], back[BLOCK];
    char path[CHECK_PATH_MAX];
    MPI_Offset size = 0;
    (void)snprintf(path, sizeof path, "%s", scratch("alone"));
    scene = "alone";
    sago_file *file = open_tier(path);
    int next = (rank + 1) % ranks;
    int64_t mine = (int64_t)rank * BLOCK, theirs = (int64_t)next * BLOCK, own = (int64_t)(ranks + rank) * BLOCK;
    for (int64_t k = 0; k < BLOCK; k++)
        data[k] = byte_of(mine + k, 1);
    CHECK_OK(sago_write_at(file, own, data, BLOCK, MPI_BYTE, NULL)); /* nothing collective is local yet */
    CHECK_OK(sago_read_at(file, own, back, BLOCK, MPI_BYTE, NULL));
    CHECK(memcmp(back, data, BLOCK) == 0);
    CHECK_OK(sago_get_size(file, &size));
    CHECK(size >= own + BLOCK);
    sago_extent extent = {mine, BLOCK};
    CHECK_OK(sago_write_extents_all(file, 1, &extent, data));
    meet();
    CHECK_INT(plain_size(path), 0);
    CHECK_OK(sago_read_at(file, mine, back, BLOCK, MPI_BYTE, NULL));
    CHECK(memcmp(back, data, BLOCK) == 0);
    memset(back, 0, sizeof back);
    sago_status status = sago_read_at(file, theirs, back, BLOCK, MPI_BYTE, NULL);
    bool shared = strcmp(local_root, getenv("SAGO_TEST_DIR")) == 0; /* by all */
    CHECK(status == SAGO_OK || (!shared && status == SAGO_ERR_STATE));
    for (int64_t k = 0; k < BLOCK && status == SAGO_OK; k++)
        CHECK_INT(back[k], byte_of(theirs + k, 1));
    CHECK_OK(sago_sync(file));
    CHECK_INT(plain_size(path), (int64_t)2 * ranks * BLOCK);
    CHECK_OK(sago_read_at(file, theirs, back, BLOCK, MPI_BYTE, NULL));
    for (int64_t k = 0; k < BLOCK; k++)
        CHECK_INT(back[k], byte_of(theirs + k, 1));
    if (rank == 0) /* of one rank alone: merged all the same */
        CHECK_OK(sago_write_at(file, 7, data, 3, MPI_BYTE, NULL));
    EXPECT(sago_write_extents_all(file, rank == 0 ? -1 : 1, &extent, data), SAGO_ERR_ARG, "extents", 0);
    CHECK_OK(sago_set_size(file, 1000));
    CHECK_INT(plain_read(path, back, 3, 7), 3);
    for (int64_t k = 0; k < 3; k++)
        CHECK_INT(back[k], byte_of(k, 1));
    /* Every second byte: what lies between may be another's. */
    MPI_Datatype byte, second;
    MPI_Type_contiguous(1, MPI_BYTE, &byte);
    MPI_Type_create_resized(byte, 0, 2, &second);
    MPI_Type_commit(&second);
    CHECK_OK(sago_set_view(file, 2 * mine, MPI_BYTE, second));
    CHECK_OK(sago_write_at_all(file, 0, data, BLOCK, MPI_BYTE, NULL));
    CHECK_OK(sago_read_at(file, 0, back, BLOCK, MPI_BYTE, NULL));
    CHECK(memcmp(back, data, BLOCK) == 0);
    CHECK_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
    EXPECT(sago_read_at(file, 2 * mine, back, BLOCK, MPI_BYTE, NULL), SAGO_ERR_STATE, "sago_sync", -1);
    MPI_Type_free(&byte);
    MPI_Type_free(&second);
    CHECK_OK(sago_close(&file));
    delete_file(path);
}

static void test_bad_directories(void) {
    char path[CHECK_PATH_MAX], text[700];
    sago_file *file = NULL;
    (void)snprintf(path, sizeof path, "%s", scratch("bad"));
    scene = "bad directories";
    EXPECT(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, "sago_tier=local sago_local_dirs=none", &file),
           SAGO_ERR_HINT, "sago_local_dirs", -1);
    EXPECT(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, "sago_tier=local sago_local_dirs=/nowhere", &file),
           SAGO_ERR_NO_FILE, "/nowhere", 0);
    (void)snprintf(text, sizeof text, "sago_tier=local sago_local_dirs=/nowhere:%s", local_root);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file)); /* the first that can be used */
    CHECK_OK(sago_close(&file));
    CHECK_OK(open_hinted(path, MPI_MODE_RDONLY, hints, &file)); /* nothing to write: no tier */
    CHECK_INT(tier_files(), 0);
    CHECK_OK(sago_close(&file));
    delete_file(path);
}

/* Local storage that takes 256 KiB: the calls that do not fit go to the global file, in order. */
static void test_full(const char *small) {
    enum { BLOCK = 100 << 10, CALLS = 6 };
    static unsigned char data[BLOCK], back[BLOCK];
    char path[CHECK_PATH_MAX], text[700];
    sago_file *file = NULL;
    scene = "full";
    (void)snprintf(path, sizeof path, "%s", scratch("full"));
    (void)snprintf(text, sizeof text, "sago_tier=local sago_local_dirs=%s", small);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
    for (int i = 0; i < CALLS; i++) {
        sago_extent mine = {((int64_t)i * ranks + rank) * BLOCK, BLOCK};
        for (int64_t k = 0; k < BLOCK; k++)
            data[k] = byte_of(mine.offset + k, i);
        CHECK_OK(sago_write_extents_all(file, 1, &mine, data));
    }
    CHECK(stats_of(file).local_refused > 0);
    for (int i = 0; i < CALLS; i++) {
        int other = (rank + 1) % ranks;
        sago_extent theirs = {((int64_t)i * ranks + other) * BLOCK, BLOCK};
        CHECK_OK(sago_read_extents_all(file, 1, &theirs, back, NULL));
        int64_t k = 0;
        while (k < BLOCK && back[k] == byte_of(theirs.offset + k, i))
            k++;
        CHECK_INT(k, BLOCK);
    }
    CHECK_OK(sago_close(&file));
    CHECK_INT(plain_size(path), (int64_t)CALLS * ranks * BLOCK);
    delete_file(path);
}

/* ---- In the background ---- */

enum { BLOCKS = 8, LONG_BLOCK = 128 << 10, ALL_BLOCKS = BLOCKS * LONG_BLOCK };
static unsigned char slots[ALL_BLOCKS], slots_back[ALL_BLOCKS];

/* A call writes some neighbouring slots, each by one rank or by none. */
static void write_slots(sago_file *file, uint64_t *seed, int version) {
    sago_extent mine[BLOCKS];
    static unsigned char data[ALL_BLOCKS];
    int64_t n = 0, bytes = 0, first = (int64_t)next_random(seed) % BLOCKS;
    int64_t end = first + 1 + (int64_t)next_random(seed) % (BLOCKS - first);
    for (int64_t slot = first; slot < end; slot++) {
        int whose = (int)(next_random(seed) % ((uint64_t)ranks + 1));
        for (int64_t i = slot * LONG_BLOCK; whose < ranks && i < (slot + 1) * LONG_BLOCK; i++)
            slots[i] = byte_of(i, version);
        if (whose != rank)
            continue;
        mine[n++] = (sago_extent){slot * LONG_BLOCK, LONG_BLOCK};
        memcpy(data + bytes, slots + slot * LONG_BLOCK, LONG_BLOCK);
        bytes += LONG_BLOCK;
    }
    CHECK_OK(sago_write_extents_all(file, n, mine, data));
}

/* Overlapping calls in any order, drained at any time: the later call wins. */
static void test_background_random(uint64_t seed) {
    char path[CHECK_PATH_MAX], text[700];
    sago_file *file = NULL;
    sago_extent all = {0, ALL_BLOCKS};
    (void)snprintf(path, sizeof path, "%s", scratch("background"));
    (void)snprintf(text, sizeof text, "%s sago_tier_drain=background", hints);
    scene = "drained in the background";
    memset(slots, 0, sizeof slots);
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
    CHECK_OK(sago_set_size(file, ALL_BLOCKS));
    for (int step = 1; step < 40; step++) {
        uint64_t what = next_random(&seed) % 12;
        int64_t own = (int64_t)(next_random(&seed) % BLOCKS) * LONG_BLOCK;
        int whose = (int)(next_random(&seed) % (uint64_t)ranks);
        if (what < 6) {
            write_slots(file, &seed, step);
        } else if (what < 10) {
            CHECK_OK(sago_sync_local(file));
        } else if (what == 10) {
            for (int64_t i = own; i < own + LONG_BLOCK; i++)
                slots[i] = byte_of(i, step);
            if (whose == rank)
                CHECK_OK(sago_write_at(file, own, slots + own, LONG_BLOCK, MPI_BYTE, NULL));
        } else {
            CHECK_OK(sago_read_extents_all(file, 1, &all, slots_back, NULL));
            CHECK(memcmp(slots, slots_back, ALL_BLOCKS) == 0);
        }
    }
    CHECK_OK(sago_close(&file));
    meet();
    if (rank == 0) {
        int fd = open(path, O_RDONLY);
        CHECK_INT(pread(fd, slots_back, ALL_BLOCKS, 0), ALL_BLOCKS);
        CHECK(memcmp(slots, slots_back, ALL_BLOCKS) == 0);
        close(fd);
        unlink(path);
    }
    CHECK_INT(tier_files(), 0);
    meet();
}

/* After sago_sync_local() nobody calls anything, and the data comes to the global file; what was written to the
 * same place meanwhile comes with the next call that moves it. */
static void test_background(void) {
    char path[CHECK_PATH_MAX], text[700];
    sago_file *file = NULL;
    sago_extent mine = {rank * (int64_t)LONG_BLOCK, LONG_BLOCK};
    static unsigned char data[LONG_BLOCK], seen[LONG_BLOCK];
    sago_stats stats = SAGO_STATS_INIT;
    (void)snprintf(path, sizeof path, "%s", scratch("background"));
    (void)snprintf(text, sizeof text, "%s sago_tier_drain=background", hints);
    scene = "comes by itself";
    CHECK_OK(open_hinted(path, MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
    for (int64_t i = 0; i < LONG_BLOCK; i++)
        data[i] = byte_of(i, rank);
    CHECK_OK(sago_write_extents_all(file, 1, &mine, data));
    CHECK_OK(sago_sync_local(file));
    int fd = open(path, O_RDONLY);
    while (pread(fd, seen, LONG_BLOCK, mine.offset) != LONG_BLOCK || memcmp(seen, data, LONG_BLOCK) != 0)
        usleep(1000); /* for as long as the test may take */
    CHECK_OK(sago_get_stats(file, &stats));
    CHECK_INT(stats.local_merges, 0);
    memset(data, 7, LONG_BLOCK);
    CHECK_OK(sago_write_extents_all(file, 1, &mine, data));
    CHECK_OK(sago_sync_local(file));
    CHECK_OK(sago_sync(file));
    CHECK_INT(pread(fd, seen, LONG_BLOCK, mine.offset), LONG_BLOCK);
    CHECK(memcmp(seen, data, LONG_BLOCK) == 0);
    close(fd);
    CHECK_OK(sago_close(&file));
    meet();
    if (rank == 0)
        unlink(path);
    meet();
}

static atomic_bool held; /* the thread of this rank that drains is in its first write to the file */
static atomic_bool released;
static char held_path[CHECK_PATH_MAX];

static int hold_write(void *arg, const sagoi_file_op *op, int64_t *len) {
    (void)arg, (void)len;
    if (op->kind == SAGOI_OP_WRITE && strcmp(op->path, held_path) == 0 && !atomic_exchange(&held, true))
        while (!atomic_load(&released))
            usleep(1000);
    return 0;
}

/* Rank 0's thread is slow: it has read what its rank wrote first, when another rank writes to the same place, and
 * syncs. That must come later in the file. */
static void test_background_order(void) {
    char text[700];
    sago_file *file = NULL;
    sago_extent block = {0, LONG_BLOCK};
    static unsigned char data[LONG_BLOCK], seen[LONG_BLOCK];
    static const file_hooks slow = {.before = hold_write};
    if (ranks == 1)
        return;
    (void)snprintf(held_path, sizeof held_path, "%s", scratch("order"));
    (void)snprintf(text, sizeof text, "%s sago_tier_drain=background", hints);
    scene = "a slow thread";
    atomic_store(&held, false);
    atomic_store(&released, false);
    CHECK_OK(open_hinted(held_path, MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
    if (rank == 0)
        inject_file_hooks(&slow);
    memset(data, rank + 1, sizeof data);
    CHECK_OK(sago_write_extents_all(file, rank == 0, &block, data));
    CHECK_OK(sago_sync_local(file));
    while (rank == 0 && !atomic_load(&held))
        usleep(1000);
    meet();
    CHECK_OK(sago_write_extents_all(file, rank == 1, &block, data));
    CHECK_OK(sago_sync_local(file));
    meet();
    usleep(100000); /* for a thread that does not wait for its turn */
    atomic_store(&released, true);
    CHECK_OK(sago_close(&file));
    inject_file_hooks(NULL);
    meet();
    int fd = open(held_path, O_RDONLY);
    CHECK_INT(pread(fd, seen, sizeof seen, 0), LONG_BLOCK);
    for (int64_t i = 0; i < LONG_BLOCK; i += 1000)
        CHECK_INT(seen[i], 2);
    close(fd);
    meet();
    if (rank == 0)
        unlink(held_path);
    meet();
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    int seeds = argc > 1 ? atoi(argv[1]) : 20;
    const char *const roots[] = {getenv("SAGO_CLUSTER_SCRATCH"), getenv("SAGO_CLUSTER_RACK"),
                                 getenv("SAGO_TEST_DIR")};
    for (int i = 0; i < 3; i++) {
        local_root = roots[i];
        if (!local_root)
            continue;
        for (int seed = 1; seed <= seeds && sum_everywhere(failures) == 0; seed++) {
            choose_local(local_root, seed % 2 ? "4K" : "auto");
            test_random((uint64_t)seed + 1000u * (uint64_t)i);
        }
        test_stays_local();
        test_background();
        if (i == 2)
            test_background_order();
        for (int seed = 1; seed <= seeds && sum_everywhere(failures) == 0; seed++)
            test_background_random((uint64_t)seed);
        test_nonblocking();
        test_alone_beside_merge();
        if (i == 2) /* on one machine: elsewhere local storage may not be rank 0's */
            test_leftovers();
        test_alone();
        test_bad_directories();
    }
    if (getenv("SAGO_TEST_SMALL"))
        test_full(getenv("SAGO_TEST_SMALL"));
    return check_end();
}
