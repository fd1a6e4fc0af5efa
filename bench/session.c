/* Setting up a run, and one timed and verified transfer. */
#include "bench/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/size_text.h"
#include "bench/counters.h"

static const bench_engine_ops *const engine_ops[BENCH_ENGINES] = {&bench_engine_sago,  &bench_engine_mpiio,
                                                                  &bench_engine_limit, &bench_engine_plain,
                                                                  &bench_engine_gio,   &bench_engine_shuffle};

const char *bench_engine_name(int engine) { return engine_ops[engine]->name; }

bool bench_engine_is_limit(int engine) { return engine == BENCH_LIMIT || engine == BENCH_SHUFFLE; }

bool bench_engine_built(int engine) { return engine_ops[engine]->open; }

/* ---- Files that go away however the run ends ---- */

/* Used on rank 0; a global, since a signal handler has no argument. */
static char doomed[BENCH_ENGINES][BENCH_PATH_MAX];

static void remove_files(void) {
    for (int e = 0; e < BENCH_ENGINES; e++)
        if (doomed[e][0])
            unlink(doomed[e]);
}

static void on_signal(int number) {
    remove_files();
    signal(number, SIG_DFL);
    raise(number);
}

static void name_files(bench_session *session) {
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, session->world.comm);
    for (int e = 0; e < BENCH_ENGINES; e++) {
        bench_engine *engine = &session->engines[e];
        snprintf(engine->path, sizeof engine->path, "%s/sago-bench-%d-%s", session->config->dir, pid,
                 bench_engine_name(e));
        if (session->world.rank == 0 && session->config->use[e] && !session->config->keep)
            snprintf(doomed[e], sizeof doomed[e], "%s", engine->path);
    }
    if (session->world.rank == 0) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
    }
}

/* ---- Setting up ---- */

static int64_t memory_available(void) {
    char line[128];
    long long kilobytes = INT64_MAX / 1024;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return (int64_t)kilobytes * 1024;
}

static int64_t buffer_bytes(const bench_session *session) {
    int64_t a = session->access.memory * session->access.steps, b = session->limit_access.memory;
    return a > b || !(session->config->use[BENCH_LIMIT] || session->config->use[BENCH_SHUFFLE]) ? a : b;
}

/* Is there room for the files and the buffers?  Asked beforehand, since running out of memory ends in a signal. */
static bool room_enough(bench_session *session) {
    const bench_config *config = session->config;
    struct statvfs fs;
    double files = 0, buffers = (double)buffer_bytes(session);
    for (int e = 0; e < BENCH_ENGINES; e++)
        files += config->use[e] ? (double)session->size : 0;
    bool ok =
        statvfs(config->dir, &fs) == 0 || bench_refuse(session->why, "--dir %s: %s", config->dir, strerror(errno));
    if (ok && files > (double)fs.f_bavail * (double)fs.f_frsize)
        ok = bench_refuse(session->why,
                          "%s has %s free, the files need %s: use smaller sizes, fewer "
                          "--engines or another --dir",
                          config->dir,
                          sagoi_size_to_text((int64_t)((double)fs.f_bavail * (double)fs.f_frsize)).text,
                          sagoi_size_to_text((int64_t)files).text);
    MPI_Allreduce(MPI_IN_PLACE, &buffers, 1, MPI_DOUBLE, MPI_SUM, session->world.node);
    if (ok && buffers > 0.9 * (double)memory_available())
        ok = bench_refuse(session->why,
                          "the buffers of this node's ranks need %.3g bytes, %.3g are available: "
                          "use smaller sizes",
                          buffers, (double)memory_available());
    return bench_agree(&session->world, ok, session->why);
}

static bool make_accesses(bench_session *session) {
    const bench_config *config = session->config;
    const bench_world *world = &session->world;
    bool ok = bench_pattern_make(config->pattern, &config->params, world->rank, world->ranks, &session->access,
                                 session->why);
    if (ok && config->pattern->holes)
        ok = bench_pattern_make(config->pattern, &config->params, world->ranks, world->ranks, &session->nobody,
                                session->why);
    if (!bench_agree(world, ok, session->why))
        return false;
    double end = (double)bench_access_end(&session->access); /* exact: at most 2^50 */
    int64_t sums[2] = {bench_access_bytes(&session->access), bench_access_runs(&session->access)};
    bench_max(world, &end, 1);
    bench_sum(world, sums, 2);
    session->size = (int64_t)end;
    session->bytes = sums[0];
    session->runs = sums[1];
    ok = bench_limit_access(world, session->bytes, &session->limit_access, session->why);
    return bench_agree(world, ok, session->why);
}

