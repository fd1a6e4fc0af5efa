/* The parser and the writer of site files, and where such files are: relative to where the library itself was
 * loaded from, an installed prefix or a build tree. */
#include "machine/site.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hints.h"

typedef struct parser {
    sagoi_text text;
    sagoi_site *site;
    unsigned long seen; /* bit i: row i of the table was in the file */
} parser;

typedef enum { VALUE_TEXT, VALUE_LEVEL, VALUE_COUNT, VALUE_SIZE, VALUE_LINK, VALUE_RACK } value_kind;

typedef struct key_row {
    const char *name;
    value_kind kind;
    size_t field;
    const char *help; /* the comment that the writer puts before the row */
} key_row;

#define FIELD(name) offsetof(sagoi_site, name)
static const key_row keys[] = {
    {"machine", VALUE_TEXT, FIELD(machine), "description of the machine"},
    {"topology_library", VALUE_TEXT, FIELD(topology_library), "shared object that describes the network"},
    {"sago_local_dirs", VALUE_TEXT, FIELD(local_dirs), "storage of nodes and racks"},
    {"inside", VALUE_LEVEL, FIELD(inside), "between ranks of a node"},
    {"network", VALUE_LEVEL, FIELD(network), "between nodes"},
    {"between_racks", VALUE_LEVEL, FIELD(between), "between nodes of different racks"},
    {"rack", VALUE_RACK, 0, "nodes that are nearer to each other than to others"},
    {"io", VALUE_LEVEL, FIELD(io), "one writer to the storage"},
    {"sago_aggregators_per_node", VALUE_COUNT, FIELD(tuned.aggregators_per_node),
     "N_ah: writers that saturate a node"},
    {"sago_domain_write", VALUE_SIZE, FIELD(tuned.domain_write), "Msg_ind: what an aggregator owns, writing"},
    {"sago_domain_read", VALUE_SIZE, FIELD(tuned.domain_read), "Msg_ind: what an aggregator owns, reading"},
    {"sago_group_size", VALUE_SIZE, FIELD(tuned.group), "Msg_group: bytes that saturate the storage"},
    {"sago_host_memory", VALUE_SIZE, FIELD(tuned.least_memory), "Mem_min: of a node, to host an aggregator"},
    {"link", VALUE_LINK, 0, "nodes whose own links are slower"},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* ---- Parsing ------------------------------------------------------------------------------------------ */

static sago_status take_text(parser *p, char *field) {
    if (p->text.words != 2 || strlen(p->text.word[1]) >= SAGOI_SITE_TEXT_MAX)
        return sagoi_text_fail(&p->text, "%s takes one word of less than %d characters", p->text.word[0],
                               SAGOI_SITE_TEXT_MAX);
    (void)snprintf(field, SAGOI_SITE_TEXT_MAX, "%s", p->text.word[1]);
    return SAGO_OK;
}

static sago_status take_level(parser *p, sagoi_level *level) {
    char *const *word = p->text.word;
    if (p->text.words != 5 || strcmp(word[1], "latency") != 0 || strcmp(word[3], "bandwidth") != 0)
        return sagoi_text_fail(&p->text, "%s is followed by 'latency TIME bandwidth RATE'", word[0]);
    if (!sagoi_parse_time(word[2], &level->latency))
        return sagoi_text_fail(&p->text, "%s: '%s' is not a time like 1.3us", word[0], word[2]);
    if (!sagoi_parse_rate(word[4], &level->bandwidth))
        return sagoi_text_fail(&p->text, "%s: '%s' is not a bandwidth above zero like 1.8GB/s", word[0], word[4]);
    return SAGO_OK;
}

static sago_status take_number(parser *p, bool size, int64_t *value) {
    bool good = p->text.words == 2 && (size ? sagoi_parse_size(p->text.word[1], value) && *value > 0
                                            : sagoi_parse_int(p->text.word[1], 1, 1 << 20, value));
    if (!good)
        return sagoi_text_fail(&p->text, "%s takes one %s", p->text.word[0],
                               size ? "size above zero like 32MiB" : "number above zero");
    return SAGO_OK;
}

static sago_status take_link(parser *p) {
    sagoi_site *site = p->site;
    sagoi_site_link link = {.bandwidth = 0};
    if (p->text.words != 4 || strcmp(p->text.word[2], "bandwidth") != 0 ||
        !sagoi_parse_rate(p->text.word[3], &link.bandwidth))
        return sagoi_text_fail(&p->text, "link is followed by 'HOSTS bandwidth RATE'");
    if (site->links == SAGOI_LINK_RULES_MAX)
        return sagoi_text_fail(&p->text, "more than %d lines of links", SAGOI_LINK_RULES_MAX);
    sago_status status = sagoi_hostlist_add(&link.hosts, p->text.word[1]);
    site->link[site->links++] = link;
    return status == SAGO_OK ? SAGO_OK : sagoi_text_locate(&p->text, status);
}

static sago_status take_rack(parser *p) {
    sagoi_site *site = p->site;
    if (p->text.words != 2)
        return sagoi_text_fail(&p->text, "rack is followed by HOSTS");
    if (site->racks == SAGOI_RACKS_MAX)
        return sagoi_text_fail(&p->text, "more than %d racks", SAGOI_RACKS_MAX);
    sago_status status = sagoi_hostlist_add(&site->rack[site->racks++], p->text.word[1]);
    return status == SAGO_OK ? SAGO_OK : sagoi_text_locate(&p->text, status);
}

static sago_status line_take(void *arg) {
    parser *p = arg;
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, p->text.word[0]) != 0)
            continue;
        if (keys[i].kind != VALUE_LINK && keys[i].kind != VALUE_RACK && p->seen & 1UL << i)
            return sagoi_text_fail(&p->text, "%s is given already", keys[i].name);
        p->seen |= 1UL << i;
        void *field = (char *)p->site + keys[i].field;
        switch (keys[i].kind) {
        case VALUE_TEXT:
            return take_text(p, field);
        case VALUE_LEVEL:
            return take_level(p, field);
        case VALUE_COUNT:
        case VALUE_SIZE:
            return take_number(p, keys[i].kind == VALUE_SIZE, field);
        case VALUE_LINK:
            return take_link(p);
        case VALUE_RACK:
            return take_rack(p);
        }
    }
    return sagoi_text_fail(&p->text, "unknown key '%s'", p->text.word[0]);
}

