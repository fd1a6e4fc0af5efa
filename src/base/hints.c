/* The table of hints, and the only parser of their values: names, defaults, ranges and help.  The code that reads
 * a field decides what the hint does. */
#include "base/hints.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/size_text.h"
#include "base/spelling.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define PIB (1024 * (1024 * GIB))

#define FIELD(name) offsetof(sagoi_hints, name)

enum { VALUE_MAX = 128, KEY_SHOWN = 64 }; /* characters of a value that is no text; of a wrong key in a message */

static const char own_prefix[] = "sago_";

/* clang-format off */
static const sagoi_hint_row table[] = {
    {"sago_memory", SAGOI_HINT_SIZE, FIELD(memory), "auto", MIB, PIB, NULL, NULL,
     "Memory of a node for all its ranks and the files they have open; auto: a share of what is available"},
    {"sago_memory_kind", SAGOI_HINT_TEXT, FIELD(memory_kind), "auto", 0, 4095, "auto|bandwidth|latency|capacity|kernel", NULL,
     "Memory of a node that windows are in, if it has room: that of most bandwidth (HBM), of least latency, of most capacity, or "
     "the number of a NUMA node; kernel: as the system likes; auto: that of most bandwidth where the machine has several and an eighth of "
     "it holds them"},
    {"sago_strategy", SAGOI_HINT_ENUM, FIELD(strategy), "auto", 0, 0, "auto|direct|mapped|aggregated",
     "romio_cb_write|romio_cb_read",
     "How bytes reach the file: each rank alone, through a shared mapping, or through aggregators"},
    {"sago_move", SAGOI_HINT_ENUM, FIELD(move), "auto", 0, 0, "auto|packed|rma", NULL,
     "Movement between nodes: packed messages, or one-sided puts and gets"},
    {"sago_merge", SAGOI_HINT_ENUM, FIELD(merge), "auto", 0, 0, "auto|on|off", NULL,
     "Local aggregators merge and coalesce the runs of their ranks before they send them"},
    {"sago_map", SAGOI_HINT_ENUM, FIELD(map), "auto", 0, 0, "auto|on|off", NULL,
     "Whether the file may be mapped into memory"},
    {"sago_aggregators", SAGOI_HINT_INT, FIELD(aggregators), "auto", 1, 1000000, NULL, "cb_nodes",
     "Global aggregators in all"},
    {"sago_local_aggregators", SAGOI_HINT_INT, FIELD(local_aggregators), "auto", 1, 65536, NULL, NULL,
     "Local aggregators on each node"},
    {"sago_layers", SAGOI_HINT_ENUM, FIELD(layers), "auto", 0, 0, "auto|2|3", NULL,
     "Layers of aggregation: nodes and aggregators, or nodes, the nodes of a switch or router, and aggregators"},
    {"sago_aggregators_per_target", SAGOI_HINT_INT, FIELD(per_target), "auto", 1, 1024, NULL, NULL,
     "Global aggregators for each storage target of a striped file"},
    {"sago_placement", SAGOI_HINT_ENUM, FIELD(placement), "auto", 0, 0, "auto|cost|memory|rank|spread", NULL,
     "Where aggregators go: least cost of moving, most memory, first nodes first, or evenly over the nodes"},
    {"sago_aggregators_per_node", SAGOI_HINT_INT, FIELD(per_node), "auto", 1, 65536, NULL, NULL,
     "At most this many global aggregators on a node (N_ah)"},
    {"sago_domain_write", SAGOI_HINT_SIZE, FIELD(domain_write), "auto", 4 * KIB, PIB, NULL, NULL,
     "Writes: the file is bisected until an aggregator owns no more than this (Msg_ind)"},
    {"sago_domain_read", SAGOI_HINT_SIZE, FIELD(domain_read), "auto", 4 * KIB, PIB, NULL, NULL,
     "Reads: the file is bisected until an aggregator owns no more than this (Msg_ind)"},
    {"sago_group_size", SAGOI_HINT_SIZE, FIELD(group_size), "auto", 4 * KIB, PIB, NULL, NULL,
     "About how much of the file the nodes of one aggregation group share (Msg_group)"},
    {"sago_host_memory", SAGOI_HINT_SIZE, FIELD(host_memory), "auto", 4 * KIB, PIB, NULL, NULL,
     "A node with less memory left for the library aggregates nothing (Mem_min)"},
    {"sago_window", SAGOI_HINT_SIZE, FIELD(window), "auto", 4 * KIB, GIB, NULL, "cb_buffer_size",
     "At most this much of the file in each of an aggregator's two buffers"},
    {"sago_messages", SAGOI_HINT_INT, FIELD(messages), "8", 1, 1024, NULL, NULL,
     "Messages in flight to one aggregator"},
    {"sago_message_size", SAGOI_HINT_SIZE, FIELD(message_size), "4M", 64 * KIB, 256 * MIB, NULL, NULL,
     "Largest message between nodes"},
    {"sago_io", SAGOI_HINT_ENUM, FIELD(io), "auto", 0, 0, "auto|posix|uring", NULL,
     "System calls that store and load windows"},
    {"sago_direct_io", SAGOI_HINT_BOOL, FIELD(direct_io), "off", 0, 1, NULL, NULL,
     "Pass by the page cache (O_DIRECT) where alignment allows"},
    {"sago_sieve", SAGOI_HINT_ENUM, FIELD(sieve), "off", 0, 0, "auto|on|off", NULL,
     "Holes are read and written back. auto: short ones of a blocking call, on a coherent parallel file system, where no "
     "other open file of the job is the same one, unsafe if others than the job write there; on: all"},
    {"sago_plan_cache", SAGOI_HINT_INT, FIELD(plan_cache), "16", 0, 1024, NULL, NULL,
     "Plans kept for each open file; 0: none"},
    {"sago_series_copy", SAGOI_HINT_BOOL, FIELD(series_copy), "off", 0, 1, NULL, NULL,
     "Declared writes copy at once, so that buffers are free before completion"},
    {"sago_series_parts", SAGOI_HINT_INT, FIELD(series_parts), "1", 1, 1024, NULL, NULL,
     "Declared variables move in so many parts, each when it has all of its variables; then no other collective call "
     "on the file may come before the step is complete"},
    {"sago_timing", SAGOI_HINT_BOOL, FIELD(timing), "on", 0, 1, NULL, NULL,
     "Ranks that go alone time what they do, for the statistics; reading the clock takes a part of a small call"},
    {"sago_agree", SAGOI_HINT_ENUM, FIELD(agree), "always", 0, 0, "always|enter|turn", NULL,
     "Ranks agree on how each collective call went; or go alone once all have come, where nothing is to be gathered, "
     "or, on one node, wait for each other only between writing and reading: then of different ranks' writes to the same "
     "bytes in different calls either may come last, unless there is a sync between them"},
    {"sago_lock_time", SAGOI_HINT_INT, FIELD(lock_time), "1000", 0, 10000000, NULL, NULL,
     "Microseconds that the lock of a stripe which one node wrote to takes to go to another node; 0: the file system has "
     "no such locks"},
    {"sago_patience", SAGOI_HINT_INT, FIELD(patience), "0", 0, 10000000, NULL, NULL,
     "Seconds that ranks wait in a call for nodes that do not answer; then the file, or the checkpoint directory, can only "
     "be closed; 0: for ever"},
    {"sago_nonblocking", SAGOI_HINT_ENUM, FIELD(nonblocking), "together", 0, 0, "together|apart", NULL,
     "Ranks wait for each other in nonblocking calls, and agree on how they went; or go alone where others do not come"},
    {"sago_defer", SAGOI_HINT_ENUM, FIELD(defer), "off", 0, 0, "auto|on|off", NULL,
     "Collective writes are kept in memory and moved many together, at the latest by sync, close or a read; auto: "
     "small ones, between nodes, to files opened with MPI_MODE_WRONLY"},
    {"sago_defer_age", SAGOI_HINT_INT, FIELD(defer_age), "1", 0, 10000000, NULL, NULL,
     "Seconds after which a rank writes by itself what it has deferred; 0: it waits for the others however long"},
    {"sago_machine", SAGOI_HINT_TEXT, FIELD(machine), "auto", 0, 0, NULL, NULL,
     "Description of the machine, a name or a path; none: nothing is known; auto: the site file's, or what is found"},
    {"sago_site", SAGOI_HINT_TEXT, FIELD(site), "auto", 0, 0, NULL, NULL,
     "Path of the site file with this system's defaults; none: no such file; auto: where it is installed"},
    {"sago_local_dirs", SAGOI_HINT_TEXT, FIELD(local_dirs), "auto", 0, 0, NULL, NULL,
     "Directories that may be storage of a node or a rack, with colons between; auto: those of the site file"},
    {"sago_ckpt_mode", SAGOI_HINT_ENUM, FIELD(ckpt_mode), "threaded", 0, 0, "threaded|rbio|coio", NULL,
     "Checkpoints are written by the writers' threads, by the writers, or before anybody goes on"},
    {"sago_ckpt_files", SAGOI_HINT_INT, FIELD(ckpt_files), "auto", 1, 1000000, NULL, NULL,
     "Files of a checkpoint, at most one a rank; auto: one a writer"},
    {"sago_ckpt_group", SAGOI_HINT_INT, FIELD(ckpt_group), "auto", 1, 1000000, NULL, NULL,
     "Ranks that one writer of a checkpoint writes for; more than a node has: groups of whole nodes, but where steps go to the "
     "nodes' own storage first; auto: a node's, or what a model of the machine finds"},
    {"sago_ckpt_early", SAGOI_HINT_ENUM, FIELD(ckpt_early), "wait", 0, 0, "wait|skip|replace", NULL,
     "When no buffer is free: wait for one, skip the new checkpoint, or replace one that waits"},
    {"sago_ckpt_redundancy", SAGOI_HINT_ENUM, FIELD(ckpt_redundancy), "none", 0, 0,
     "none|copy|xor|rs:1|rs:2|rs:3|rs:4", NULL,
     "How checkpoints on the nodes survive the loss of one node, or of k"},
    {"sago_ckpt_set", SAGOI_HINT_INT, FIELD(ckpt_set), "8", 2, 64, NULL, NULL,
     "Storage devices in a redundancy set"},
    {"sago_ckpt_redundant_every", SAGOI_HINT_INT, FIELD(ckpt_redundant_every), "1", 0, 1000000, NULL, NULL,
     "Every so many checkpoints one gets redundancy; 0: none"},
    {"sago_ckpt_global_every", SAGOI_HINT_INT, FIELD(ckpt_global_every), "1", 0, 1000000, NULL, NULL,
     "With local storage: every so many checkpoints one is drained to the directory; 0: none"},
    {"sago_ckpt_keep_local", SAGOI_HINT_INT, FIELD(ckpt_keep_local), "2", 0, 1000000, NULL, NULL,
     "Checkpoints kept on the nodes; 0: all"},
    {"sago_ckpt_keep_global", SAGOI_HINT_INT, FIELD(ckpt_keep_global), "0", 0, 1000000, NULL, NULL,
     "Checkpoints kept in the directory; 0: all"},
    {"sago_ckpt_rate", SAGOI_HINT_SIZE, FIELD(ckpt_rate), "auto", 64 * KIB, PIB, NULL, NULL,
     "Bytes a second that draining may use, all writers together; auto: no bound"},
    {"sago_ckpt_interval", SAGOI_HINT_INT, FIELD(ckpt_interval), "0", 0, 10000000, NULL, NULL,
     "Seconds after which a checkpoint is due; 0: not by time"},
    {"sago_ckpt_overhead", SAGOI_HINT_INT, FIELD(ckpt_overhead), "0", 0, 100, NULL, NULL,
     "Percent of the time that checkpoints may hold the application; 0: not by share"},
    {"sago_ckpt_mtbf", SAGOI_HINT_INT, FIELD(ckpt_mtbf), "0", 0, 1000000000, NULL, NULL,
     "Mean seconds between failures, for Daly's interval; 0: not by failures"},
    {"sago_ckpt_signal", SAGOI_HINT_ENUM, FIELD(ckpt_signal), "none", 0, 0, "none|usr1|term|both", NULL,
     "Signals that announce the end of the job: SIGUSR1, SIGTERM"},
    {"sago_ckpt_lease", SAGOI_HINT_INT, FIELD(ckpt_lease), "30", 2, 86400, NULL, NULL,
     "Seconds after which the lock of a checkpoint directory is void when it is not renewed"},
    {"sago_ckpt_patience", SAGOI_HINT_INT, FIELD(ckpt_patience), "300", 1, 86400, NULL, NULL,
     "Seconds that one call on a checkpoint's storage may take; then that storage counts as hanging and is left alone"},
    {"sago_ckpt_read_only", SAGOI_HINT_BOOL, FIELD(ckpt_read_only), "off", 0, 1, NULL, NULL,
     "Open a checkpoint directory for reading only, also while a job uses it"},
    {"sago_ckpt_stats", SAGOI_HINT_TEXT, FIELD(ckpt_stats), "auto", 0, 0, NULL, NULL,
     "File that gets a line of JSON for every checkpoint: times, bytes, bandwidths; auto: none"},
    {"sago_tier", SAGOI_HINT_ENUM, FIELD(tier), "global", 0, 0, "global|local", NULL,
     "Where collective writes go: to the file, or first to local storage (sago_local_dirs), merged by sync and close"},
    {"sago_tier_drain", SAGOI_HINT_ENUM, FIELD(tier_drain), "call", 0, 0, "call|background", NULL,
     "When data in local storage goes to the file: in the next call that looks at it, or in the background after "
     "sago_sync_local"},
    {"sago_tier_found", SAGOI_HINT_ENUM, FIELD(tier_found), "safe", 0, 0, "safe|merge|drop", NULL,
     "What a job that died left in local storage: merged if it is surely newer than the file, else an error; always merged; dropped"},
    {"sago_subfiles", SAGOI_HINT_TEXT, FIELD(subfiles), "auto", 1, 65536, "auto|node|gateway", NULL,
     "A file that is created is kept in several: a number, node (one a node) or gateway; auto: in one"},
    {"sago_subfile_block", SAGOI_HINT_SIZE, FIELD(subfile_block), "auto", 4 * KIB, 1024 * GIB, NULL, NULL,
     "Bytes of the file that go to one subfile before the next one has its turn; auto: with node or gateway the first "
     "collective write makes them as large as each one's part, else as large as a window"},
    {"striping_factor", SAGOI_HINT_INT, FIELD(striping_factor), "auto", 1, 65536, NULL, NULL,
     "Storage targets of a file that is created"},
    {"striping_unit", SAGOI_HINT_SIZE, FIELD(striping_unit), "auto", 512, 4 * GIB, NULL, NULL,
     "Bytes of one stripe of a file that is created"},
};
/* clang-format on */

