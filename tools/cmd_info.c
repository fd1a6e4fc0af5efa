/* `sago info`: what this Sago is, where its parts are, and whether this machine can do what Sago needs, with
 * advice.
 *
 * Every line is a fact: a topic, a name, a value and, if something is missing, what to do about it. */
#include <errno.h>
#include <limits.h>
#include <linux/io_uring.h>
#include <mntent.h>
#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sago/sago.h>

#include "base/hints.h"
#include "base/size_text.h"
#include "base/json.h"
#include "machine/discover.h"
#include "machine/memory.h"
#include "machine/site.h"
#include "tools/colour.h"
#include "tools/command.h"
#include "tools/fold.h"

enum { VALUE_MAX = 512, FACTS_MAX = 256, LINE_WIDTH = 100, NAME_WIDTH = 14, INDENT = NAME_WIDTH + 3 };

typedef enum { GOOD, SLOWER, BROKEN } verdict; /* SLOWER: Sago works without it, at a price */

typedef struct fact {
    const char *topic;
    char name[128], value[VALUE_MAX];
    verdict how;
    const char *advice; /* NULL: no advice is needed */
} fact;

typedef struct facts {
    fact all[FACTS_MAX];
    int count;
} facts;

__attribute__((format(printf, 4, 5))) static fact *add(facts *found, const char *topic, const char *name,
                                                       const char *format, ...) {
    static fact surplus;
    fact *new = found->count < FACTS_MAX ? &found->all[found->count++] : &surplus;
    va_list arguments;
    *new = (fact){.topic = topic};
    snprintf(new->name, sizeof new->name, "%s", name);
    va_start(arguments, format);
    vsnprintf(new->value, sizeof new->value, format, arguments);
    va_end(arguments);
    new->value[strcspn(new->value, "\n")] = 0;
    return new;
}

static void advise(fact *about, verdict how, const char *advice) {
    about->how = how;
    about->advice = advice;
}

/* ---- What it is ---- */

static void look_at_build(facts *found) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    add(found, "build", "version", "%s", sago_version(NULL, NULL, NULL));
    add(found, "build", "MPI", "%s, compiled by %s", SAGO_MPI_VERSION, SAGO_MPICC);
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = 0;
    for (char *c = text; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    add(found, "build", "MPI here", "%s", text);
    add(found, "build", "compiler", "%s", SAGO_COMPILER);
    add(found, "build", "features", "%s", SAGO_FEATURES);
}

/* The family of the MPI whose compiler wrapper this is, by its name or its text; NULL: unknown. */
static const char *family_of(const char *wrapper) {
    char text[16384];
    const char *name = strrchr(wrapper, '/');
    if (name && strcmp(name, "/opal_wrapper") == 0)
        return "Open MPI";
    FILE *in = fopen(wrapper, "r");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        (void)fclose(in);
    text[length] = 0;
    return strncmp(text, "#!", 2) == 0 && strcasestr(text, "mpich") ? "MPICH" : NULL;
}

/* Programs that mpicc compiles would not run with this Sago. */
static void look_at_wrapper(facts *found) {
#ifdef OPEN_MPI
    const char *own = "Open MPI";
    const char *advice = "build programs by mpicc.openmpi, or Sago by make MPI=mpich";
#else
    const char *own = "MPICH";
    const char *advice = "build programs by mpicc.mpich, or Sago by make MPI=openmpi";
#endif
    char path[PATH_MAX], full[PATH_MAX];
    const char *family = NULL;
    for (const char *at = getenv("PATH"); at && !family; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int length = snprintf(path, sizeof path, "%.*s/mpicc", (int)strcspn(at, ":"), at);
        if (length >= (int)sizeof path || access(path, X_OK) != 0)
            continue;
        family = realpath(path, full) ? family_of(full) : NULL;
        if (!family)
            return;
    }
    if (!family)
        return;
    fact *about = add(found, "paths", "mpicc", "%s, of %s", path, family);
    if (strcmp(family, own) != 0)
        advise(about, SLOWER, advice);
}

