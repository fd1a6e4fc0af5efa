/* Puts together what is known of a job's surroundings. */
#include "machine/discover.h"

#include <dirent.h>
#include <dlfcn.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sago/topology.h>

#include "base/checked.h"
#include "base/hints.h"
#include "machine/cray.h"
#include "machine/fabric.h"

/* ---- One node ----------------------------------------------------------------------------------------- */

void sagoi_node_name_ask(sagoi_node_name *name) {
    memset(name, 0, sizeof *name);
    if (gethostname(name->host, sizeof name->host - 1) != 0)
        (void)snprintf(name->host, sizeof name->host, "unknown");
    const char *node = sagoi_slurm_node(sagoi_environment("SLURM_JOB_NODELIST"), name->host,
                                        sagoi_environment("SLURMD_NODENAME"));
    if (node != name->host && strlen(node) < sizeof name->host)
        (void)snprintf(name->host, sizeof name->host, "%s", node);
    const char *address = sagoi_environment("SLURM_TOPOLOGY_ADDR");
    if (address && strlen(address) < sizeof name->address)
        (void)snprintf(name->address, sizeof name->address, "%s", address);
    else if (sagoi_cray_ask("", name->host, name->address, sizeof name->address))
        name->teller = SAGOI_TOLD_BY_CRAY;
    else
        (void)sagoi_fabric_ask(name);
}

static int64_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type, int64_t otherwise) {
    int count = hwloc_get_nbobjs_by_type(topology, type);
    return count > 0 ? count : otherwise;
}

static void find_numa_cores(hwloc_topology_t topology, sagoi_inside *inside) {
    for (int i = 0; i < SAGOI_NUMA_NAMED && i < inside->numa; i++) {
        hwloc_obj_t domain = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
        if (domain)
            inside->numa_cores[i] =
                hwloc_get_nbobjs_inside_cpuset_by_type(topology, domain->cpuset, HWLOC_OBJ_CORE);
    }
}

static int64_t numa_near(hwloc_topology_t topology, hwloc_obj_t device) {
    hwloc_obj_t above = hwloc_get_non_io_ancestor_obj(topology, device), domain = NULL;
    while (above && (domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, domain)))
        if (hwloc_bitmap_isincluded(above->nodeset, domain->nodeset))
            /* The NUMA domain of an object; an object that is next to all domains belongs to none. */
            return domain->logical_index;
    return -1;
}

static void find_nics(hwloc_topology_t topology, sagoi_inside *inside) {
    for (hwloc_obj_t device = NULL; (device = hwloc_get_next_osdev(topology, device));) {
        hwloc_obj_osdev_type_t type = device->attr->osdev.type;
        if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS)
            continue;
        if (inside->nics < SAGOI_NICS_NAMED) {
            sagoi_nic *nic = &inside->nic[inside->nics];
            (void)snprintf(nic->name, sizeof nic->name, "%s", device->name ? device->name : "?");
            nic->numa = numa_near(topology, device);
        }
        inside->nics++;
    }
}

sagoi_inside sagoi_inside_ask(void) {
    sagoi_inside inside = {.cores = sysconf(_SC_NPROCESSORS_ONLN), .packages = 1, .numa = 1};
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return inside;
    (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology) == 0) {
        inside.cores = count_of(topology, HWLOC_OBJ_CORE, inside.cores);
        inside.packages = count_of(topology, HWLOC_OBJ_PACKAGE, 1);
        inside.numa = count_of(topology, HWLOC_OBJ_NUMANODE, 1);
        find_numa_cores(topology, &inside);
        find_nics(topology, &inside);
    }
    hwloc_topology_destroy(topology);
    return inside;
}

/* ---- Descriptions ------------------------------------------------------------------------------------- */

static bool is_path(const char *name) {
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".sago") == 0);
}

static int is_description(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".sago") == 0;
}