enum { ROWS = sizeof table / sizeof table[0] };
_Static_assert((int)ROWS <= (int)SAGOI_HINTS_MAX, "sagoi_hints.named has a flag for every row");

const sagoi_hint_row *sagoi_hint_table(int64_t *count) {
    *count = ROWS;
    return table;
}

static void field_set(sagoi_hints *hints, const sagoi_hint_row *row, int64_t value) {
    memcpy((char *)hints + row->field, &value, sizeof value);
}

/* Sets a text.  "auto" becomes the empty text, and the bytes behind the text are zero, so that equal hints are
 * equal bytes. */
static void text_set(sagoi_hints *hints, const sagoi_hint_row *row, const char *text, size_t length) {
    char *field = (char *)hints + row->field;
    memset(field, 0, SAGOI_HINT_TEXT_MAX);
    if (length != 4 || memcmp(text, "auto", 4) != 0)
        memcpy(field, text, length);
}

static int64_t field_get(const sagoi_hints *hints, const sagoi_hint_row *row) {
    int64_t value;
    memcpy(&value, (const char *)hints + row->field, sizeof value);
    return value;
}

/* ---- Words ------------------------------------------------------------------------------------------- */

/* Moves *text past the blanks in front; returns the length without the blanks behind. */
static size_t trim(const char **text) {
    while (isspace((unsigned char)**text))
        ++*text;
    size_t length = strlen(*text);
    while (length > 0 && isspace((unsigned char)(*text)[length - 1]))
        length--;
    return length;
}

