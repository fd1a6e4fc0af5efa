/* The oracle's files and their hints. */
#ifndef ORACLE_FILE_H
#define ORACLE_FILE_H

#include <ctype.h>

#include "mpi/fake_nodes.h"
#include "mpi/oracle_run.h"

/* ---- Hints ---- */

typedef struct hint_choice {
    const char *key, *values; /* separated by blanks */
    int percent;              /* how often it is given */
} hint_choice;

static const hint_choice hint_choices[] = {
    {"sago_strategy", "auto direct mapped aggregated aggregated aggregated", 75},
    {"sago_window", "4K 4K 8K 16K 64K 1M", 60},
    {"sago_aggregators", "1 2 3 4 8", 50},
    {"sago_local_aggregators", "1 2 3", 40},
    {"sago_move", "auto packed packed rma", 50},
    {"sago_merge", "auto on off", 50},
    {"sago_memory_kind", "auto capacity bandwidth 0", 30},
    {"sago_map", "auto on off", 40},
    {"sago_message_size", "64K 64K 1M", 30},
    {"sago_messages", "1 2 3 8", 40},
    {"sago_memory", "1M 2M 4M 8M 32M", 20},
    {"sago_io", "auto posix uring", 40},
    {"sago_direct_io", "on off", 20},
    {"sago_sieve", "auto on off", 20},
    {"sago_plan_cache", "0 1 2 16", 50},
    {"sago_series_copy", "on off", 30},
    {"sago_defer", "on on off", 40},
    {"sago_series_parts", "1 2 5", 50},
    {"sago_agree", "enter turn always", 40},
};

static bool hint_is_given(const oracle *o, const char *key) {
    char name[64] = "";
    for (size_t i = 0; key[i] && i + 1 < sizeof name; i++)
        name[i] = (char)toupper((unsigned char)key[i]);
    for (int i = 0; i < o->nforced; i++)
        if (strncmp(o->forced[i], key, strlen(key)) == 0 && o->forced[i][strlen(key)] == '=')
            return true;
    return getenv(name) != NULL;
}

static void hint_add(oracle *o, MPI_Info info, const char *key, const char *value) {
    size_t used = strlen(o->hints);
    MPI_Info_set(info, key, value);
    (void)snprintf(o->hints + used, sizeof o->hints - used, "%s%s=%s", used ? " " : "", key, value);
}

/* The `which`-th word, counted round and round. */
static void pick_word(rng *r, const char *words, char *word, size_t room) {
    int count = 1;
    for (const char *at = words; *at; at++)
        count += *at == ' ';
    for (int64_t which = pick(r, 0, count - 1); which > 0; which--)
        words = strchr(words, ' ') + 1;
    (void)snprintf(word, room, "%.*s", (int)strcspn(words, " "), words);
}

static MPI_Info pick_hints(oracle *o) {
    MPI_Info info;
    char word[64];
    MPI_Info_create(&info);
    o->hints[0] = '\0';
    for (int i = 0; i < o->nforced; i++) {
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(o->forced[i], "="), o->forced[i]);
        hint_add(o, info, word, strchr(o->forced[i], '=') + 1);
    }
    for (size_t i = 0; i < sizeof hint_choices / sizeof *hint_choices; i++) {
        const hint_choice *choice = &hint_choices[i];
        bool given = chance(&o->r, choice->percent);
        pick_word(&o->r, choice->values, word, sizeof word);
        const char *memory = strstr(o->hints, "sago_memory=");
        o->small_memory = memory && strchr("1248", memory[12]) && memory[13] == 'M';
        bool tight = o->small_memory && strcmp(choice->key, "sago_series_copy") == 0; /* copies need not fit */
        if (given && !tight && !hint_is_given(o, choice->key))
            hint_add(o, info, choice->key, word);
    }
    const char *defer = getenv("SAGO_DEFER");
    o->defers = strstr(o->hints, "sago_defer=on") || (defer && strcmp(defer, "on") == 0);
    return info;
}

/* ---- Files ---- */

