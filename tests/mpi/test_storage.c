/* RUN: n=1,4 60 */
/* Storage neighbourhoods: every mode against what is known of the directories, bad input, faults in every file
 * operation, and nothing left behind.
 *
 *   test_storage [LAYOUTS]        random layouts of sharing, default 200
 *
 * Ranks are given directories of their own choice, some of them the same, which is sharing of any shape on any
 * machine.  On the virtual cluster (tests/cluster/test_cluster_storage.sh) directories are also private to a node
 * or shared by a rack, by mounts. */
#include "check.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

#include "neighbourhood/neighbourhood.h"
#include "neighbourhood/probe_files.h"
#include "support/inject.h"
#include "support/random.h"

enum { CHOICES = 5, KINDS = 3 };

static const sago_storage_mode modes[] = {SAGO_STORAGE_AUTO, SAGO_STORAGE_EXHAUSTIVE, SAGO_STORAGE_HEURISTIC};
static const char *const mode_names[] = {"auto", "exhaustive", "heuristic"};
enum { MODES = 3 };

/* ---- Where the ranks are, and what they see ---- */

static int node_of[CHECK_RANKS_MAX]; /* the number in the host name on the cluster, else 0 */

static void find_nodes(void) {
    char host[64] = "";
    (void)gethostname(host, sizeof host - 1);
    together->values[rank] = getenv("SAGO_CLUSTER_NODES") ? strtol(host + 1, NULL, 10) : 0;
    meet();
    for (int i = 0; i < ranks; i++)
        node_of[i] = (int)together->values[i];
    meet();
}

/* The directories a rank may be given: kind 0 seen by all, 1 by the rack (nodes 1 and 2, 3 and 4, ...), 2 private
 * to the node.  On one machine all are of kind 0. */
static const char *place(int kind, int choice) {
    static const char *const variables[KINDS] = {"SAGO_TEST_DIR", "SAGO_CLUSTER_RACK", "SAGO_CLUSTER_SCRATCH"};
    static char path[CHECK_PATH_MAX];
    const char *root = getenv(variables[kind]);
    (void)snprintf(path, sizeof path, "%s/place%d", root ? root : ".", choice);
    return path;
}

static int identity(int kind, int choice, int of_rank) {
    int who = kind == 0 ? 0 : kind == 1 ? (node_of[of_rank] + 1) / 2 : node_of[of_rank];
    return (kind * 100 + who) * 10 + choice;
}

static bool on_cluster(void) { return node_of[0] != 0; }

static void make_places(void) {
    for (int kind = 0; kind < (on_cluster() ? KINDS : 1); kind++)
        for (int choice = 0; choice < CHOICES; choice++)
            CHECK(mkdir(place(kind, choice), 0700) == 0 || errno == EEXIST);
    meet();
}

/* A layout: what each rank sees, as a number. */
typedef struct sharing {
    int seen[CHECK_RANKS_MAX];
} sharing;

static sharing same_for_all(int kind, int choice) {
    sharing all;
    for (int i = 0; i < ranks; i++)
        all.seen[i] = identity(kind, choice, i);
    return all;
}

/* The lowest rank of each rank's neighbourhood. */
static void right_answer(const sharing *layout, int first[]) {
    for (int i = 0; i < ranks; i++)
        for (first[i] = 0; layout->seen[first[i]] != layout->seen[i];)
            first[i]++;
}

/* What paper 003 says of its heuristic: the first rank of the second node decides. */
static void heuristic_answer(const sharing *layout, int first[]) {
    int challenged = 0;
    while (challenged < ranks && node_of[challenged] == node_of[0])
        challenged++;
    bool global = challenged == ranks || layout->seen[challenged] == layout->seen[0];
    for (int i = 0; i < ranks; i++)
        for (first[i] = 0; !global && node_of[first[i]] != node_of[i];)
            first[i]++;
}

/* ---- Checking a split ---- */