static bool make_buffers(bench_session *session) {
    size_t bytes = (size_t)buffer_bytes(session);
    void *buffer = NULL;
    session->block = calloc(1, BENCH_BLOCK);
    bool ok = (session->block && posix_memalign(&buffer, 4096, bytes + 4096) == 0) ||
              bench_refuse(session->why, "no memory for %zu bytes of buffers", bytes);
    session->buffer = buffer;
    if (ok) {
        memset(buffer, 0, bytes); /* touched before anything is timed */
        session->calls = bench_mpi_calls_create(&session->access, session->why);
        ok = session->calls;
    }
    return bench_agree(&session->world, ok, session->why);
}

static void make_hints(bench_session *session) {
    const bench_config *config = session->config;
    session->hints = MPI_INFO_NULL;
    if (config->nhints)
        MPI_Info_create(&session->hints);
    for (int64_t i = 0; i < config->nhints; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        const char *equals = strchr(config->hints[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - config->hints[i]), config->hints[i]);
        MPI_Info_set(session->hints, key, equals + 1);
    }
}

static void make_engines(bench_session *session) {
    for (int e = 0; e < BENCH_ENGINES; e++) {
        bench_engine *engine = &session->engines[e];
        engine->ops = engine_ops[e];
        engine->world = &session->world;
        engine->access = bench_engine_is_limit(e) ? &session->limit_access : &session->access;
        engine->calls = bench_engine_is_limit(e) ? NULL : session->calls;
        engine->buffer = session->buffer;
        engine->hints = session->hints;
        engine->declared = e == BENCH_SAGO && session->config->declared;
        engine->nonblocking = session->config->nonblocking;
        engine->one_file = session->config->one_file;
        engine->size = bench_engine_is_limit(e) ? session->bytes : session->size;
    }
    name_files(session);
}

/* ---- Files ---- */

/* Failures name the engine, since a wrong byte may be a peer's. */
static bool engine_agree(bench_session *session, int engine, bool ok) {
    if (bench_agree(&session->world, ok, session->why))
        return true;
    char text[BENCH_MESSAGE_MAX];
    memcpy(text, session->why, sizeof text);
    return bench_refuse(session->why, "engine %s: %.380s", bench_engine_name(engine), text);
}

static bench_expected expected_of(const bench_session *session, int engine, bool fresh) {
    bool holes = !bench_engine_is_limit(engine) && session->config->pattern->holes;
    bench_expected expected = {
        .path = session->engines[engine].path,
        .size = session->engines[engine].size,
        .key = session->keys[engine],
        .hole_key = fresh ? BENCH_KEY_ZERO : bench_content_key(session->config->params.seed, 0),
        /* MPI leaves the gaps of a file that grows undefined, and ROMIO fills them with what its buffer held. */
        .any_holes = fresh && (engine == BENCH_MPIIO || engine == BENCH_PLAIN || engine == BENCH_GIO),
        .nobody = holes ? &session->nobody : NULL,
        .block = session->block,
    };
    return expected;
}

/* This rank's share of a file, for filling and checking. */
static void share_of(const bench_session *session, int64_t size, int64_t *low, int64_t *high) {
    int64_t part = size / session->world.ranks + 1, start = part * session->world.rank;
    *low = start < size ? start : size;
    *high = start + part < size ? start + part : size;
}