/* Lists the descriptions in a folder, "mira, theta", as far as they fit. */
static void list_machines(const char *folder, char *text, size_t capacity) {
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_description, alphasort);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text), length = strlen(names[i]->d_name) - 5;
        if (used + length + 3 < capacity)
            (void)snprintf(text + used, capacity - used, "%s%.*s", used ? ", " : "", (int)length,
                           names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

static sago_status load_from(const char *folder, const char *name, sagoi_description *description) {
    char *path = NULL, known[300];
    if (asprintf(&path, "%s/%s.sago", folder, name) < 0)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the path of machine %s", name);
    sago_status status = SAGO_OK;
    if (access(path, F_OK) != 0) {
        list_machines(folder, known, sizeof known);
        status = sagoi_fail(SAGO_ERR_NO_FILE, "there is no machine %s; there are %s, or give a path (FILE.sago)",
                            name, known);
    }
    if (!status)
        status = sagoi_description_read(path, description);
    free(path);
    return status;
}

sago_status sagoi_machine_load(const char *name, sagoi_description *description) {
    if (is_path(name))
        return sagoi_description_read(name, description);
    char folder[4096];
    if (!sagoi_installed("share/sago/machines", folder, sizeof folder))
        return sagoi_fail(SAGO_ERR_NO_FILE,
                          "machine %s: the descriptions of machines are not installed; give a path", name);
    return load_from(folder, name, description);
}

/* ---- Nodes to places ----------------------------------------------------------------------------------- */

static int place_compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static sago_status places_distinct(int64_t nodes, const int64_t *place) {
    int64_t *sorted = malloc((size_t)nodes * sizeof *sorted);
    if (!sorted)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the places of %lld nodes", (long long)nodes);
    memcpy(sorted, place, (size_t)nodes * sizeof *sorted);
    qsort(sorted, (size_t)nodes, sizeof *sorted, place_compare);
    bool twice = false;
    for (int64_t n = 1; n < nodes; n++)
        twice = twice || sorted[n] == sorted[n - 1];
    free(sorted);
    return twice ? sagoi_fail(SAGO_ERR_ARG, "two nodes of the job have the same name") : SAGO_OK;
}

static sago_status places_by_name(const sagoi_hostlist *hosts, int64_t nodes, const sagoi_node_name *name,
                                  int64_t *place) {
    for (int64_t n = 0; n < nodes; n++) {
        place[n] = sagoi_hostlist_find(hosts, name[n].host);
        if (place[n] < 0)
            return sagoi_fail(SAGO_ERR_ARG, "host %s is not among its hosts", name[n].host);
    }
    return places_distinct(nodes, place);
}

static sago_status places_in_order(const sagoi_description *d, int64_t nodes, int64_t *place) {
    if (nodes > d->nodes)
        return sagoi_fail(SAGO_ERR_ARG, "it has %lld nodes, the job runs on %lld", (long long)d->nodes,
                          (long long)nodes);
    for (int64_t n = 0; n < nodes; n++)
        place[n] = n;
    return SAGO_OK;
}

/* Lists the storage of a node or a rack, as the hint sago_local_dirs has it; what does not fit is left out. */
static void list_local_dirs(const sagoi_description *d, char dirs[SAGOI_SITE_TEXT_MAX]) {
    size_t used = 0;
    for (int64_t i = 0; i < d->tiers; i++) {
        const sagoi_tier *tier = &d->tier[i];
        bool fits = used + strlen(tier->path) + 2 <= SAGOI_SITE_TEXT_MAX;
        if (tier->sharing != SAGOI_SHARED_ALL && tier->path[0] && fits)
            used += (size_t)snprintf(dirs + used, SAGOI_SITE_TEXT_MAX - used, "%s%s", used ? ":" : "", tier->path);
    }
}

/* ---- The sources, in order ----------------------------------------------------------------------------- */

static sago_status take_description(const sagoi_description *d, int64_t nodes, const sagoi_node_name *name,
                                    sagoi_surroundings *found, int64_t *place) {
    sago_status status =
        d->hosts.ranges ? places_by_name(&d->hosts, nodes, name, place) : places_in_order(d, nodes, place);
    if (status != SAGO_OK) {
        sagoi_message_prefix("machine %s: ", d->name);
        return status;
    }
    found->topology = d->topology;
    memcpy(found->machine, d->name, sizeof found->machine);
    list_local_dirs(d, found->local_dirs);
    return SAGO_OK;
}

/* Descriptions are too large for the stack of a thread that has little. */
static sago_status description_create(sagoi_description **d) {
    *d = calloc(1, sizeof **d);
    return *d ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for the description of a machine");
}

static void description_destroy(sagoi_description *d) {
    if (d)
        sagoi_description_cleanup(d);
    free(d);
}

static sago_status use_description(const char *machine, const char *named_by, int64_t nodes,
                                   const sagoi_node_name *name, sagoi_surroundings *found, int64_t *place) {
    sagoi_description *d = NULL;
    sago_status status = description_create(&d);
    if (status == SAGO_OK)
        status = sagoi_machine_load(machine, d);
    if (status == SAGO_OK)
        status = take_description(d, nodes, name, found, place);
    if (status == SAGO_OK)
        (void)snprintf(found->source, sizeof found->source, "machine %s, named by %s", d->name, named_by);
    description_destroy(d);
    return status;
}

typedef char *site_topology_fn(int version, int64_t nhosts, const char *const hosts[]);

typedef union symbol {
    void *address;
    site_topology_fn *ask; /* a union, since ISO C has no cast between these */
} symbol;

/* Loads the site's library, which stays loaded: it may have started something, or keep something. */
static symbol load_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return (symbol){library ? dlsym(library, "sago_site_topology") : NULL};
}