static int entries_in(const char *dir) {
    DIR *stream = opendir(dir);
    int count = 0;
    if (!stream)
        return 0;
    for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

static void check_clean(const char *dir) {
    meet();
    CHECK_INT(entries_in(dir), 0);
    meet();
}

/* The communicator has the ranks it should have, in the order of the keys, which run backwards. */
static void check_members(MPI_Comm comm, const int first[]) {
    MPI_Group world, mine;
    int size = 0, at = 0, wanted[CHECK_RANKS_MAX], is[CHECK_RANKS_MAX], all[CHECK_RANKS_MAX], shared = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comm, &mine);
    MPI_Comm_size(comm, &size);
    for (int i = ranks - 1; i >= 0; i--)
        if (first[i] == first[rank])
            wanted[at++] = i;
    CHECK_INT(size, at);
    for (int i = 0; i < size; i++)
        all[i] = i;
    MPI_Group_translate_ranks(mine, size, all, world, is);
    for (int i = 0; i < size && i < at; i++)
        CHECK_INT(is[i], wanted[i]);
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < ranks; j++) {
            CHECK_OK(sago_storage_shared(comm, i, j, &shared));
            CHECK_INT(shared, first[i] == first[j]);
        }
    MPI_Group_free(&world);
    MPI_Group_free(&mine);
}

static sago_storage_stats check_split(const char *dir, sago_storage_mode mode, const int first[]) {
    sago_storage_stats stats = SAGO_STORAGE_STATS_INIT;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_OK(sago_comm_split_storage(MPI_COMM_WORLD, dir, mode, ranks - rank, &comm));
    if (comm == MPI_COMM_NULL)
        return stats;
    check_members(comm, first);
    CHECK_OK(sago_storage_get_stats(comm, &stats));
    MPI_Comm_free(&comm);
    check_clean(dir);
    return stats;
}

static void check_layout(const char *dir, const sharing *layout) {
    int right[CHECK_RANKS_MAX], guessed[CHECK_RANKS_MAX], groups = 0;
    right_answer(layout, right);
    heuristic_answer(layout, guessed);
    for (int i = 0; i < ranks; i++)
        groups += right[i] == i;
    for (int i = 0; i < MODES; i++) {
        bool exact = modes[i] != SAGO_STORAGE_HEURISTIC;
        scene = mode_names[i];
        sago_storage_stats stats = check_split(dir, modes[i], exact ? right : guessed);
        CHECK(!exact || stats.neighbourhoods == groups);
    }
}

/* ---- Scenes ---- */

static void test_one_directory(void) {
    for (int kind = 0; kind < (on_cluster() ? KINDS : 1); kind++) {
        sharing layout = same_for_all(kind, 0);
        check_layout(place(kind, 0), &layout);
    }
}

/* What each mode costs on a directory that all see. */
static void test_counts(void) {
    int zeros[CHECK_RANKS_MAX] = {0}, nodes = 0;
    for (int i = 0; i < ranks; i++)
        nodes += i == 0 || node_of[i] != node_of[i - 1];
    scene = "counts";
    sago_storage_stats cost = check_split(place(0, 0), SAGO_STORAGE_AUTO, zeros);
    CHECK_INT(cost.probers, nodes);
    CHECK_INT(cost.opens, ranks);
    CHECK_INT(cost.checks, 2 * ranks);
    CHECK_INT(cost.creates, 1);
    CHECK_INT(cost.looks, nodes - 1);
    CHECK_INT(cost.lists, 0);
    CHECK_INT(cost.removes, 1);
    cost = check_split(place(0, 0), SAGO_STORAGE_EXHAUSTIVE, zeros);
    CHECK_INT(cost.probers, ranks);
    CHECK_INT(cost.opens, 2 * ranks);
    CHECK_INT(cost.creates, 2 * ranks);
    CHECK_INT(cost.looks, 0);
    CHECK_INT(cost.lists, ranks);
    CHECK_INT(cost.removes, ranks + 1);
    cost = check_split(place(0, 0), SAGO_STORAGE_HEURISTIC, zeros);
    CHECK_INT(cost.probers, nodes > 1 ? 2 : 1);
    CHECK_INT(cost.checks, 0);
    CHECK_INT(cost.creates, 1);
    CHECK_INT(cost.looks, 1);
    CHECK_INT(cost.lists, 0);
    CHECK_INT(cost.removes, 1);
}

/* Without making communicators, which take an MPI library many times as long. */
static void check_discovery(sagoi_team *team, const char *dir, const sharing *layout) {
    int right[CHECK_RANKS_MAX], guessed[CHECK_RANKS_MAX];
    right_answer(layout, right);
    heuristic_answer(layout, guessed);
    for (int i = 0; i < MODES; i++) {
        int first = -1;
        sago_storage_stats stats;
        scene = mode_names[i];
        CHECK_INT(sagoi_storage_discover(team, dir, modes[i], &first, &stats), SAGO_OK);
        CHECK_INT(first, (modes[i] == SAGO_STORAGE_HEURISTIC ? guessed : right)[rank]);
        check_clean(dir);
    }
}