static void open_file(oracle *o) {
    int way = (int)pick(&o->r, 0, 99);
    o->amode = way < 84 ? MPI_MODE_RDWR : way < 92 ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    if (may_write(o) && chance(&o->r, 50))
        o->amode |= MPI_MODE_CREATE;
    MPI_Info info = pick_hints(o);
    note(o, "open");
    check_status(o, sago_open(o->comm, o->path, o->amode, info, &o->file), NULL);
    MPI_Info_free(&info);
    o->viewed = false;
    /* a new file's view */
    const otype *byte = otype_leaf(&o->a, 1);
    for (int i = 0; i < o->size; i++)
        o->now.parts[i] = (opart){{0, byte, byte}, 0, 0, byte, 0};
}

/* Counters that all ranks must have in common. */
static void check_counters(oracle *o, const sago_stats *stats) {
    int64_t mine[8] = {stats->plan_hits,       stats->plan_misses,      stats->direct_calls,
                       stats->mapped_calls,    stats->aggregated_calls, stats->collective_writes,
                       stats->deferred_writes, stats->flush_steps};
    int64_t first[8];
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, 8, MPI_INT64_T, 0, o->comm);
    if (memcmp(first, mine, sizeof first) != 0) {
        printf("FAILED: counters differ from rank 0's: hits %" PRId64 " %" PRId64 ", misses %" PRId64 " %" PRId64
               "\n",
               mine[0], first[0], mine[1], first[1]);
        fail(o, NULL);
    }
}

static void close_file(oracle *o) {
    sago_stats stats = {.size = sizeof stats};
    note(o, "close");
    check_status(o, sago_get_stats(o->file, &stats), NULL);
    check_counters(o, &stats);
    o->total.plan_hits += stats.plan_hits;
    o->total.plan_misses += stats.plan_misses;
    o->total.direct_calls += stats.direct_calls;
    o->total.mapped_calls += stats.mapped_calls;
    o->total.aggregated_calls += stats.aggregated_calls;
    o->total.wire_bytes += stats.wire_bytes;
    o->total.deferred_writes += stats.deferred_writes;
    for (int i = 0; i < SAGO_FLUSH_COUNT; i++)
        o->total.flushes[i] += stats.flushes[i];
    o->total.flush_steps += stats.flush_steps;
    check_status(o, sago_close(&o->file), NULL);
    deferred_clear(o);
    check_file(o, NULL);
}

/* Plain writing, as another program would. */
static bool fill_file(const oracle *o, int64_t from, int64_t to) {
    return o->subfiles.count > 0 ? parted_fill(o->path, &o->subfiles, o->base + from, o->base + to, BACKGROUND)
                                 : file_fill(o->path, o->base + from, o->base + to, BACKGROUND);
}