static sago_status say_library_missing(const char *path) {
    const char *why = dlerror();
    return sagoi_fail(SAGO_ERR_NO_FILE, "topology_library %s: %.300s", path,
                      why ? why : "it has no function sago_site_topology");
}

/* *answered: the library gave a description, which the caller cleans up.  SAGO_ERR_NO_FILE: the named library
 * cannot be loaded, or has no such function; SAGO_ERR_ARG: its answer is no description. */
static sago_status ask_library(const char *path, int64_t nodes, const sagoi_node_name *name,
                               sagoi_description *description, bool *answered) {
    *answered = false;
    if (path[0] != '/')
        return sagoi_fail(SAGO_ERR_ARG, "topology_library %s: the path is not absolute", path);
    symbol found = load_library(path);
    if (!found.address)
        return say_library_missing(path);
    const char **hosts = calloc((size_t)nodes, sizeof *hosts);
    if (!hosts)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for the names of %lld nodes", (long long)nodes);
    for (int64_t n = 0; n < nodes; n++)
        hosts[n] = name[n].host;
    char *text = found.ask(SAGO_TOPOLOGY_VERSION, nodes, hosts);
    free(hosts);
    if (!text)
        return SAGO_OK;
    sago_status status = sagoi_description_parse(path, text, (int64_t)strlen(text), description);
    free(text);
    *answered = !status;
    return status;
}

/* Asks the site's own shared object; *used: it gave an answer. */
static sago_status use_library(const char *path, int64_t nodes, const sagoi_node_name *name,
                               sagoi_surroundings *found, int64_t *place, bool *used) {
    sagoi_description *d = NULL;
    sago_status status = description_create(&d);
    *used = false;
    if (status == SAGO_OK)
        status = ask_library(path, nodes, name, d, used);
    if (status == SAGO_OK && *used)
        status = take_description(d, nodes, name, found, place);
    if (status == SAGO_OK && *used)
        (void)snprintf(found->source, sizeof found->source, "machine %.48s, by %.180s", d->name, path);
    description_destroy(d);
    return status;
}