static void test_random_layouts(int count) {
    uint64_t seed = 42;
    sagoi_team *team = NULL;
    CHECK_OK(sagoi_team_acquire(MPI_COMM_WORLD, &team));
    for (int i = 0; i < count && sum_everywhere(failures) == 0; i++) {
        int choices = 1 + (int)(next_random(&seed) % CHOICES);
        int kinds = on_cluster() ? 1 + (int)next_random(&seed) % KINDS : 1;
        sharing layout;
        char mine[CHECK_PATH_MAX] = "";
        for (int j = 0; j < ranks; j++) {
            int kind = (int)next_random(&seed) % kinds, choice = (int)next_random(&seed) % choices;
            layout.seen[j] = identity(kind, choice, j);
            if (j == rank)
                (void)snprintf(mine, sizeof mine, "%s", place(kind, choice));
        }
        check_discovery(team, mine, &layout);
    }
    sagoi_team_release(team);
}

static void expect_failure(const char *dir, sago_storage_mode mode, sago_status wanted, const char *word,
                           int blamed) {
    MPI_Comm comm = MPI_COMM_WORLD;
    EXPECT(sago_comm_split_storage(MPI_COMM_WORLD, dir, mode, 0, &comm), wanted, word, blamed);
    CHECK(comm == MPI_COMM_NULL);
    meet();
}

static void test_bad_directories(void) {
    char good[CHECK_PATH_MAX];
    (void)snprintf(good, sizeof good, "%s", place(0, 0));
    int last = ranks - 1, before = open_descriptors();
    const char *missing = scratch("missing"), *file = scratch("file");
    plain_write(file, "x", 1);
    for (int i = 0; i < MODES; i++) {
        bool exact = modes[i] != SAGO_STORAGE_HEURISTIC;
        scene = mode_names[i];
        expect_failure(missing, modes[i], SAGO_ERR_NO_FILE, "missing", 0);
        expect_failure(file, modes[i], SAGO_ERR_NO_FILE, "file", 0);
        if (!exact)
            continue;
        expect_failure(rank == last ? missing : good, modes[i], SAGO_ERR_NO_FILE, "missing", last);
        check_clean(good);
    }
    CHECK_INT(open_descriptors(), before);
}

static void test_bad_arguments(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    const char *dir = place(0, 0);
    int last = ranks - 1, shared = 0;
    scene = "bad arguments";
    expect_failure(rank == last ? NULL : dir, SAGO_STORAGE_AUTO, SAGO_ERR_ARG, "directory", last);
    expect_failure(rank == last ? "" : dir, SAGO_STORAGE_AUTO, SAGO_ERR_ARG, "empty", last);
    expect_failure(dir, rank == last ? (sago_storage_mode)7 : SAGO_STORAGE_AUTO, SAGO_ERR_ARG, "mode", last);
    if (ranks > 1)
        expect_failure(dir, rank == last ? SAGO_STORAGE_EXHAUSTIVE : SAGO_STORAGE_AUTO, SAGO_ERR_MISMATCH, "modes",
                       -1);
    EXPECT(sago_comm_split_storage(MPI_COMM_WORLD, dir, SAGO_STORAGE_AUTO, 0, rank == last ? NULL : &comm),
           SAGO_ERR_ARG, "NULL", last);
    EXPECT(sago_comm_split_storage(MPI_COMM_NULL, dir, SAGO_STORAGE_AUTO, 0, &comm), SAGO_ERR_ARG, "MPI_COMM_NULL",
           -1);
    EXPECT(sago_storage_shared(MPI_COMM_WORLD, 0, 0, &shared), SAGO_ERR_ARG, "split by storage", -1);
    CHECK_OK(sago_comm_split_storage(MPI_COMM_WORLD, dir, SAGO_STORAGE_AUTO, 0, &comm));
    EXPECT(sago_storage_shared(comm, 0, ranks, &shared), SAGO_ERR_ARG, "not one of", -1);
    EXPECT(sago_storage_shared(comm, -1, 0, &shared), SAGO_ERR_ARG, "not one of", -1);
    EXPECT(sago_storage_shared(comm, 0, 0, NULL), SAGO_ERR_ARG, "answer", -1);
    EXPECT(sago_storage_get_stats(comm, NULL), SAGO_ERR_ARG, "NULL", -1);
    MPI_Comm_free(&comm);
    check_clean(dir);
}

/* ---- Faults ---- */