static void look_at_paths(facts *found) {
    char path[VALUE_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        add(found, "paths", "command", "%s", path);
    }
    if (sagoi_installed("share/sago/machines", path, sizeof path))
        add(found, "paths", "machines", "%s", path);
    else
        advise(add(found, "paths", "machines", "not found"), SLOWER,
               "the descriptions of machines are not beside the command; install all of Sago");
    const char *site = getenv("SAGO_SITE");
    if (sagoi_site_find(site ? site : "", path, sizeof path))
        add(found, "paths", "site file", "%s", path);
    else
        advise(add(found, "paths", "site file", "none"), SLOWER,
               "mpiexec -n RANKS sago tune measures this system and writes one, so that plans fit it");
}

static facts *told_to; /* a global, since sagoi_check_environment() passes no argument on */

/* A wrong value of a hint keeps files from being opened, a wrong path matters to some programs, and other wrong
 * variables have no effect. */
static void tell_wrong(const char *said) {
    static const char *const harmless[] = {"SAGO_STATS", "SAGO_LOCAL_DIRS", "SAGO_CKPT_STATS", "SAGO_DISABLE"};
    bool broken = strstr(said, "environment variable ");
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        broken = broken && !strstr(said, harmless[i]);
    advise(add(told_to, "environment", "wrong", "%s", said), broken ? BROKEN : SLOWER,
           broken ? "every call that opens a file fails with this; correct or unset the variable"
                  : "it does not do what it is meant to; correct or unset the variable");
}