/* Copies `value` without the blanks around it; false if the copy would be empty or too long to be any value. */
static bool word_trim(const char *value, char word[VALUE_MAX]) {
    size_t length = trim(&value);
    if (length == 0 || length >= VALUE_MAX)
        return false;
    memcpy(word, value, length);
    word[length] = '\0';
    return true;
}

/* Position of `word` in "a|b|c", or -1. */
static int64_t list_find(const char *list, const char *word, int (*compare)(const char *, const char *, size_t)) {
    size_t length = strlen(word);
    int64_t position = 0;
    for (const char *item = list; item; position++) {
        size_t width = strcspn(item, "|");
        if (width == length && compare(item, word, length) == 0)
            return position;
        item = item[width] ? item + width + 1 : NULL;
    }
    return -1;
}

static void list_item(const char *list, int64_t position, char *text, size_t capacity) {
    for (; position > 0 && *list; position--) {
        list += strcspn(list, "|");
        list += *list == '|';
    }
    (void)snprintf(text, capacity, "%.*s", (int)strcspn(list, "|"), list);
}

/* Reads digits at *text, which moves past them; false: there are none, or too many. */
static bool digits_parse(const char **text, int64_t *value) {
    const char *at = *text;
    int64_t sum = 0;
    if (!isdigit((unsigned char)*at))
        return false;
    for (; isdigit((unsigned char)*at); at++)
        if (sagoi_mul(sum, 10, &sum) || sagoi_add(sum, *at - '0', &sum))
            return false;
    *text = at;
    *value = sum;
    return true;
}

