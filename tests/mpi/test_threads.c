/* RUN: n=2 threads=4 files=60 */
/* RUN: n=3 threads=2 files=40 */
/* RUN: n=2 threads=3 files=30 openers */
/* RUN-LONG: n=2 threads=8 files=4000 */
/* RUN-LONG: n=3 threads=4 files=2000 openers */
/* RUN-LONG: n=4 threads=4 files=2000 */
/* MPI_THREAD_MULTIPLE: one thread opens file after file on one communicator, the others use them, each its own,
 * and close them meanwhile, by every kind of call, with datatypes that all share.
 *
 * All opens are one thread's, since they are collective calls of one communicator; or, with `openers`, every
 * thread opens its own files, on a communicator of its own of the same ranks, while the others do. */
#include "check.h"

enum { THREADS_MAX = 8, N = 3000, TYPES = 3, QUEUE = 2 };

typedef struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sago_file *queue[QUEUE]; /* files to be used and closed, in order; NULL: none */
    bool alone[QUEUE];       /* of one rank */
    int first, waiting;
    bool end;
    MPI_Comm comm;     /* MPI_COMM_NULL: it opens no files */
    int number, files; /* of this thread; to be opened by it */
    int wrong;
    char why[512]; /* the first failure */
} worker;

static MPI_Datatype types[TYPES]; /* flattened by whoever is first */
static char folder[512];          /* and the first letters of the names of files that threads open */

/* No CHECK in the threads: its counter is the main thread's. */
static void judge(worker *me, bool right, const char *what, int line) {
    if (!right && me->wrong++ == 0)
        (void)snprintf(me->why, sizeof me->why, "line %d: %.200s: %.250s", line, what, sago_error_message());
}
#define EXPECT_OK(call) judge(me, (call) == SAGO_OK, #call, __LINE__)
#define EXPECT_TRUE(condition) judge(me, (condition), #condition, __LINE__)

/* Parts with gaps, side by side. */
static void use_views(worker *me, sago_file *file, int place, int number) {
    unsigned char mine[N], back[N] = {0};
    MPI_Datatype type = types[number % TYPES];
    for (int i = 0; i < N; i++)
        mine[i] = (unsigned char)(i * 7 + place * 3 + number);
    EXPECT_OK(sago_set_view(file, 0, MPI_BYTE, type));
    EXPECT_OK(sago_write_at_all(file, (MPI_Offset)place * N, mine, N, MPI_BYTE, NULL));
    EXPECT_OK(sago_read_at_all(file, (MPI_Offset)place * N, back, N, MPI_BYTE, NULL));
    EXPECT_TRUE(memcmp(mine, back, N) == 0);
    EXPECT_OK(sago_set_view(file, 0, MPI_BYTE, MPI_BYTE));
}

static void use_nonblocking(worker *me, sago_file *file, int place, int places, int number) {
    unsigned char mine[2][N], back[2][N] = {{0}};
    sago_request *requests[2] = {NULL, NULL};
    const MPI_Offset from = 1 << 20;
    memset(mine[0], number + place, N);
    memset(mine[1], number - place, N);
    for (int i = 0; i < 2; i++)
        EXPECT_OK(sago_iwrite_at_all(file, from + (MPI_Offset)(i * places + place) * N, mine[i], N, MPI_BYTE,
                                     &requests[i]));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(sago_wait(&requests[i], NULL));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(sago_iread_at_all(file, from + (MPI_Offset)(i * places + place) * N, back[i], N, MPI_BYTE,
                                    &requests[i]));
    for (int i = 0, done = 0; i < 2; i += done) {
        EXPECT_OK(sago_test(&requests[i], &done, NULL));
        if (!done)
            (void)usleep(50);
    }
    EXPECT_TRUE(memcmp(mine, back, sizeof mine) == 0);
}

static void use_others(worker *me, sago_file *file, int place, int places, int number) {
    unsigned char mine[N], back[N] = {0};
    const MPI_Offset from = 2 << 20;
    sago_extent extent = {from + (int64_t)place * N, N};
    sago_var var = SAGO_VAR_INIT;
    sago_series *series = NULL;
    sago_stats stats = {.size = sizeof stats};
    MPI_Offset size = 0;
    memset(mine, 5 * number + place, N);
    EXPECT_OK(sago_write_at(file, from + (MPI_Offset)place * N, mine, N, MPI_BYTE, NULL));
    EXPECT_OK(sago_read_extents_all(file, 1, &extent, back, NULL));
    EXPECT_TRUE(memcmp(mine, back, N) == 0);
    var.offset = from + (MPI_Offset)(places + place) * N;
    var.count = N;
    EXPECT_OK(sago_declare(file, 1, &var, &series));
    EXPECT_OK(sago_series_write(series, 0, mine));
    EXPECT_OK(sago_series_complete(series));
    EXPECT_OK(sago_series_free(&series));
    EXPECT_OK(sago_sync(file));
    EXPECT_OK(sago_get_size(file, &size));
    EXPECT_TRUE(size >= from + (MPI_Offset)(places + place + 1) * N);
    EXPECT_OK(sago_get_stats(file, &stats));
}

