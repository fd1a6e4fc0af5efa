/* Slurm's topology.conf: "SwitchName=s0 Nodes=n[0-3]", "SwitchName=top Switches=s[0-1]".  Addresses of nodes are
 * written in the same form, and read by the same parser. */
#include "machine/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "machine/switches.h"

/* ---- topology.conf ------------------------------------------------------------------------------------- */

/* The value of "key=value", whatever the case of the key; NULL: the key is another one. */
static const char *value_of(const char *word, const char *key) {
    size_t length = strlen(key);
    return strncasecmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

typedef struct parser {
    sagoi_text text;
    sagoi_switches switches;
} parser;

static sago_status line_take(void *arg) {
    parser *p = arg;
    sagoi_text *text = &p->text;
    const char *name = NULL, *nodes = NULL, *below = NULL;
    for (int64_t i = 0; i < text->words; i++) {
        const char *word = text->word[i], *value;
        if ((value = value_of(word, "SwitchName")))
            name = value;
        else if ((value = value_of(word, "Nodes")))
            nodes = value;
        else if ((value = value_of(word, "Switches")))
            below = value;
        else if (!strchr(word, '=')) /* LinkSpeed and other keys do not matter */
            return sagoi_text_fail(text, "'%s' is no KEY=VALUE", word);
    }
    if (!name)
        return SAGO_OK;
    if (!*name || !nodes == !below)
        return sagoi_text_fail(text, "a switch needs a name and either Nodes or Switches");
    return sagoi_switches_add(&p->switches, text, name, nodes ? nodes : below, nodes != NULL);
}

/* Parses a text, which this function frees. */
static sago_status parse(sagoi_text text, sagoi_topology *topology, sagoi_hostlist *hosts) {
    parser p = {.text = text};
    sago_status status = sagoi_text_each(&p.text, line_take, &p);
    if (status == SAGO_OK && p.switches.count == 0)
        status = sagoi_text_fail(&p.text, "no switch");
    if (status == SAGO_OK)
        status = sagoi_switches_lay(&p.switches, &p.text, topology, hosts);
    sagoi_switches_cleanup(&p.switches);
    sagoi_text_cleanup(&p.text);
    return status;
}

sago_status sagoi_slurm_parse(const char *source, const char *bytes, int64_t length, sagoi_topology *topology,
                              sagoi_hostlist *hosts) {
    sagoi_text text;
    sago_status status = sagoi_text_init(&text, source, bytes, length);
    return status == SAGO_OK ? parse(text, topology, hosts) : status;
}

sago_status sagoi_slurm_read(const char *path, sagoi_topology *topology, sagoi_hostlist *hosts) {
    sagoi_text text;
    sago_status status = sagoi_text_open(&text, path);
    return status == SAGO_OK ? parse(text, topology, hosts) : status;
}

/* ---- Addresses ----------------------------------------------------------------------------------------- */

static int address_compare(const void *a, const void *b) {
    const sagoi_node_name *const *x = a, *const *y = b;
    return strcmp((*x)->address, (*y)->address);
}

/* Length of the first `parts` parts of an address; 0: it has fewer. */
static size_t prefix_length(const char *address, int64_t parts) {
    const char *at = address;
    for (; parts > 0 && (at = strchr(at, '.')); parts--)
        at++;
    return at ? (size_t)(at - 1 - address) : 0;
}

static bool same_prefix(const char *a, const char *b, size_t length) {
    return strncmp(a, b, length) == 0 && (a[length] == '.' || !a[length]) && (b[length] == '.' || !b[length]);
}

/* Writes the switches of one depth: each stretch of addresses with the same first `parts` parts.  A switch or host
 * below is named by one part more.  Returns the number of switches. */
static int64_t switches_write(const sagoi_node_name *const *sorted, int64_t nodes, int64_t parts, FILE *out) {
    int64_t count = 0;
    for (int64_t i = 0, j; i < nodes; i = j) {
        const char *address = sorted[i]->address;
        size_t length = prefix_length(address, parts), last = 0;
        j = i + 1;
        if (length == 0)
            continue;
        bool leaf = prefix_length(address, parts + 1) == 0;
        fprintf(out, "SwitchName=%.*s %s=", (int)length, address, leaf ? "Nodes" : "Switches");
        for (j = i; j < nodes && same_prefix(address, sorted[j]->address, length); j++) {
            const char *here = sorted[j]->address;
            size_t child = leaf ? strlen(here) : prefix_length(here, parts + 1);
            if (j > i && !leaf && same_prefix(sorted[j - 1]->address, here, last))
                continue;
            last = child;
            if (leaf)
                fprintf(out, "%s%s", j > i ? "," : "", sorted[j]->host);
            else
                fprintf(out, "%s%.*s", j > i ? "," : "", (int)child, here);
        }
        fputc('\n', out);
        count++;
    }
    return count;
}

sago_status sagoi_slurm_addresses(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology,
                                  sagoi_hostlist *hosts) {
    const sagoi_node_name **sorted = calloc((size_t)nodes, sizeof *sorted);
    char *text = NULL;
    size_t length = 0;
    FILE *out = sorted ? open_memstream(&text, &length) : NULL;
    sago_status status = SAGO_ERR_MEMORY;
    if (out) {
        for (int64_t i = 0; i < nodes; i++)
            sorted[i] = &name[i];
        qsort(sorted, (size_t)nodes, sizeof *sorted, address_compare);
        for (int64_t parts = 1; switches_write(sorted, nodes, parts, out) > 0;)
            parts++;
        status = fclose(out) == 0
                     ? sagoi_slurm_parse("SLURM_TOPOLOGY_ADDR", text, (int64_t)length, topology, hosts)
                     : SAGO_ERR_MEMORY;
    }
    if (status == SAGO_ERR_MEMORY)
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for the addresses of %lld nodes", (long long)nodes);
    free(text);
    free(sorted);
    return status;
}

/* ---- The job ------------------------------------------------------------------------------------------- */

/* Takes "4" or "4(x2)" and what follows it; false: it is neither. */
static bool count_take(const char **text, int64_t *count) {
    static const long long most = 1 << 20;
    char *end;
    long long number = strtoll(*text, &end, 10), times = 1;
    if (end == *text || number < 1 || number > most)
        return false;
    if (strncmp(end, "(x", 2) == 0) {
        const char *digits = end + 2;
        times = strtoll(digits, &end, 10);
        if (end == digits || times < 1 || *end++ != ')')
            return false;
    }
    *text = end;
    *count = number;
    return true;
}

static sago_status tasks_parse(const char *text, int64_t *most) {
    const char *at = text;
    for (int64_t count;; at++) {
        if (!count_take(&at, &count) || (*at && *at != ','))
            return sagoi_fail(SAGO_ERR_ARG, "'%.40s' are no numbers of tasks", text);
        *most = count > *most ? count : *most;
        if (!*at)
            return SAGO_OK;
    }
}

sago_status sagoi_slurm_job_parse(const char *nodes, const char *tasks, sagoi_slurm_job *job) {
    sagoi_slurm_job made = {.tasks = 0};
    sago_status status = sagoi_hostlist_add(&made.hosts, nodes);
    if (status == SAGO_OK && made.hosts.hosts == 0)
        status = sagoi_fail(SAGO_ERR_ARG, "the job has no nodes");
    if (status == SAGO_OK && tasks)
        status = tasks_parse(tasks, &made.tasks);
    if (status == SAGO_OK)
        *job = made;
    else
        sagoi_slurm_job_cleanup(&made);
    return status;
}

void sagoi_slurm_job_cleanup(sagoi_slurm_job *job) { sagoi_hostlist_cleanup(&job->hosts); }

const char *sagoi_slurm_node(const char *nodes, const char *host, const char *node) {
    sagoi_slurm_job job;
    if (!nodes || !node || sagoi_slurm_job_parse(nodes, NULL, &job) != SAGO_OK)
        return host;
    bool renamed = sagoi_hostlist_find(&job.hosts, host) < 0 && sagoi_hostlist_find(&job.hosts, node) >= 0;
    sagoi_slurm_job_cleanup(&job);
    return renamed ? node : host;
}