/* A tree whose extents are still to be set.  Two nodes of a leaf switch are two hops apart, and as near as
 * `network` says; what is between racks is above the leaf switches. */
static sagoi_topology tree_of(const sagoi_site *site, const sagoi_topology *flat) {
    sagoi_topology tree = *flat;
    const sagoi_level near = flat->level[0], far = site->between;
    tree.kind = SAGOI_FAT_TREE;
    tree.level[0].latency = near.latency / 2;
    tree.level[1] = tree.level[0];
    if (far.bandwidth > 0)
        tree.level[1] =
            (sagoi_level){far.latency > near.latency ? (far.latency - near.latency) / 2 : 0, far.bandwidth};
    return tree;
}

/* The levels that nothing is known of are as level 1. */
static void complete_levels(sagoi_topology *tree) {
    for (int64_t k = 2; k < tree->dimensions; k++)
        tree->level[k] = tree->level[1];
    if (tree->dimensions > 1) /* one pair of nodes fills it: there is one, not several */
        tree->links[1] = tree->level[1].bandwidth < tree->level[0].bandwidth;
}

/* Puts the nodes at the places that `hosts` says. */
static bool use_tree(sagoi_topology *tree, const sagoi_hostlist *hosts, int64_t nodes, const sagoi_node_name *name,
                     sagoi_surroundings *found, int64_t *place) {
    complete_levels(tree);
    if (places_by_name(hosts, nodes, name, place) != SAGO_OK || sagoi_topology_complete(tree) != SAGO_OK)
        return false;
    found->topology = *tree;
    return true;
}

static bool use_slurm_conf(const char *slurm_conf, const sagoi_site *site, int64_t nodes,
                           const sagoi_node_name *name, sagoi_surroundings *found, int64_t *place) {
    char path[4096];
    const char *slash = slurm_conf ? strrchr(slurm_conf, '/') : NULL;
    int length = slash ? snprintf(path, sizeof path, "%.*s/topology.conf", (int)(slash - slurm_conf), slurm_conf)
                       : snprintf(path, sizeof path, "/etc/slurm/topology.conf");
    sagoi_topology tree = tree_of(site, &found->topology);
    sagoi_hostlist hosts = {0};
    bool used = length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0 &&
                sagoi_slurm_read(path, &tree, &hosts) == SAGO_OK &&
                use_tree(&tree, &hosts, nodes, name, found, place);
    if (used)
        (void)snprintf(found->source, sizeof found->source, "%.240s", path);
    sagoi_hostlist_cleanup(&hosts);
    return used;
}

static bool use_addresses(const sagoi_site *site, int64_t nodes, const sagoi_node_name *name,
                          sagoi_surroundings *found, int64_t *place) {
    for (int64_t n = 0; n < nodes; n++)
        if (!name[n].address[0] || name[n].teller != name[0].teller)
            return false;
    sagoi_topology tree = tree_of(site, &found->topology);
    sagoi_hostlist hosts = {0};
    bool used = sagoi_slurm_addresses(nodes, name, &tree, &hosts) == SAGO_OK &&
                use_tree(&tree, &hosts, nodes, name, found, place);
    if (used)
        (void)snprintf(found->source, sizeof found->source, "%s",
                       name[0].teller == SAGOI_TOLD_BY_CRAY ? "/proc/cray_xt/cname" : "SLURM_TOPOLOGY_ADDR");
    sagoi_hostlist_cleanup(&hosts);
    return used;
}

/* Makes places of the nodes' own coordinates; the bandwidth of links stays as it is. */
static bool use_coordinates(int64_t nodes, const sagoi_node_name *name, sagoi_surroundings *found,
                            int64_t *place) {
    sagoi_topology box = found->topology;
    if (!sagoi_fabric_lay(nodes, name, &box, place) || places_distinct(nodes, place) != SAGO_OK) {
        sagoi_message_clear();
        return false;
    }
    found->topology = box;
    (void)snprintf(found->source, sizeof found->source, "%s",
                   name[0].teller == SAGOI_TOLD_BY_TOFU ? "coordinates of Tofu" : "coordinates by PMIx");
    return true;
}