/* Reads "", "B", "K", "KB", "KiB", ... as a power of two; -1: it is none of them. */
static int unit_shift(const char *unit) {
    static const char letters[] = "KMGTP";
    const char *letter = *unit ? strchr(letters, toupper((unsigned char)*unit)) : NULL;
    if (!letter)
        return *unit == '\0' || strcasecmp(unit, "B") == 0 ? 0 : -1;
    const char *rest = unit + 1;
    bool known = *rest == '\0' || strcasecmp(rest, "B") == 0 || strcasecmp(rest, "iB") == 0;
    return known ? 10 * (int)(letter - letters + 1) : -1;
}

bool sagoi_parse_size(const char *text, int64_t *bytes) {
    char word[VALUE_MAX];
    if (!text || !word_trim(text, word))
        return false;
    const char *at = word;
    int64_t count;
    if (!digits_parse(&at, &count))
        return false;
    while (isspace((unsigned char)*at))
        at++;
    int shift = unit_shift(at);
    if (shift < 0 || count > (INT64_MAX >> shift))
        return false;
    *bytes = count << shift;
    return true;
}

static bool int_parse(const char *word, int64_t *value) { return digits_parse(&word, value) && *word == '\0'; }

static bool bool_parse(const char *word, int64_t *value) {
    /* Pairs of words: those at even positions mean true. */
    int64_t position = list_find("on|off|true|false|1|0|enable|disable|yes|no", word, strncasecmp);
    if (position < 0)
        return false;
    *value = position % 2 == 0;
    return true;
}