static void use(worker *me, sago_file *file, bool alone, int number) {
    int place = alone ? 0 : rank, places = alone ? 1 : ranks;
    use_views(me, file, place, number);
    use_nonblocking(me, file, place, places, number);
    use_others(me, file, place, places, number);
    EXPECT_OK(sago_close(&file));
}

/* The next file of the queue; NULL: there are no more. */
static sago_file *next_file(worker *me, bool *alone) {
    (void)pthread_mutex_lock(&me->lock);
    while (me->waiting == 0 && !me->end)
        (void)pthread_cond_wait(&me->changed, &me->lock);
    sago_file *file = me->waiting > 0 ? me->queue[me->first] : NULL;
    *alone = me->alone[me->first];
    (void)pthread_mutex_unlock(&me->lock);
    return file;
}

static MPI_Info hints_for(int number) {
    return hints_of(number % 3 == 0 ? "sago_strategy=aggregated sago_memory=4M" : "");
}

/* Opens its own: the order of opens differs between ranks. */
static void *open_and_work(void *arg) {
    worker *me = arg;
    for (int i = 0; i < me->files; i++) {
        char path[1024];
        sago_file *file = NULL;
        MPI_Info info = hints_for(i);
        (void)snprintf(path, sizeof path, "%s-%d-%d", folder, me->number, i);
        EXPECT_OK(
            sago_open(me->comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, info, &file));
        if (info != MPI_INFO_NULL)
            MPI_Info_free(&info);
        if (!file)
            break;
        use(me, file, false, i);
    }
    return NULL;
}

static void *work(void *arg) {
    worker *me = arg;
    bool alone;
    sago_file *file;
    for (int number = 0; (file = next_file(me, &alone)) != NULL; number++) {
        use(me, file, alone, number);
        (void)pthread_mutex_lock(&me->lock);
        me->first = (me->first + 1) % QUEUE;
        me->waiting--;
        (void)pthread_cond_signal(&me->changed);
        (void)pthread_mutex_unlock(&me->lock);
    }
    return NULL;
}

/* file NULL: that was all. */
static void hand_over(worker *to, sago_file *file, bool alone) {
    (void)pthread_mutex_lock(&to->lock);
    while (to->waiting == QUEUE)
        (void)pthread_cond_wait(&to->changed, &to->lock);
    int place = (to->first + to->waiting) % QUEUE;
    to->queue[place] = file;
    to->alone[place] = alone;
    to->waiting += file != NULL;
    to->end = !file;
    (void)pthread_cond_signal(&to->changed);
    (void)pthread_mutex_unlock(&to->lock);
}

static void make_types(void) {
    int lengths[64], places[64];
    for (int t = 0; t < TYPES; t++) {
        for (int i = 0; i < 64; i++) {
            lengths[i] = 1 + (i + t) % 5;
            places[i] = i * 9 + t;
        }
        MPI_Type_indexed(64, lengths, places, MPI_BYTE, &types[t]);
        MPI_Type_commit(&types[t]);
    }
}

static sago_file *open_next(int number, bool alone) {
    char name[64];
    sago_file *file = NULL;
    MPI_Info info = hints_for(number);
    if (alone)
        (void)snprintf(name, sizeof name, "own-%d-%d", rank, number);
    else
        (void)snprintf(name, sizeof name, "common-%d", number);
    CHECK_OK(sago_open(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, scratch(name),
                       MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return file;
}

static void start(worker *one, int number, int files, bool opens) {
    one->number = number;
    one->files = files;
    one->comm = MPI_COMM_NULL;
    if (opens)
        MPI_Comm_dup(MPI_COMM_WORLD, &one->comm);
    (void)pthread_mutex_init(&one->lock, NULL);
    (void)pthread_cond_init(&one->changed, NULL);
}

static void finish(worker *one) {
    if (one->comm == MPI_COMM_NULL)
        hand_over(one, NULL, false);
    (void)pthread_join(one->thread, NULL);
    scene = one->why;
    CHECK_INT(one->wrong, 0);
    if (one->comm != MPI_COMM_NULL)
        MPI_Comm_free(&one->comm);
}

int main(int argc, char **argv) {
    static worker workers[THREADS_MAX];
    int threads = 4, files = 20, level = 0;
    bool openers = false;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    check_ready();
    if (level < MPI_THREAD_MULTIPLE)
        return check_skip("this MPI has no MPI_THREAD_MULTIPLE");
    for (int i = 1; i < argc; i++) {
        openers = openers || strcmp(argv[i], "openers") == 0;
        if (sscanf(argv[i], "threads=%d", &threads) != 1)
            (void)sscanf(argv[i], "files=%d", &files);
    }
    (void)snprintf(folder, sizeof folder, "%s", scratch("of"));
    make_types();
    for (int i = 0; i < threads; i++)
        start(&workers[i], i, files / threads, openers);
    for (int i = 0; i < threads; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, openers ? open_and_work : work, &workers[i]) == 0);
    for (int i = 0; !openers && i < files && failures == 0; i++)
        hand_over(&workers[i % threads], open_next(i, i % 4 == 3), i % 4 == 3);
    for (int i = 0; i < threads; i++)
        finish(&workers[i]);
    for (int t = 0; t < TYPES; t++)
        MPI_Type_free(&types[t]);
    return check_end();
}