/* What the library made of it; no subfiles where "node" came to one. */
static int64_t subfiles_of(sago_file *file) {
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_create(&info);
    (void)sago_get_hints(file, info);
    MPI_Info_get(info, "sago_subfiles", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    return atoll(value);
}

/* Some files are kept in several: they are made so, empty, before the program that follows. */
static void create_subfiles(oracle *o) {
    char text[32];
    int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;
    MPI_Info info;
    o->subfiles = (osubfiles){0, 0};
    if (!chance(&o->r, o->only_subfiles ? 100 : 20))
        return;
    bool by_node = chance(&o->r, 25);
    o->subfiles = (osubfiles){pick(&o->r, 2, 7), 4096 << pick(&o->r, 0, 4)};
    MPI_Info_create(&info);
    (void)snprintf(text, sizeof text, "%d", (int)o->subfiles.count);
    MPI_Info_set(info, "sago_subfiles", by_node ? "node" : text);
    (void)snprintf(text, sizeof text, "%d", (int)o->subfiles.block);
    MPI_Info_set(info, "sago_subfile_block", text);
    note(o, "create subfiles");
    check_status(o, sago_open(o->comm, o->path, mode, info, &o->file), NULL);
    o->subfiles.count = subfiles_of(o->file);
    check_status(o, sago_close(&o->file), NULL);
    MPI_Info_free(&info);
}

static void create_file(oracle *o) {
    rng *r = &o->r;
    bool large = chance(r, 4);
    o->base = chance(r, 90) ? 0 : pick(r, INT64_C(1) << 31, INT64_C(1) << 40);
    o->cap = large ? pick(r, 1 << 20, 5 << 20) : pick_skewed(r, 1000, 256 << 10);
    o->file_model.capacity = o->cap;
    o->file_model.size = chance(r, 20) ? 0 : chance(r, 50) ? o->cap : pick(r, 0, o->cap);
    o->file_model.bytes = malloc((size_t)o->cap);
    o->found = malloc((size_t)o->cap);
    o->before = malloc((size_t)o->cap);
    o->deferred = calloc(1, (size_t)o->cap);
    if (!o->file_model.bytes || !o->found || !o->before || !o->deferred)
        abort();
    memset(o->file_model.bytes, BACKGROUND, (size_t)o->file_model.size);
    deferred_clear(o);
    (void)snprintf(o->path, sizeof o->path, "%s/oracle-%" PRIu64, o->dir, o->seed);
    if (o->rank == 0)
        (void)sago_delete(o->path, MPI_INFO_NULL);
    meet(o->comm);
    create_subfiles(o);
    if (o->rank == 0 && !fill_file(o, 0, o->file_model.size)) {
        printf("FAILED: cannot make %s\n", o->path);
        fail(o, NULL);
    }
    meet(o->comm);
}

static void remove_file(oracle *o) {
    if (o->rank == 0)
        check_status(o, sago_delete(o->path, MPI_INFO_NULL), NULL);
    free(o->file_model.bytes);
    free(o->found);
    free(o->before);
    free(o->deferred);
    arena_clear(&o->a);
}

/* ---- Where they are, and whose ---- */

static const char *find_dir(void) {
    static const char *const names[] = {"SAGO_CLUSTER_GLOBAL", "SAGO_TEST_DIR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return ".";
}

/* The same ones in every run: what Sago keeps with a communicator is used by many seeds. */
static void make_comms(oracle *o) {
    rng r = {4711};
    int all, me;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < COMMS; i++) {
        int keys[MAX_RANKS] = {0}, in[MAX_RANKS] = {0};
        for (int k = 0; k < all; k++) {
            keys[k] = i == 0 ? k : i == 1 ? -k : (int)pick(&r, 0, 1000);
            in[k] = i < 3 || chance(&r, 60);
        }
        in[all - 1] = 1;
        MPI_Comm_split(MPI_COMM_WORLD, in[me] ? 0 : MPI_UNDEFINED, keys[me], &o->comms[i]);
    }
}

static void free_comms(oracle *o) {
    for (int i = 0; i < COMMS; i++)
        if (o->comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&o->comms[i]);
}

/* The command line; false: it is wrong. */
/* Forces the machine: so many nodes to a switch. */
static bool take_switches(oracle *o, int nodes) {
    static char hint[4200];
    (void)snprintf(hint, sizeof hint, "sago_machine=%s/switches.sago", o->dir);
    o->forced[o->nforced++] = hint;
    return o->nforced < MAX_HINTS && fake_switches(strchr(hint, '=') + 1, nodes);
}

static bool take_arguments(oracle *o, int argc, char **argv, uint64_t *seeds, uint64_t *first) {
    o->dir = find_dir();
    o->patience = 60;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
            *seeds = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--first") == 0 && i + 1 < argc)
            *first = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
            o->dir = argv[++i];
        else if (strcmp(argv[i], "--patience") == 0 && i + 1 < argc)
            o->patience = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--subfiles") == 0)
            o->only_subfiles = true;
        else if (strcmp(argv[i], "--node-ranks") == 0 && i + 1 < argc)
            fake_node_ranks = atoi(argv[++i]);
        else if (strcmp(argv[i], "--switch-nodes") == 0 && i + 1 < argc) {
            if (!take_switches(o, atoi(argv[++i])))
                return false;
        } else if (strcmp(argv[i], "--verbose") == 0)
            o->verbose = true;
        else if (strchr(argv[i], '=') && o->nforced < MAX_HINTS)
            o->forced[o->nforced++] = argv[i];
        else
            return false;
    }
    return true;
}

#endif