/* ---- Values of a row ---------------------------------------------------------------------------------- */

static bool has_auto(const sagoi_hint_row *row) { return strcmp(row->fallback, "auto") == 0; }

static bool number_parse(const sagoi_hint_row *row, const char *word, int64_t *value) {
    bool parsed = true;
    int64_t number = 0;
    if (!has_auto(row) || strcasecmp(word, "auto") != 0)
        parsed = row->type == SAGOI_HINT_SIZE ? sagoi_parse_size(word, &number) : int_parse(word, &number);
    bool in_range = (number >= row->low && number <= row->high) || (number == 0 && has_auto(row));
    if (!parsed || !in_range)
        return false;
    *value = number;
    return true;
}

static bool enum_parse(const sagoi_hint_row *row, const char *word, int64_t *value) {
    int64_t position = list_find(row->choices, word, strncasecmp), truth;
    if (position < 0 && bool_parse(word, &truth)) /* for auto|on|off, "true" means "on" */
        position = list_find(row->choices, truth ? "on" : "off", strncasecmp);
    if (position < 0)
        return false;
    *value = position;
    return true;
}

static bool row_parse(const sagoi_hint_row *row, const char *text, int64_t *value) {
    char word[VALUE_MAX];
    if (!word_trim(text, word))
        return false;
    switch (row->type) {
    case SAGOI_HINT_SIZE:
    case SAGOI_HINT_INT:
        return number_parse(row, word, value);
    case SAGOI_HINT_BOOL:
        return bool_parse(word, value);
    case SAGOI_HINT_ENUM:
        return enum_parse(row, word, value);
    case SAGOI_HINT_TEXT:
        return false; /* text_parse() takes words that are no number */
    }
    return false;
}

static void number_format(const sagoi_hint_row *row, int64_t value, char *text, size_t capacity) {
    if (row->type == SAGOI_HINT_SIZE)
        (void)snprintf(text, capacity, "%s", sagoi_size_to_hint(value).text);
    else
        (void)snprintf(text, capacity, "%" PRId64, value);
}

void sagoi_hint_format(const sagoi_hints *hints, const sagoi_hint_row *row, char *text, size_t capacity) {
    if (row->type == SAGOI_HINT_TEXT) {
        const char *field = (const char *)hints + row->field;
        (void)snprintf(text, capacity, "%s", *field ? field : "auto");
        return;
    }
    int64_t value = field_get(hints, row);
    if (row->type == SAGOI_HINT_ENUM)
        list_item(row->choices, value, text, capacity);
    else if (row->type == SAGOI_HINT_BOOL)
        (void)snprintf(text, capacity, "%s", value ? "on" : "off");
    else if (value == 0 && has_auto(row))
        (void)snprintf(text, capacity, "auto");
    else
        number_format(row, value, text, capacity);
}

