/* Packing and unpacking against a naive file: every byte of a step of many variables reaches its place in the
 * aggregators' windows, and comes back from there, in whatever passes. */
#include "unit/extent/model.h"

#include "move/pack.h"

enum { FILE_BYTES = 4000, STREAMS_MAX = 60, DOMAINS = 2, AMPLE = 1 << 16, NOBODY = -1 };

/* A step of one rank: every byte of the file belongs to one variable, or to nobody. */
typedef struct step {
    sagoi_pattern patterns[STREAMS_MAX];
    sagoi_stream streams[STREAMS_MAX];
    char memory[STREAMS_MAX][FILE_BYTES]; /* the bytes of one variable lie together */
    int owner[FILE_BYTES];
    sagoi_request request;
    sagoi_domain domains[DOMAINS];
    sagoi_plan plan;
    char file[FILE_BYTES]; /* what the aggregators' windows hold */
} step;

static step s;

static char content(int64_t off) { return (char)(off * 7 + 1); }

/* As variables of a step are: most have nothing in most windows. */
static void draw_owners(random_state *r, int64_t streams) {
    int64_t spread = random_in(r, 1, 8), last = random_in(r, 0, streams - 1);
    for (int64_t off = 0; off < FILE_BYTES;) {
        int owner = one_in(r, 4) ? NOBODY : (int)last;
        for (int64_t end = off + random_in(r, 1, 60); off < end && off < FILE_BYTES; off++)
            s.owner[off] = owner;
        last = (off * streams / FILE_BYTES + random_in(r, 0, spread)) % streams;
    }
}

static void make_streams(int64_t streams) {
    int64_t used[STREAMS_MAX] = {0};
    for (int64_t k = 0; k < streams; k++)
        sagoi_pattern_init(&s.patterns[k], NULL);
    for (int64_t off = 0; off < FILE_BYTES; off++)
        if (s.owner[off] != NOBODY) {
            int k = s.owner[off];
            sagoi_pattern_add(&s.patterns[k], off, 1);
            s.memory[k][used[k]++] = content(off);
        }
    for (int64_t k = 0; k < streams; k++) {
        CHECK(sagoi_pattern_finish(&s.patterns[k]) == SAGO_OK);
        s.streams[k] = (sagoi_stream){{&s.patterns[k], 0, FILE_BYTES, 0, used[k]}, {.base = s.memory[k]}};
    }
}

/* This rank is on node 0, the aggregators are on node 1. */
static void make_step(random_state *r, sagoi_direction direction) {
    int64_t streams = random_in(r, 1, STREAMS_MAX), half = FILE_BYTES / DOMAINS, window = random_in(r, 500, half);
    draw_owners(r, streams);
    make_streams(streams);
    s.request = (sagoi_request){.direction = direction,
                                .nstreams = streams,
                                .streams = s.streams,
                                .high = FILE_BYTES,
                                .limit = SAGOI_NO_LIMIT};
    for (int64_t d = 0; d < DOMAINS; d++)
        s.domains[d] = (sagoi_domain){.first = d * half,
                                      .end = (d + 1) * half,
                                      .block = half,
                                      .stride = half,
                                      .windows = sagoi_div_up(half, window),
                                      .node = 1};
    s.plan = (sagoi_plan){.domains = s.domains, .ndomains = DOMAINS, .window = window, .high = FILE_BYTES};
}

static void drop_step(void) {
    for (int64_t k = 0; k < s.request.nstreams; k++)
        sagoi_pattern_cleanup(&s.patterns[k]);
}

/* What an aggregator does with a packet. */
static void serve(int64_t domain, int64_t round, char *staging, const sagoi_packet *packet) {
    int64_t start, end;
    if (packet->code == 0)
        return;
    CHECK(sagoi_plan_window(&s.plan, domain, round, &start, &end));
    sagoi_window window = {.place = s.file + start, .start = start, .end = end};
    char *code = staging + packet->start;
    CHECK(sagoi_packet_copy((uint8_t *)code, packet->code, code + packet->code, (int64_t)packet->data, &window,
                            s.request.direction));
}

/* All passes of a round; returns how many there were. */
static int64_t move_round(sagoi_packer *packer, int64_t capacity, int64_t most) {
    static char staging[AMPLE];
    int64_t passes = 0;
    bool more = true;
    sagoi_packer_start(packer, packer->round);
    while (more) {
        sagoi_packet packets[DOMAINS];
        sagoi_packer began = *packer;
        more = sagoi_pack(packer, staging, capacity, most, packets);
        for (int64_t d = 0; d < DOMAINS; d++)
            serve(d, packer->round, staging, &packets[d]);
        if (s.request.direction == SAGOI_FROM_FILE)
            sagoi_unpack(&began, staging, packets);
        CHECK(++passes <= FILE_BYTES);
    }
    return passes;
}

static void move_step(random_state *r, bool ample) {
    int64_t capacity = ample ? AMPLE : random_in(r, 1000, 4000),
            most = ample ? AMPLE : random_in(r, 500, capacity);
    for (int64_t round = 0; round < s.domains[0].windows; round++) {
        sagoi_packer packer = {
            .plan = &s.plan, .request = &s.request, .reach = DOMAINS, .code = true, .round = round};
        int64_t passes = move_round(&packer, capacity, most);
        CHECK(!ample || passes == 1); /* however many variables there are */
    }
}

static void writes(random_state *r) {
    make_step(r, SAGOI_TO_FILE);
    memset(s.file, 0, sizeof s.file);
    move_step(r, one_in(r, 2));
    for (int64_t off = 0; off < FILE_BYTES; off++)
        CHECK(s.file[off] == (s.owner[off] == NOBODY ? 0 : content(off)));
    drop_step();
}

static void reads(random_state *r) {
    int64_t used[STREAMS_MAX] = {0};
    make_step(r, SAGOI_FROM_FILE);
    for (int64_t off = 0; off < FILE_BYTES; off++)
        s.file[off] = content(off);
    memset(s.memory, 0, sizeof s.memory);
    move_step(r, one_in(r, 2));
    for (int64_t off = 0; off < FILE_BYTES; off++)
        if (s.owner[off] != NOBODY)
            CHECK(s.memory[s.owner[off]][used[s.owner[off]]++] == content(off));
    drop_step();
}

static void test_writes(void **state) { run_rounds(1000, writes); }

static void test_reads(void **state) { run_rounds(1000, reads); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes), cmocka_unit_test(test_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