static void look_at_environment(facts *found) {
    static const char *const others[] = {"LD_PRELOAD", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
    for (char **entry = environ; *entry; entry++) {
        if (strncmp(*entry, "SAGO_", 5) != 0)
            continue;
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        add(found, "environment", name, "%s", *entry + strcspn(*entry, "=") + 1);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (getenv(others[i]))
            add(found, "environment", others[i], "%s", getenv(others[i]));
    told_to = found;
    sagoi_check_environment(tell_wrong);
    sagoi_check_surroundings(tell_wrong);
    sagoi_check_unknown(tell_wrong);
}

/* ---- The machine ---- */

static void look_at_kernel(facts *found) {
    struct utsname name;
    if (uname(&name) == 0)
        add(found, "machine", "kernel", "%s %s, %s", name.sysname, name.release, name.machine);
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        add(found, "machine", "processors", "%d may be used, of %ld", CPU_COUNT(&cpus),
            sysconf(_SC_NPROCESSORS_ONLN));
    add(found, "machine", "memory", "%s available (the host's and the cgroups' limits)",
        sagoi_size_to_text(sagoi_memory_available("")).text);
}

/* May io_uring be used?  Containers and hardened kernels forbid it. */
static void look_at_uring(facts *found) {
    struct io_uring_params params = {0};
    int fd = (int)syscall(SYS_io_uring_setup, 1, &params);
    if (fd >= 0) {
        close(fd);
        add(found, "machine", "io_uring", "yes");
        return;
    }
    advise(add(found, "machine", "io_uring", "no: %s", strerror(errno)), SLOWER,
           "files are written by plain system calls; the kernel (sysctl kernel.io_uring_disabled) or the "
           "container forbids it");
}

/* MADV_POPULATE_WRITE reports a full disk; without it, touching a page would end the program. */
static void look_at_mapping(facts *found) {
    enum { POPULATE_WRITE = 23, PAGE = 4096 };
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool known_here = page != MAP_FAILED && madvise(page, PAGE, POPULATE_WRITE) == 0;
    if (page != MAP_FAILED)
        munmap(page, PAGE);
    fact *about = add(found, "machine", "mapped files", known_here ? "yes" : "no");
    if (!known_here)
        advise(about, SLOWER, "Linux 5.14 or later lets ranks of a node copy straight into the file");
}

static void look_at_shared_memory(facts *found) {
    struct statvfs fs;
    if (statvfs("/dev/shm", &fs) != 0) {
        advise(add(found, "machine", "/dev/shm", "not there: %s", strerror(errno)), BROKEN,
               "MPI libraries need it between the ranks of a node; in a container mount a tmpfs there");
        return;
    }
    int64_t size = (int64_t)fs.f_frsize * (int64_t)fs.f_bavail;
    fact *about = add(found, "machine", "/dev/shm", "%s free", sagoi_size_to_text(size).text);
    if (size < 256 << 20)
        advise(about, SLOWER,
               "little for the windows of many ranks; containers have 64 MiB unless --shm-size is given");
    int fd = memfd_create("sago-info", MFD_CLOEXEC);
    if (fd < 0)
        advise(add(found, "machine", "memfd", "no: %s", strerror(errno)), SLOWER, "shared memory then has names");
    else
        close(fd);
}

static void look_at_limit(facts *found, int which, const char *name, rlim_t least, const char *advice) {
    struct rlimit limit;
    char text[64];
    if (getrlimit((__rlimit_resource_t)which, &limit) != 0)
        return;
    bool none = limit.rlim_cur == RLIM_INFINITY;
    if (which == RLIMIT_NOFILE)
        snprintf(text, sizeof text, "%llu", (unsigned long long)limit.rlim_cur);
    else
        snprintf(text, sizeof text, "%s", sagoi_size_to_text((int64_t)limit.rlim_cur).text);
    fact *about = add(found, "machine", name, "%s", none ? "no limit" : text);
    if (!none && limit.rlim_cur < least)
        advise(about, SLOWER, advice);
}

static void look_at_machine(facts *found) {
    look_at_kernel(found);
    look_at_uring(found);
    look_at_mapping(found);
    look_at_shared_memory(found);
    look_at_limit(found, RLIMIT_NOFILE, "open files", 1024,
                  "ulimit -n 4096: the drop-in leaves files to the MPI library when descriptors are short");
    look_at_limit(found, RLIMIT_MEMLOCK, "locked memory", 64 << 10,
                  "ulimit -l: networks of MPI libraries want to lock memory");
    look_at_limit(found, RLIMIT_AS, "address space", (rlim_t)64 << 30,
                  "ulimit -v unlimited: mappings of files count, too");
}

/* ---- File systems ---- */

static const struct {
    const char *type, *said;
} file_systems[] = {
    {"lustre", "parallel; stripes are asked for and planned with"},
    {"gpfs", "parallel; blocks are units of locks"},
    {"beegfs", "parallel; give striping_unit, which it does not tell"},
    {"ceph", "parallel; layouts are read and planned with"},
    {"fuse.ceph", "parallel; layouts are read and planned with"},
    {"fuse.glusterfs", "parallel; stripes are read and planned with"},
    {"nfs", "shared; ranks of other nodes see writes after sync only"},
    {"nfs4", "shared; ranks of other nodes see writes after sync only"},
    {"cifs", "shared; locks and mappings are not to be trusted"},
    {"tmpfs", "memory of this node"},
    {"ext4", "of this node"},
    {"xfs", "of this node"},
    {"btrfs", "of this node"},
    {"zfs", "of this node"},
    {"overlay", "of this container"},
    {"virtiofs", "shared with the host"},
};

/* A later mount may hide an earlier one. */
static void forget_mount(facts *found, const char *folder) {
    for (int i = 0; i < found->count; i++)
        if (!strcmp(found->all[i].topic, "file systems") && !strcmp(found->all[i].name, folder)) {
            memmove(&found->all[i], &found->all[i + 1], (size_t)(found->count - i - 1) * sizeof found->all[0]);
            found->count--;
            return;
        }
}

static void look_at_mount(facts *found, const struct mntent *mount) {
    struct statvfs fs;
    for (size_t i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++) {
        if (strcmp(file_systems[i].type, mount->mnt_type) != 0)
            continue;
        if (statvfs(mount->mnt_dir, &fs) != 0 || fs.f_blocks == 0 || !strncmp(mount->mnt_dir, "/sys/", 5))
            return;
        forget_mount(found, mount->mnt_dir);
        add(found, "file systems", mount->mnt_dir, "%s, %s free: %s", mount->mnt_type,
            sagoi_size_to_text((int64_t)fs.f_frsize * (int64_t)fs.f_bavail).text, file_systems[i].said);
        return;
    }
}

static void look_at_file_systems(facts *found) {
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    if (!mounts)
        return;
    for (struct mntent *mount = getmntent(mounts); mount; mount = getmntent(mounts))
        look_at_mount(found, mount);
    endmntent(mounts);
}

/* ---- Output ---- */

static void print_advice(const fact *about) {
    printf("%*s%s%s ", INDENT, "", colour_on(about->how == BROKEN ? COLOUR_BAD : COLOUR_BOLD),
           about->how == BROKEN ? "!!" : "->");
    fold_print(stdout, about->advice, INDENT + 3, INDENT + 3, fold_width(LINE_WIDTH));
    printf("%s\n", colour_off());
}

static void print_text(const facts *found, verdict worst) {
    const char *topic = "";
    for (int i = 0; i < found->count; i++) {
        const fact *about = &found->all[i];
        if (strcmp(topic, about->topic) != 0)
            printf("%s%s%s%s\n", *topic ? "\n" : "", colour_on(COLOUR_BOLD), about->topic, colour_off());
        topic = about->topic;
        bool fits = strlen(about->name) <= NAME_WIDTH;
        printf(fits ? "  %-*s " : "  %-*s\n                 ", NAME_WIDTH, about->name);
        fold_print(stdout, about->value, INDENT, INDENT, fold_width(FOLD_NEVER));
        putchar('\n');
        if (about->advice)
            print_advice(about);
    }
    printf("\n%s%s%s\n", colour_on(worst == BROKEN ? COLOUR_BAD : COLOUR_GOOD),
           worst == BROKEN   ? "Sago cannot run here: see what is marked above."
           : worst == SLOWER ? "Sago can run here; what is marked above would make it faster or safer."
                             : "Sago can run here, and has all it asks for.",
           colour_off());
}

static void print_json(const facts *found, verdict worst) {
    static const char *const verdicts[] = {"good", "slower", "broken"};
    sagoi_json json = {.out = stdout, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_text(&json, "verdict", verdicts[worst]);
    sagoi_json_open(&json, "facts", '[');
    for (int i = 0; i < found->count; i++) {
        sagoi_json_open(&json, NULL, '{');
        sagoi_json_text(&json, "topic", found->all[i].topic);
        sagoi_json_text(&json, "name", found->all[i].name);
        sagoi_json_text(&json, "value", found->all[i].value);
        sagoi_json_text(&json, "verdict", verdicts[found->all[i].how]);
        sagoi_json_text(&json, "advice", found->all[i].advice);
        sagoi_json_close(&json, '}');
    }
    sagoi_json_close(&json, ']');
    sagoi_json_close(&json, '}');
}

int cmd_info(int argc, char **argv) {
    static facts found;
    if (!command_speaks())
        return EXIT_SUCCESS;
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fold_help(stdout, "usage: sago info [--json]\n"
                          "\n"
                          "Tells version, MPI library, features, paths, environment and file systems, and "
                          "whether this machine can do what Sago needs, with advice.  Exit status 1: it cannot. "
                          " Run it on a compute node.\n");
        return EXIT_SUCCESS;
    }
    bool json = argc > 1 && !strcmp(argv[1], "--json");
    if (argc > 1 + json)
        return usage_error("info", "'%s' is not expected here", argv[1 + json]);
    look_at_build(&found);
    look_at_paths(&found);
    look_at_wrapper(&found);
    look_at_environment(&found);
    look_at_machine(&found);
    look_at_file_systems(&found);
    verdict worst = GOOD;
    for (int i = 0; i < found.count; i++)
        worst = found.all[i].how > worst ? found.all[i].how : worst;
    if (json)
        print_json(&found, worst);
    else
        print_text(&found, worst);
    return worst == BROKEN ? EXIT_FAILURE : EXIT_SUCCESS;
}