/* Makes a tree of two levels of the racks that `sago tune` found, or that somebody wrote down, if they contain all
 * nodes. */
static bool use_racks(const sagoi_site *site, int64_t nodes, const sagoi_node_name *name,
                      sagoi_surroundings *found, int64_t *place) {
    sagoi_topology tree = tree_of(site, &found->topology);
    int64_t widest = 1;
    for (int64_t i = 0; i < site->racks; i++)
        widest = sagoi_max(widest, site->rack[i].hosts);
    if (site->racks < 2 || site->between.bandwidth <= 0 || widest > SAGOI_PLACES_MAX)
        return false;
    for (int64_t n = 0; n < nodes; n++) {
        place[n] = -1;
        for (int64_t i = 0; i < site->racks && place[n] < 0; i++) {
            int64_t seat = sagoi_hostlist_find(&site->rack[i], name[n].host);
            place[n] = seat < 0 ? -1 : i * widest + seat;
        }
        if (place[n] < 0)
            return false;
    }
    tree.dimensions = 2;
    tree.extent[0] = site->racks;
    tree.extent[1] = widest;
    complete_levels(&tree);
    if (places_distinct(nodes, place) != SAGO_OK || sagoi_topology_complete(&tree) != SAGO_OK)
        return false;
    found->topology = tree;
    (void)snprintf(found->source, sizeof found->source, "the site file's racks");
    return true;
}

static void use_flat(const sagoi_site *site, int64_t nodes, sagoi_surroundings *found, int64_t *place) {
    sagoi_topology_flat(&found->topology, sagoi_min(nodes, SAGOI_PLACES_MAX));
    if (site->network.bandwidth > 0)
        found->topology.level[0] = site->network;
    for (int64_t n = 0; n < nodes; n++)
        place[n] = n;
    (void)snprintf(found->source, sizeof found->source,
                   site->network.bandwidth > 0 ? "the site file's network" : "nothing is known: taken as flat");
}

/* ---- What the site file adds --------------------------------------------------------------------------- */

/* Gives each node that a line "link" of the site file names a link of its own; what does not fit the rules is left
 * out. */
static void apply_links(const sagoi_site *site, int64_t nodes, const sagoi_node_name *name, const int64_t *place,
                        sagoi_topology *topology) {
    for (int64_t i = 0; i < site->links; i++)
        for (int64_t n = 0; n < nodes && topology->link_rules < SAGOI_LINK_RULES_MAX; n++)
            if (sagoi_hostlist_find(&site->link[i].hosts, name[n].host) >= 0)
                topology->link_rule[topology->link_rules++] =
                    (sagoi_link_rule){.first = place[n], .count = 1, .bandwidth = site->link[i].bandwidth};
}

/* Takes what the nodes themselves show, where no description says it. */
static void apply_numa(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology) {
    for (int64_t n = 0, described = topology->numa; n < nodes && described == 0; n++)
        topology->numa = sagoi_max(topology->numa, name[n].numa);
}

static void apply_memory(int64_t nodes, const sagoi_node_name *name, sagoi_topology *topology) {
    sagoi_memory_level level = {
        .name = "fast memory", .size = INT64_MAX, .bandwidth = 1}; /* how fast it is does not matter */
    for (int64_t n = 0; n < nodes; n++)
        level.size = sagoi_min(level.size, name[n].fast);
    if (topology->memory_levels == 0 && level.size > 0)
        topology->memory_level[topology->memory_levels++] = level;
}