bool bench_session_prefill(bench_session *session, int engine) {
    bench_expected expected = expected_of(session, engine, false);
    int64_t low, high;
    bool ok = true;
    if (session->world.rank == 0) {
        int fd = open(expected.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        ok = fd >= 0 && ftruncate(fd, expected.size) == 0;
        if (!ok)
            bench_refuse(session->why, "%s: %s", expected.path, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    if (!bench_agree(&session->world, ok, session->why))
        return false;
    share_of(session, expected.size, &low, &high);
    ok = bench_file_fill(&expected, low, high, session->why);
    return bench_agree(&session->world, ok, session->why);
}

bool bench_session_open(bench_session *session, int engine, bool fresh) {
    bench_session_close(session, engine);
    if (fresh && session->world.rank == 0)
        unlink(session->engines[engine].path);
    bench_barrier(&session->world);
    double start = bench_now();
    bool ok = engine_ops[engine]->open(&session->engines[engine], session->why);
    session->open_seconds = bench_now() - start;
    bench_max(&session->world, &session->open_seconds, 1);
    session->opened[engine] = engine_agree(session, engine, ok);
    return session->opened[engine];
}

void bench_session_close(bench_session *session, int engine) {
    /* A file that some ranks could not open is left alone, since closing is collective. */
    if (session->opened[engine])
        engine_ops[engine]->close(&session->engines[engine]);
    session->opened[engine] = false;
}

/* ---- Transfers ---- */

enum { NO_ENGINE = -1 }; /* a transfer that does nothing shows what the timing itself sends */

/* From the first start to the last end if clocks can be compared; else the longest of the ranks' times. */
static bool timed(bench_session *session, int engine, bool write, bench_timing *timing) {
    const bench_world *world = &session->world;
    int64_t wire = -bench_wire_sent(world);
    bench_barrier(world);
    double start = bench_now();
    bool ok = engine == NO_ENGINE || engine_ops[engine]->transfer(&session->engines[engine], write, session->why);
    double end = bench_now();
    double values[4] = {-start, end, end - start, ok ? 0 : 1};
    bench_max(world, values, 4);
    timing->seconds = world->common_clock ? values[1] + values[0] : values[2];
    timing->wire = 0;
    if (bench_wire_known()) {
        wire += bench_wire_sent(world);
        bench_sum(world, &wire, 1);
        timing->wire = wire > session->wire_idle ? wire - session->wire_idle : 0;
    }
    return values[3] == 0 || engine_agree(session, engine, ok);
}

/* The second time counts, since the first may open connections. */
static void calibrate(bench_session *session) {
    bench_timing timing = {0};
    for (int i = 0; i < 2; i++) {
        session->wire_idle = 0;
        (void)timed(session, NO_ENGINE, false, &timing);
        session->wire_idle = timing.wire;
    }
}

static bool verify_file(bench_session *session, int engine, bool fresh) {
    bench_expected expected = expected_of(session, engine, fresh);
    int64_t low, high;
    share_of(session, expected.size, &low, &high);
    bool ok = bench_file_check(&expected, low, high, session->why);
    return engine_agree(session, engine, ok);
}

/* A file can be verified when all of its data is there. */
static bool flush(bench_session *session, int engine) {
    if (!engine_ops[engine]->flush)
        return true;
    return engine_agree(session, engine, engine_ops[engine]->flush(&session->engines[engine], session->why));
}

bool bench_session_transfer(bench_session *session, int engine, bool write, bool fresh, bench_timing *timing) {
    const bench_access *access = session->engines[engine].access;
    if (session->unverified)
        return timed(session, engine, write, timing);
    if (write) {
        session->keys[engine] = bench_content_key(session->config->params.seed, ++session->iteration);
        bench_buffer_fill(session->buffer, access, session->keys[engine]);
    } else {
        bench_buffer_reset(session->buffer, access);
    }
    if (!timed(session, engine, write, timing))
        return false;
    if (write && !flush(session, engine))
        return false;
    if (write)
        return verify_file(session, engine, fresh);
    bool ok = bench_buffer_check(session->buffer, access, session->keys[engine], session->why);
    return engine_agree(session, engine, ok);
}

/* ---- All of it ---- */

bool bench_session_init(bench_session *session, const bench_config *config) {
    *session = (bench_session){.config = config, .hints = MPI_INFO_NULL};
    bench_world_init(&session->world);
    if (!make_accesses(session) || !room_enough(session) || !make_buffers(session))
        return false;
    make_hints(session);
    make_engines(session);
    calibrate(session);
    return true;
}

void bench_session_cleanup(bench_session *session) {
    for (int e = 0; e < BENCH_ENGINES; e++)
        bench_session_close(session, e);
    MPI_Barrier(session->world.comm);
    remove_files();
    if (session->hints != MPI_INFO_NULL)
        MPI_Info_free(&session->hints);
    bench_mpi_calls_destroy(session->calls, session->access.ncalls);
    free(session->buffer);
    free(session->block);
    bench_access_cleanup(&session->access);
    bench_access_cleanup(&session->limit_access);
    bench_access_cleanup(&session->nobody);
    bench_world_cleanup(&session->world);
}