/* A call of a probe: of the directory, or of the folder in it. */
typedef struct moment {
    const char *name;
    sagoi_op_kind kind;
    bool folder;
} moment;

static const moment opening = {"open", SAGOI_OP_OPEN, false}, looking = {"stat", SAGOI_OP_FSTAT, false},
                    asking = {"access", SAGOI_OP_ACCESS, false}, creating = {"create", SAGOI_OP_CREATE, false},
                    making = {"mkdir", SAGOI_OP_MKDIR, true}, entering = {"open folder", SAGOI_OP_OPEN, true},
                    owning = {"owner", SAGOI_OP_FSTAT, true}, listing = {"list", SAGOI_OP_LIST, false};

typedef struct accident {
    const moment *when;
    int error;               /* to fail with, or 0 */
    const char *vanish, *to; /* else the directory to be removed, or renamed */
    int times;               /* it has come to it */
} accident;

static bool is_now(const accident *fault, const sagoi_file_op *op) {
    size_t len = strlen(op->path);
    bool folder = len > 2 && strstr(op->path, ".sago-") && strcmp(op->path + len - 2, ".d") == 0;
    return op->kind == fault->when->kind && folder == fault->when->folder;
}

static int on_operation(void *arg, const sagoi_file_op *op, int64_t *unused) {
    accident *fault = arg;
    (void)unused;
    if (!is_now(fault, op) || fault->times++ > 0)
        return 0;
    if (fault->vanish && fault->to)
        CHECK(rename(fault->vanish, fault->to) == 0);
    return fault->error;
}

/* Which of the moments below rank 0, rank 1 and the others come to, if all are on one machine.  (auto: rank 1
 * probes for the second directory, and the others only look.) */
enum { MOMENTS = 8 };
static const char met_by[MODES][3][MOMENTS + 1] = {{"xxxx....", "xxxxxxxx", "xxx....."},
                                                   {"xxxxxxxx", "xxxxxxxx", "xxxxxxxx"},
                                                   {"x..x....", "........", "........"}};

/* One rank fails in one operation: all fail, say so, and leave nothing. */
static void test_faults(void) {
    static const moment *const moments[MOMENTS] = {&opening, &looking,  &asking, &creating,
                                                   &making,  &entering, &owning, &listing};
    char dir[CHECK_PATH_MAX];
    (void)snprintf(dir, sizeof dir, "%s", place(0, rank % 2)); /* two neighbourhoods: auto comes to listing */
    for (int mode = 0; mode < MODES; mode++)
        for (size_t i = 0; i < MOMENTS; i++)
            for (int who = 0; who < 3 && who < ranks; who++) {
                int culprit = who < 2 ? who : ranks - 1;
                accident fault = {.when = moments[i], .error = EIO};
                file_hooks hooks = {.before = on_operation, .arg = &fault, .all = true};
                MPI_Comm comm = MPI_COMM_WORLD;
                scene = moments[i]->name;
                inject_file_hooks(rank == culprit ? &hooks : NULL);
                sago_status status = sago_comm_split_storage(MPI_COMM_WORLD, dir, modes[mode], 0, &comm);
                inject_file_hooks(NULL);
                bool met = sum_everywhere(fault.times) > 0,
                     lenient = modes[mode] == SAGO_STORAGE_HEURISTIC && culprit != 0;
                if (!on_cluster())
                    CHECK_INT(met, met_by[mode][who][i] == 'x');
                if (met && !lenient) {
                    EXPECT(status, SAGO_ERR_IO, dir[0] ? "place" : "", culprit);
                    CHECK(comm == MPI_COMM_NULL);
                } else {
                    CHECK_OK(status);
                    if (comm != MPI_COMM_NULL)
                        MPI_Comm_free(&comm);
                }
                check_clean(dir);
            }
}

/* Others may be making files in it meanwhile, so that it is not empty when its turn comes. */
static void remove_tree(const char *dir) {
    enum { TRIES = 100 };
    char command[CHECK_PATH_MAX + 32];
    (void)snprintf(command, sizeof command, "rm -rf '%s' 2>/dev/null", dir);
    bool removed = false;
    for (int i = 0; i < TRIES && !removed; i++)
        removed = system(command) == 0;
    CHECK(removed);
}

static int remove_before(void *arg, const sagoi_file_op *op, int64_t *unused) {
    const accident *fault = arg;
    (void)unused;
    if (is_now(fault, op))
        remove_tree(fault->vanish);
    return 0;
}