/* "a size from 4K to 1G, or auto" */
static void range_describe(const sagoi_hint_row *row, char *text, size_t capacity) {
    if (row->type == SAGOI_HINT_ENUM) {
        (void)snprintf(text, capacity, "one of %s", row->choices);
    } else if (row->type == SAGOI_HINT_BOOL) {
        (void)snprintf(text, capacity, "on or off");
    } else if (row->type == SAGOI_HINT_TEXT) {
        if (row->choices)
            (void)snprintf(text, capacity, "one of %s or a number from %" PRId64 " to %" PRId64, row->choices,
                           row->low, row->high);
        else
            (void)snprintf(text, capacity, "a text of 1 to %d characters", SAGOI_HINT_TEXT_MAX - 1);
    } else {
        char low[32], high[32];
        number_format(row, row->low, low, sizeof low);
        number_format(row, row->high, high, sizeof high);
        (void)snprintf(text, capacity, "a %s from %s to %s%s", row->type == SAGOI_HINT_SIZE ? "size" : "number",
                       low, high, has_auto(row) ? ", or auto" : "");
    }
}

/* Is the text one of the row's choices, or a number? */
static bool is_choice(const sagoi_hint_row *row, const char *text) {
    char word[VALUE_MAX];
    int64_t number;
    if (!row->choices)
        return true;
    return word_trim(text, word) && (list_find(row->choices, word, strncasecmp) >= 0 ||
                                     (int_parse(word, &number) && number >= row->low && number <= row->high));
}

/* Sets a text without the blanks around it; false: nothing is left of it, or it is too long. */
static bool text_parse(sagoi_hints *hints, const sagoi_hint_row *row, const char *text) {
    size_t length = trim(&text);
    if (length == 0 || length >= SAGOI_HINT_TEXT_MAX || !is_choice(row, text))
        return false;
    text_set(hints, row, text, length);
    return true;
}

/* Sets the value of a row.  `source` and `name` say where the value was found: "hint sago_window". */
static sago_status row_set(sagoi_hints *hints, const sagoi_hint_row *row, const char *source, const char *name,
                           const char *text) {
    int64_t value;
    if (row->type == SAGOI_HINT_TEXT && text_parse(hints, row, text))
        return SAGO_OK;
    if (row_parse(row, text, &value)) {
        field_set(hints, row, value);
        return SAGO_OK;
    }
    char range[128];
    range_describe(row, range, sizeof range);
    return sagoi_fail(SAGO_ERR_HINT, "%s %s: \"%.*s\" is not %s", source, name, VALUE_MAX, text, range);
}

/* ---- Defaults and the environment --------------------------------------------------------------------- */

static bool is_own(const char *name) { return strncmp(name, own_prefix, sizeof own_prefix - 1) == 0; }

enum { VARIABLE_MAX = 64 };

static void variable_of(const sagoi_hint_row *row, char variable[VARIABLE_MAX]) {
    size_t i = 0;
    for (; row->name[i] && i + 1 < VARIABLE_MAX; i++)
        variable[i] = (char)toupper((unsigned char)row->name[i]);
    variable[i] = '\0';
}

/* The variable of a row; NULL: unset or empty.  MPI's reserved names belong to an MPI_Info and have no
 * variable. */
static const char *environment_get(const sagoi_hint_row *row, char variable[VARIABLE_MAX]) {
    variable_of(row, variable);
    return is_own(row->name) ? sagoi_environment(variable) : NULL;
}

static sago_status environment_set(sagoi_hints *hints, const sagoi_hint_row *row) {
    char variable[VARIABLE_MAX];
    const char *value = environment_get(row, variable);
    return value ? row_set(hints, row, "environment variable", variable, value) : SAGO_OK;
}

/* Is there any variable of Sago's?  Most environments have none; then dozens of look-ups are saved for each file
 * that is opened. */
static bool environment_has_own(void) {
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, "SAGO_", 5) == 0)
            return true;
    return false;
}

const char *sagoi_hint_source(const sagoi_hints *hints, int64_t i) {
    char variable[VARIABLE_MAX], value[SAGOI_HINT_TEXT_MAX];
    if (hints->named[i])
        return "MPI_Info";
    if (environment_get(&table[i], variable))
        return "environment";
    sagoi_hint_format(hints, &table[i], value, sizeof value);
    return strcmp(value, table[i].fallback) == 0 ? NULL : "an alias in the MPI_Info, or the site file";
}

/* The defaults of the table, worked out once, since every file begins with them. */
static sagoi_hints defaults;
static sago_status defaults_status;

static void parse_defaults(void) {
    for (int i = 0; i < ROWS && !defaults_status; i++)
        defaults_status = row_set(&defaults, &table[i], "default of", table[i].name, table[i].fallback);
}