static sago_status read_site(const char *hint, sagoi_site *site) {
    char path[4096];
    if (!sagoi_site_find(hint, path, sizeof path))
        return SAGO_OK;
    sago_status status = sagoi_site_read(path, site);
    if (status)
        sagoi_message_prefix("the site file (hint sago_site, SAGO_SITE): ");
    return status;
}

static void tell_variable(const char *variable, const char *value, void (*tell)(const char *said)) {
    char said[SAGOI_MESSAGE_MAX + 128];
    (void)snprintf(said, sizeof said, "environment variable %s=%.64s: %s", variable, value, sagoi_message());
    tell(said);
}

static void site_destroy(sagoi_site *site) {
    if (site)
        sagoi_site_cleanup(site);
    free(site);
}

void sagoi_check_surroundings(void (*tell)(const char *said)) {
    const char *path = sagoi_environment("SAGO_SITE"), *machine = sagoi_environment("SAGO_MACHINE");
    sagoi_site *site = calloc(1, sizeof *site);
    sagoi_description *description = calloc(1, sizeof *description);
    if (site && path && strcmp(path, "auto") != 0 && strcmp(path, "none") != 0 && sagoi_site_read(path, site))
        tell_variable("SAGO_SITE", path, tell);
    if (description && machine && strcmp(machine, "auto") != 0 && strcmp(machine, "none") != 0 &&
        sagoi_machine_load(machine, description))
        tell_variable("SAGO_MACHINE", machine, tell);
    description_destroy(description);
    site_destroy(site);
    sagoi_message_clear();
}

static sago_status find_topology(const sagoi_discover_options *options, const sagoi_site *site, int64_t nodes,
                                 const sagoi_node_name *name, sagoi_surroundings *found, int64_t *place) {
    use_flat(site, nodes, found, place);
    if (strcmp(options->machine, "none") == 0)
        return SAGO_OK;
    if (options->machine[0])
        return use_description(options->machine, "sago_machine", nodes, name, found, place);
    if (site->machine[0])
        return use_description(site->machine, "the site file", nodes, name, found, place);
    if (site->topology_library[0]) {
        bool used;
        sago_status status = use_library(site->topology_library, nodes, name, found, place, &used);
        if (status != SAGO_OK || used)
            return status;
    }
    if (!use_slurm_conf(options->slurm_conf, site, nodes, name, found, place) &&
        !use_addresses(site, nodes, name, found, place)) {
        use_flat(site, nodes, found, place); /* an attempt may have set places */
        if (!use_coordinates(nodes, name, found, place) && !use_racks(site, nodes, name, found, place))
            use_flat(site, nodes, found, place);
    }
    return SAGO_OK;
}

static void apply_site(const sagoi_site *site, sagoi_surroundings *found) {
    found->tuned = site->tuned;
    found->assumed = !found->machine[0] && site->network.bandwidth <= 0;
    if (site->local_dirs[0])
        memcpy(found->local_dirs, site->local_dirs, sizeof found->local_dirs);
    if (site->inside.bandwidth > 0)
        found->topology.inside = site->inside;
    if (site->io.bandwidth > 0)
        found->topology.io = site->io;
    found->stream = site->io.bandwidth;
}

sago_status sagoi_discover(const sagoi_discover_options *options, int64_t nodes, const sagoi_node_name *name,
                           sagoi_surroundings *found, int64_t *place) {
    sagoi_site *site = calloc(1, sizeof *site);
    memset(found, 0, sizeof *found);
    sago_status status = site ? read_site(options->site, site)
                              : sagoi_fail(SAGO_ERR_MEMORY, "no memory for what the site file says");
    if (status == SAGO_OK)
        status = find_topology(options, site, nodes, name, found, place);
    if (status == SAGO_OK) {
        apply_site(site, found);
        apply_links(site, nodes, name, place, &found->topology);
        apply_numa(nodes, name, &found->topology);
        apply_memory(nodes, name, &found->topology);
    }
    site_destroy(site);
    return status;
}