/* Somebody removes, or renames, the directory under way. */
static void test_vanishing(void) {
    static const moment *const moments[] = {&looking, &creating, &making, &listing};
    char dir[CHECK_PATH_MAX], moved[CHECK_PATH_MAX];
    (void)snprintf(dir, sizeof dir, "%s", scratch("vanishing"));
    (void)snprintf(moved, sizeof moved, "%s", scratch("moved"));
    for (int mode = 0; mode < 2; mode++)
        for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
            accident fault = {.when = moments[i], .vanish = dir};
            file_hooks hooks = {.before = remove_before, .arg = &fault, .all = true};
            MPI_Comm comm = MPI_COMM_WORLD;
            scene = moments[i]->name;
            if (rank == 0)
                CHECK(mkdir(dir, 0700) == 0);
            meet();
            inject_file_hooks(rank == 0 ? &hooks : NULL);
            sago_status status = sago_comm_split_storage(MPI_COMM_WORLD, dir, modes[mode], 0, &comm);
            inject_file_hooks(NULL);
            bool gone = access(dir, F_OK) != 0;
            CHECK(same_everywhere(status));
            CHECK(gone ? status == SAGO_ERR_NO_FILE && comm == MPI_COMM_NULL : status == SAGO_OK);
            if (comm != MPI_COMM_NULL)
                MPI_Comm_free(&comm);
            meet();
            if (rank == 0)
                remove_tree(dir);
            meet();
        }
    for (int mode = 0; mode < 2; mode++) { /* its descriptors follow a directory that moves */
        accident fault = {.when = &creating, .vanish = dir, .to = moved};
        file_hooks hooks = {.before = on_operation, .arg = &fault, .all = true};
        MPI_Comm comm = MPI_COMM_NULL;
        scene = "renamed";
        if (rank == 0)
            CHECK(mkdir(dir, 0700) == 0);
        meet();
        inject_file_hooks(rank == 0 ? &hooks : NULL);
        sago_status status = sago_comm_split_storage(MPI_COMM_WORLD, dir, modes[mode], 0, &comm);
        inject_file_hooks(NULL);
        CHECK(same_everywhere(status));
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
        check_clean(moved);
        if (rank == 0)
            CHECK(rmdir(moved) == 0);
        meet();
    }
}

/* ---- Info keys ---- */

static sago_status split_by_info(const char *text, MPI_Comm *comm) {
    MPI_Info info = hints_of(text);
    *comm = MPI_COMM_WORLD;
    sago_status status = sago_comm_split_type(MPI_COMM_WORLD, SAGO_COMM_TYPE_NEIGHBORHOOD, 0, info, comm);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return status;
}

static void test_info(void) {
    char text[CHECK_PATH_MAX + 200];
    MPI_Comm comm;
    int last = ranks - 1, size = 0;
    scene = "info keys";
    for (int i = 0; i < MODES; i++) {
        (void)snprintf(text, sizeof text, "nbhd_common_dirname=%s sago_storage_mode=%s", place(0, 0),
                       mode_names[i]);
        CHECK_OK(split_by_info(text, &comm));
        MPI_Comm_size(comm, &size);
        CHECK_INT(size, ranks);
        MPI_Comm_free(&comm);
    }
    CHECK_OK(split_by_info("", &comm));
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(split_by_info("sago_storage_mode=auto", &comm));
    CHECK(comm == MPI_COMM_NULL);
    (void)snprintf(text, sizeof text, "nbhd_common_dirname=%s%s", place(0, 0),
                   rank == last ? " nbhd_network=x" : "");
    EXPECT(split_by_info(text, &comm), SAGO_ERR_HINT, "nbhd_network", last);
    CHECK(comm == MPI_COMM_NULL);
    (void)snprintf(text, sizeof text, "nbhd_common_dirname=%s sago_storage_mode=%s", place(0, 0), "quick");
    EXPECT(split_by_info(text, &comm), SAGO_ERR_HINT, "quick", 0);
    CHECK(comm == MPI_COMM_NULL);
    (void)snprintf(text, sizeof text, "nbhd_common_dirname=%s", scratch("missing"));
    EXPECT(split_by_info(text, &comm), SAGO_ERR_NO_FILE, "missing", 0);
    CHECK(comm == MPI_COMM_NULL);
    if (ranks > 1) {
        (void)snprintf(text, sizeof text, "nbhd_common_dirname=%s", place(0, 0));
        EXPECT(split_by_info(rank == last ? "" : text, &comm), SAGO_ERR_MISMATCH, "nbhd_common_dirname", -1);
        CHECK(comm == MPI_COMM_NULL);
    }
}