sago_status sagoi_hints_init(sagoi_hints *hints) {
    static pthread_once_t parsed = PTHREAD_ONCE_INIT;
    (void)pthread_once(&parsed, parse_defaults);
    sago_status status = defaults_status;
    sagoi_hints fresh = defaults;
    bool in_environment = environment_has_own();
    for (int i = 0; i < ROWS && !status && in_environment; i++)
        status = environment_set(&fresh, &table[i]);
    if (!status)
        *hints = fresh;
    return status;
}

const char *sagoi_environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- Keys of an MPI_Info ------------------------------------------------------------------------------ */

/* Are one or two letters wrong?  With three, sago_ckpt_keep would be taken for sago_ckpt_set. */
static bool is_near(const char *name, int64_t distance) {
    int64_t letters = (int64_t)strlen(name) - 5;
    return distance <= (letters < 4 ? 1 : 2);
}

/* A name that begins like the key: sago_ckpt_keep may mean sago_ckpt_keep_local. */
static const char *begun_name(const char *key) {
    const size_t length = strlen(key);
    for (int i = 0; i < ROWS && length > 5; i++)
        if (strncmp(table[i].name, key, length) == 0)
            return table[i].name;
    return NULL;
}

/* The name that is nearest to the key; NULL: none is near. */
static const char *nearest_name(const char *key) {
    const char *nearest = table[0].name;
    int64_t least = INT64_MAX;
    for (int i = 0; i < ROWS; i++) {
        int64_t distance = sagoi_spelling_distance(key, table[i].name);
        if (distance < least) {
            least = distance;
            nearest = table[i].name;
        }
    }
    return is_near(key, least) ? nearest : begun_name(key);
}

/* The value in Sago's words.  ROMIO has its own words for whether to aggregate.  "enable" and "automatic" leave
 * the choice to Sago, whatever the order of the keys: programs enable collective buffering by habit, and
 * aggregating is not always best. */
static const char *alias_value(const sagoi_hint_row *row, const char *value) {
    if (row->field != FIELD(strategy))
        return value;
    return strcasecmp(value, "disable") == 0 ? "direct" : "";
}

static void alias_set(sagoi_hints *hints, int i, const char *value) {
    int64_t number;
    if (!hints->named[i] && row_parse(&table[i], alias_value(&table[i], value), &number))
        field_set(hints, &table[i], number);
}

static sago_status name_set(sagoi_hints *hints, int i, const char *value) {
    const sagoi_hint_row *row = &table[i];
    int64_t number;
    if (!is_own(row->name) && !row_parse(row, value, &number))
        return SAGO_OK;
    sago_status status = row_set(hints, row, "hint", row->name, value);
    if (status == SAGO_OK)
        hints->named[i] = true;
    return status;
}

sago_status sagoi_hints_set(sagoi_hints *hints, const char *key, const char *value) {
    if (!hints || !key || !value)
        return sagoi_fail(SAGO_ERR_ARG, "a hint without a key or a value");
    bool own = is_own(key); /* the key is no alias */
    for (int i = 0; i < ROWS; i++) {
        if (strcmp(key, table[i].name) == 0)
            return name_set(hints, i, value);
        if (!own && table[i].alias && list_find(table[i].alias, key, strncmp) >= 0)
            alias_set(hints, i, value);
    }
    if (!own)
        return SAGO_OK;
    const char *nearest = nearest_name(key);
    if (nearest)
        return sagoi_fail(SAGO_ERR_HINT, "hint %.*s is unknown; did you mean %s?", KEY_SHOWN, key, nearest);
    return sagoi_fail(SAGO_ERR_HINT, "hint %.*s is unknown; `sago hints` lists all", KEY_SHOWN, key);
}

/* ---- Variables that somebody meant to set -------------------------------------------------------------- */

/* Variables that are no hints. */
static const char *const other_variables[] = {"SAGO_STATS", "SAGO_REPORT", "SAGO_TRACE", "SAGO_DISABLE",
                                              "SAGO_LIBRARY"};
enum { OTHER_VARIABLES = sizeof other_variables / sizeof other_variables[0] };

static const char *variable_name(int i, char variable[VARIABLE_MAX]) {
    if (i < OTHER_VARIABLES)
        return other_variables[i];
    variable_of(&table[i - OTHER_VARIABLES], variable);
    return variable;
}

/* Are one or two letters wrong, in a name that is long enough to tell? */
static bool is_misspelt(const char *name, int64_t distance) {
    int64_t letters = (int64_t)strlen(name) - 5;
    return distance <= (letters < 4 ? 0 : letters < 6 ? 1 : 2);
}