sago_status sagoi_site_read(const char *path, sagoi_site *site) {
    sagoi_site *made = calloc(1, sizeof *made); /* too large for the stack of a thread that has little */
    parser p = {.site = made};
    sago_status status = made ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for what the site file says");
    if (status == SAGO_OK)
        status = sagoi_text_open(&p.text, path);
    if (status == SAGO_OK) {
        status = sagoi_text_each(&p.text, line_take, &p);
        sagoi_text_cleanup(&p.text);
    }
    if (status == SAGO_OK)
        *site = *made;
    else if (made)
        sagoi_site_cleanup(made);
    free(made);
    return status;
}

void sagoi_site_cleanup(sagoi_site *site) {
    for (int64_t i = 0; i < site->links; i++)
        sagoi_hostlist_cleanup(&site->link[i].hosts);
    for (int64_t i = 0; i < site->racks; i++)
        sagoi_hostlist_cleanup(&site->rack[i]);
    site->links = site->racks = 0;
}

/* ---- Writing ------------------------------------------------------------------------------------------ */

static void hosts_write(const sagoi_hostlist *hosts, FILE *out) {
    char text[3 * SAGOI_HOST_MAX];
    for (int64_t r = 0; r < hosts->ranges; r++) {
        sagoi_host_range_format(&hosts->range[r], text, sizeof text);
        fprintf(out, "%s%s", r ? "," : "", text);
    }
}

static void racks_write(const sagoi_site *site, FILE *out) {
    for (int64_t i = 0; i < site->racks; i++) {
        fputs("rack ", out);
        hosts_write(&site->rack[i], out);
        fputc('\n', out);
    }
}

static void links_write(const sagoi_site *site, FILE *out) {
    for (int64_t i = 0; i < site->links; i++) {
        fputs("link ", out);
        hosts_write(&site->link[i].hosts, out);
        fprintf(out, " bandwidth %s\n", sagoi_format_rate(site->link[i].bandwidth).text);
    }
}

static void value_write(const key_row *key, const void *field, FILE *out) {
    const sagoi_level *level = field;
    const int64_t *number = field;
    if (key->kind == VALUE_TEXT && *(const char *)field)
        fprintf(out, "%-26s %-36s # %s\n", key->name, (const char *)field, key->help);
    else if (key->kind == VALUE_LEVEL && level->bandwidth > 0)
        fprintf(out, "%-26s latency %-8s bandwidth %-9s # %s\n", key->name, sagoi_format_time(level->latency).text,
                sagoi_format_rate(level->bandwidth).text, key->help);
    else if (key->kind == VALUE_COUNT && *number)
        fprintf(out, "%-26s %-36lld # %s\n", key->name, (long long)*number, key->help);
    else if (key->kind == VALUE_SIZE && *number)
        fprintf(out, "%-26s %-36s # %s\n", key->name, sagoi_format_size(*number).text, key->help);
}

void sagoi_site_write(const sagoi_site *site, FILE *out) {
    for (int i = 0; i < KEYS; i++)
        if (keys[i].kind == VALUE_LINK)
            links_write(site, out);
        else if (keys[i].kind == VALUE_RACK)
            racks_write(site, out);
        else
            value_write(&keys[i], (const char *)site + keys[i].field, out);
}

/* ---- Where it is ---------------------------------------------------------------------------------------- */

/* The file that this code was loaded from.  If the library is linked into a program, the loader knows only the
 * name that the program was called by, which may have no folder, be relative to a folder that was left since, or
 * be a link. */
static bool own_file(char file[PATH_MAX]) {
    static const char here = 0; /* an address of ours */
    Dl_info about;
    struct link_map *object = NULL;
    if (!dladdr1(&here, &about, (void **)&object, RTLD_DL_LINKMAP) || !object)
        return false;
    if (*object->l_name)
        return realpath(object->l_name, file) != NULL;
    return realpath("/proc/self/exe", file) != NULL;
}

bool sagoi_installed(const char *below, char *path, int64_t capacity) {
    char folder[PATH_MAX];
    char *slash = own_file(folder) ? strrchr(folder, '/') : NULL;
    for (int up = 0; slash && up <= 2; up++) { /* strips the file, then lib, bin, or lib/x86_64-linux-gnu */
        *slash = '\0';
        int length = snprintf(path, (size_t)capacity, "%s/%s", folder, below);
        if (up > 0 && length < capacity && access(path, R_OK) == 0)
            return true;
        slash = strrchr(folder, '/');
    }
    return false;
}

bool sagoi_site_find(const char *hint, char *path, int64_t capacity) {
    if (strcmp(hint, "none") == 0)
        return false;
    if (*hint)
        return snprintf(path, (size_t)capacity, "%s", hint) < capacity;
    if (sagoi_installed("etc/sago/site", path, capacity))
        return true;
    int length = snprintf(path, (size_t)capacity, "/etc/sago/site");
    return length < capacity && access(path, R_OK) == 0;
}