/* Nobody names a directory: the site file does. */
static void test_site(void) {
    const char *path = scratch("site");
    MPI_Comm comm;
    int size = 0;
    scene = "site";
    if (rank == 0) {
        FILE *site = fopen(path, "w");
        CHECK(site && fprintf(site, "sago_local_dirs %s:%s\n", place(0, 0), scratch("missing")) > 0);
        CHECK(site && fclose(site) == 0);
    }
    meet();
    setenv("SAGO_SITE", path, 1);
    CHECK_OK(split_by_info("", &comm));
    if (comm != MPI_COMM_NULL)
        MPI_Comm_size(comm, &size);
    CHECK_INT(size, ranks);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    setenv("SAGO_SITE", scratch("no-site"), 1);
    EXPECT(split_by_info("", &comm), SAGO_ERR_NO_FILE, "no-site", 0);
    CHECK(comm == MPI_COMM_NULL);
    unsetenv("SAGO_SITE");
}

/* Ranks that take no part, and types that are MPI's. */
static void test_other_types(void) {
    char text[CHECK_PATH_MAX + 200];
    MPI_Comm comm = MPI_COMM_WORLD;
    int last = ranks - 1, size = 0;
    (void)snprintf(text, sizeof text, "nbhd_common_dirname=%s", place(0, 0));
    MPI_Info info = hints_of(text);
    scene = "other types";
    CHECK_OK(sago_comm_split_type(MPI_COMM_WORLD, rank == last ? MPI_UNDEFINED : SAGO_COMM_TYPE_NEIGHBORHOOD, 0,
                                  info, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank == last));
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &size);
        CHECK_INT(size, ranks - 1);
        MPI_Comm_free(&comm);
    }
    if (ranks > 1) {
        EXPECT(sago_comm_split_type(MPI_COMM_WORLD,
                                    rank == last ? MPI_COMM_TYPE_SHARED : SAGO_COMM_TYPE_NEIGHBORHOOD, 0, info,
                                    &comm),
               SAGO_ERR_MISMATCH, "split types", -1);
        CHECK(comm == MPI_COMM_NULL);
    }
    CHECK_OK(sago_comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    CHECK(comm != MPI_COMM_NULL);
    MPI_Comm_free(&comm);
    CHECK_OK(sago_comm_split_storage(MPI_COMM_SELF, place(0, rank % CHOICES), SAGO_STORAGE_AUTO, 0, &comm));
    MPI_Comm_size(comm, &size);
    CHECK_INT(size, 1);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

/* ---- Links and mounts ---- */

static void test_links(void) {
    char link[CHECK_PATH_MAX];
    (void)snprintf(link, sizeof link, "%s", scratch("link"));
    scene = "links";
    if (rank == 0)
        CHECK(symlink("place1", link) == 0);
    meet();
    sharing layout = same_for_all(0, 1);
    check_layout(rank % 2 ? link : place(0, 1), &layout);
    if (rank == 0)
        CHECK(unlink(link) == 0);
    meet();
}

/* Odd ranks mount a file system of their own under the path that all use.  From then on they see it. */
static void test_mounts(void) {
    char dir[CHECK_PATH_MAX];
    (void)snprintf(dir, sizeof dir, "%s", place(0, 2));
    scene = "mounts";
    bool ours =
        rank % 2 == 0 || (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                          mount("tmpfs", dir, "tmpfs", 0, "size=1m") == 0);
    if (sum_everywhere(!ours) > 0) {
        if (rank == 0)
            printf("mounts are not allowed: ranks with mounts of their own are not tested\n");
        return;
    }
    sharing layout;
    for (int i = 0; i < ranks; i++)
        layout.seen[i] = i % 2 ? 1 + i : 0;
    check_layout(dir, &layout);
    if (rank % 2) /* now one that cannot be written to */
        CHECK(mount("tmpfs", dir, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) == 0);
    meet();
    for (int i = 0; i < 2 && ranks > 1; i++)
        expect_failure(dir, modes[i], SAGO_ERR_READ_ONLY, "place2", 1);
    check_clean(dir);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    find_nodes();
    make_places();
    test_one_directory();
    test_counts();
    test_random_layouts(argc > 1 ? atoi(argv[1]) : 200);
    test_bad_directories();
    test_bad_arguments();
    test_faults();
    test_vanishing();
    test_info();
    test_site();
    test_other_types();
    test_links();
    test_mounts();
    return check_end();
}