/* How far the name is from the `nearest` that Sago knows. */
static int64_t distance_of(const char *name, char nearest[VARIABLE_MAX]) {
    char other[VARIABLE_MAX];
    int64_t least = INT64_MAX;
    nearest[0] = '\0';
    for (int i = 0; i < OTHER_VARIABLES + ROWS; i++) {
        const char *known = variable_name(i, other);
        int64_t distance = strncmp(known, "SAGO_", 5) == 0 ? sagoi_spelling_distance(name, known) : INT64_MAX;
        if (distance < least) {
            least = distance;
            (void)snprintf(nearest, VARIABLE_MAX, "%s", known);
        }
    }
    return least;
}

static void check_name(const char *name, void (*tell)(const char *said)) {
    char nearest[VARIABLE_MAX], said[256];
    int64_t least = distance_of(name, nearest);
    if (strcmp(name, nearest) == 0 || !is_misspelt(name, least))
        return;
    (void)snprintf(said, sizeof said, "%.*s means nothing to Sago; did you mean %s?", KEY_SHOWN, name, nearest);
    tell(said);
}

static void tell_value(const char *variable, const char *value, const char *expected,
                       void (*tell)(const char *said)) {
    char said[VALUE_MAX + 256];
    (void)snprintf(said, sizeof said, "environment variable %s: \"%.*s\" is not %s", variable, VALUE_MAX, value,
                   expected);
    tell(said);
}

static void check_others(void (*tell)(const char *said)) {
    const char *stats = sagoi_environment("SAGO_STATS"), *disable = sagoi_environment("SAGO_DISABLE");
    int64_t truth;
    if (stats && strcmp(stats, "off") != 0 && strcmp(stats, "summary") != 0 &&
        (strncmp(stats, "json:", 5) != 0 || !stats[5]))
        tell_value("SAGO_STATS", stats, "off, summary or json:FILE", tell);
    if (disable && !bool_parse(disable, &truth))
        tell_value("SAGO_DISABLE", disable, "on or off", tell);
}

/* ---- Paths that nobody has needed yet, but somebody has given ---- */

static void tell_path(const char *variable, const char *path, void (*tell)(const char *said)) {
    char said[SAGOI_HINT_TEXT_MAX + 256];
    (void)snprintf(said, sizeof said, "environment variable %s: %s: %s", variable, path, strerror(errno));
    tell(said);
}

/* Is the path a file that can be written to, or can be made? */
static bool is_writable(const char *path) {
    char folder[SAGOI_HINT_TEXT_MAX];
    if (access(path, W_OK) == 0)
        return true;
    if (errno != ENOENT)
        return false;
    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    return access(slash ? folder : ".", W_OK | X_OK) == 0;
}

static void check_paths(sagoi_hints *given, void (*tell)(const char *said)) {
    char *next = NULL,
         *dir = strcmp(given->local_dirs, "none") == 0 ? NULL : strtok_r(given->local_dirs, ":", &next);
    for (; dir; dir = strtok_r(NULL, ":", &next))
        if (access(dir, W_OK | X_OK) != 0)
            tell_path("SAGO_LOCAL_DIRS", dir, tell);
    if (given->ckpt_stats[0] && !is_writable(given->ckpt_stats))
        tell_path("SAGO_CKPT_STATS", given->ckpt_stats, tell);
}

static void check_unknown(const char *name, void (*tell)(const char *said)) {
    char nearest[VARIABLE_MAX], said[256];
    int64_t least = distance_of(name, nearest);
    if (least == 0 || is_misspelt(name, least) || strcmp(name, "SAGO_ROOT") == 0) /* the module file's */
        return;
    (void)snprintf(said, sizeof said, "%.*s means nothing to Sago; `sago hints` lists what does", KEY_SHOWN, name);
    tell(said);
}

static void each_name(void (*check)(const char *name, void (*tell)(const char *said)),
                      void (*tell)(const char *said)) {
    for (char **entry = environ; entry && *entry; entry++) {
        char name[VARIABLE_MAX];
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, "SAGO_", 5) != 0 || length >= sizeof name)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)length, *entry);
        check(name, tell);
    }
}

void sagoi_check_unknown(void (*tell)(const char *said)) { each_name(check_unknown, tell); }

void sagoi_check_environment(void (*tell)(const char *said)) {
    each_name(check_name, tell);
    sagoi_hints given = {0};
    for (int i = 0; i < ROWS; i++)
        if (environment_set(&given, &table[i]) != SAGO_OK)
            tell(sagoi_message());
    check_others(tell);
    check_paths(&given, tell);
    sagoi_message_clear();
}
