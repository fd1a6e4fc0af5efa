/* The replay on SimGrid.  Three kinds of actors:
 *
 *   node        does a round's work and sends its flows (writes), or receives them and then works (reads)
 *   aggregator  receives at most `in_flight` flows at a time and works for each (writes), or sends them (reads)
 *   storer      the aggregator's I/O thread, which stores or reads one window while the other one moves
 *
 * A flow begins when both ends are ready, as a message by rendezvous does.  Windows are counted by semaphores: two
 * where stores overlap with moving, else one. */
#include "sim/replay.h"
#include "sim/sim_tally.h"

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/patterns.h"

/* Of the cores that all nodes share: operations a second, so that SimGrid's precision is that of nanoseconds. */
#define CORE_SPEED 1e9
enum { PROCESSES_MAX = 64 };

typedef struct sim_run {
    const sim_load *load;
    sim_network *network;
    sim_tally *tally;
    sg_bar_t step;
    sg_sem_t *empty, *full, *stored; /* aggregators each, as are: */
    sg_sem_t *moved;                 /* pieces of a window beside the first one */
    sg_sem_t *client;                /* nodes: what a node's client writes at a time; NULL: any number */
    sg_host_t shared;                /* the cores of all nodes; NULL: each has its own */
} sim_run;

typedef struct role {
    sim_run *run;
    int64_t number;
} role;

static void note(const sim_run *run, sim_phase phase, int64_t who, double start) {
    sim_tally_note(run->tally, phase, who, start, simgrid_get_clock());
}

static void pass(double seconds) {
    if (seconds > 0)
        sg_actor_sleep_for(seconds);
}

static sg_exec_t start_work(const sim_run *run, double seconds) {
    sg_exec_t exec = sg_actor_exec_init(seconds * CORE_SPEED);
    sg_exec_set_host(exec, run->shared);
    sg_exec_start(exec);
    return exec;
}

/* So many processes work so many seconds each, side by side, on their own cores or on those that all share. */
static void work_together(const sim_run *run, double seconds, int64_t processes) {
    sg_exec_t exec[PROCESSES_MAX];
    if (!run->shared) {
        pass(seconds);
        return;
    }
    if (seconds <= 0)
        return;
    int64_t started = processes < PROCESSES_MAX ? processes : PROCESSES_MAX;
    for (int64_t i = 0; i < started; i++)
        exec[i] = start_work(run, seconds * (double)processes / (double)started);
    for (int64_t i = 0; i < started; i++)
        sg_exec_wait(exec[i]);
}

static void work(const sim_run *run, double seconds) { work_together(run, seconds, 1); }

static void wait_for_all(const sim_run *run) {
    if (!run->load->in_step)
        return;
    sg_barrier_wait(run->step);
    pass(run->load->step);
}

static sg_mailbox_t box_of(char kind, int64_t number, int64_t round) {
    char name[48];
    snprintf(name, sizeof name, "%c%lld.%lld", kind, (long long)number, (long long)round);
    return sg_mailbox_by_name(name);
}

/* ---- Nodes ---- */

static int64_t send_round(const sim_run *run, int64_t node, int64_t round, sg_comm_t *comms) {
    const sim_load *load = run->load;
    int64_t sent = 0;
    for (int64_t i = 0; i < load->aggregators; i++) {
        int64_t a = (i + node) % load->aggregators; /* not all to the same one at once */
        sim_flow *flow = sim_load_flow(load, round, node, a);
        if (sim_load_crosses(load, round, node, a))
            comms[sent++] = sg_mailbox_put_async(box_of('a', a, round), flow, (long)(flow->bytes + 0.5));
    }
    return sent;
}

static void wait_sent(const sim_run *run, int64_t round, sg_comm_t *comms, int64_t *sent) {
    if (*sent > 0)
        sg_comm_wait_all(comms, (size_t)*sent);
    *sent = 0;
    if (round >= 0)
        sim_tally_sent(run->tally, round, simgrid_get_clock());
}

/* Two staging areas where stores overlap: the next round is packed while the last one is still being sent. */
static void node_writes(sim_run *run, int64_t node, sg_comm_t *comms) {
    const sim_load *load = run->load;
    int64_t sent = 0;
    for (int64_t r = 0; r < sim_load_replayed(load); r++) {
        double start = simgrid_get_clock();
        work_together(run, sim_load_round(load, r)->node[node], load->processes);
        note(run, SIM_GATHER, -1 - node, start);
        start = simgrid_get_clock();
        wait_sent(run, r - 1, comms, &sent);
        sent = send_round(run, node, r, comms);
        if (!load->overlapped || r == sim_load_replayed(load) - 1)
            wait_sent(run, r, comms, &sent);
        note(run, SIM_EXCHANGE, -1 - node, start);
        wait_for_all(run);
    }
}

static void node_reads(sim_run *run, int64_t node, sg_comm_t *comms, void **came) {
    const sim_load *load = run->load;
    for (int64_t r = 0; r < sim_load_replayed(load); r++) {
        wait_for_all(run); /* until all windows have been read: then they tell each other what they send */
        double start = simgrid_get_clock();
        int64_t open = 0;
        for (int64_t a = 0; a < load->aggregators; a++)
            if (sim_load_crosses(load, r, node, a)) {
                comms[open] = sg_mailbox_get_async(box_of('n', node, r), &came[open]);
                open++;
            }
        if (open > 0)
            sg_comm_wait_all(comms, (size_t)open);
        note(run, SIM_EXCHANGE, -1 - node, start);
        start = simgrid_get_clock();
        work_together(run, sim_load_round(load, r)->node[node], load->processes);
        note(run, SIM_GATHER, -1 - node, start);
        sim_tally_end(run->tally, r, simgrid_get_clock());
        sim_tally_sent(run->tally, r, simgrid_get_clock());
    }
}

static void node_main(int argc, char **argv) {
    (void)argc, (void)argv;
    const role *self = sg_actor_self_get_data();
    const sim_load *load = self->run->load;
    sg_comm_t *comms = calloc((size_t)load->aggregators, sizeof *comms);
    void **came = calloc((size_t)load->aggregators, sizeof *came);
    pass(load->ahead);
    if (load->write && comms)
        node_writes(self->run, self->number, comms);
    else if (comms && came)
        node_reads(self->run, self->number, comms, came);
    free(came);
    free(comms);
}

/* ---- Aggregators ---- */

/* The receives that are open: each has a place of its own, to which SimGrid writes what came. */
typedef struct inbox {
    sg_comm_t *comm;
    int64_t *slot; /* slot of each open receive */
    void **came;   /* by slot */
    int64_t open, capacity;
} inbox;

static bool inbox_init(inbox *in, int64_t capacity) {
    *in = (inbox){.comm = calloc((size_t)capacity, sizeof *in->comm),
                  .slot = calloc((size_t)capacity, sizeof *in->slot),
                  .came = calloc((size_t)capacity, sizeof *in->came),
                  .capacity = capacity};
    for (int64_t i = 0; in->slot && i < capacity; i++)
        in->slot[i] = i;
    return in->comm && in->slot && in->came;
}

static void inbox_cleanup(inbox *in) {
    free(in->comm);
    free(in->slot);
    free(in->came);
}

static void inbox_post(inbox *in, sg_mailbox_t box) {
    in->comm[in->open] = sg_mailbox_get_async(box, &in->came[in->slot[in->open]]);
    in->open++;
}

static const sim_flow *inbox_wait(inbox *in) {
    ssize_t done = sg_comm_wait_any(in->comm, (size_t)in->open);
    int64_t slot = in->slot[done], last = --in->open;
    in->comm[done] = in->comm[last];
    in->slot[done] = in->slot[last];
    in->slot[last] = slot;
    return in->came[slot];
}

static void receive_round(const sim_run *run, int64_t a, int64_t round, inbox *in) {
    const sim_load *load = run->load;
    sg_mailbox_t box = box_of('a', a, round);
    int64_t expected = 0;
    for (int64_t n = 0; n < load->nodes; n++)
        expected += sim_load_crosses(load, round, n, a);
    while (expected > 0 || in->open > 0) {
        for (; expected > 0 && in->open < in->capacity; expected--)
            inbox_post(in, box);
        work(run, inbox_wait(in)->seconds);
    }
}

static void aggregator_writes(sim_run *run, int64_t a, inbox *in) {
    const sim_load *load = run->load;
    for (int64_t r = 0; r < sim_load_replayed(load); r++) {
        sg_sem_acquire(run->empty[a]);
        double start = simgrid_get_clock();
        receive_round(run, a, r, in);
        work(run, sim_load_flow(load, r, load->host[a], a)->seconds + sim_load_round(load, r)->store[a].work);
        note(run, SIM_EXCHANGE, a, start);
        sg_sem_release(run->full[a]);
        if (load->in_step && !load->overlapped)
            sg_sem_acquire(run->stored[a]);
        wait_for_all(run);
    }
}

static void aggregator_reads(sim_run *run, int64_t a, inbox *out) {
    const sim_load *load = run->load;
    for (int64_t r = 0; r < sim_load_replayed(load); r++) {
        sg_sem_acquire(run->full[a]);
        wait_for_all(run);
        double start = simgrid_get_clock();
        work(run, sim_load_flow(load, r, load->host[a], a)->seconds + sim_load_round(load, r)->store[a].work);
        for (int64_t i = 0; i < load->nodes; i++) {
            int64_t n = (i + a) % load->nodes;
            sim_flow *flow = sim_load_flow(load, r, n, a);
            if (!sim_load_crosses(load, r, n, a))
                continue;
            work(run, flow->seconds);
            if (out->open == out->capacity)
                (void)inbox_wait(out);
            out->comm[out->open++] = sg_mailbox_put_async(box_of('n', n, r), flow, (long)(flow->bytes + 0.5));
        }
        while (out->open > 0)
            (void)inbox_wait(out);
        note(run, SIM_EXCHANGE, a, start);
        sim_tally_end(run->tally, r, simgrid_get_clock());
        sg_sem_release(run->empty[a]);
    }
}

static void aggregator_main(int argc, char **argv) {
    (void)argc, (void)argv;
    const role *self = sg_actor_self_get_data();
    const sim_load *load = self->run->load;
    inbox in;
    pass(load->ahead);
    if (inbox_init(&in, load->in_flight)) {
        if (load->write)
            aggregator_writes(self->run, self->number, &in);
        else
            aggregator_reads(self->run, self->number, &in);
    }
    inbox_cleanup(&in);
}

/* ---- Storers ---- */

static sg_host_t host_of(char kind, int64_t number) {
    char name[32];
    snprintf(name, sizeof name, "%c%lld", kind, (long long)number);
    return sg_host_by_name(name);
}

/* One of the pieces of a window, each of which is another storage target's. */
typedef struct piece_move {
    const sim_run *run;
    int64_t aggregator, number;
    const sim_store *store;
} piece_move;

static void move_piece(const piece_move *move) {
    int64_t targets = move->run->network->targets;
    sg_host_t client = host_of('w', move->aggregator),
              target = host_of('t', sim_store_target(move->store, targets, move->number));
    double bytes = sim_store_bytes(move->store, targets, move->number);
    double seeks = move->run->network->seek * sim_store_requests(move->store, targets);
    if (bytes > 0 && seeks > 0) /* the target moves nothing else meanwhile */
        sg_host_sendto(host_of('d', sim_store_target(move->store, targets, move->number)), target,
                       seeks * move->run->network->target_bandwidth);
    if (bytes > 0 && move->run->load->write)
        sg_host_sendto(client, target, bytes);
    else if (bytes > 0)
        sg_host_sendto(target, client, bytes);
}

static void mover_main(int argc, char **argv) {
    (void)argc, (void)argv;
    const piece_move *move = sg_actor_self_get_data();
    move_piece(move);
    sg_sem_release(move->run->moved[move->aggregator]);
}

static void start_mover(piece_move *move) {
    sg_actor_t actor = sg_actor_init("mover", host_of('w', move->aggregator));
    sg_actor_set_data(actor, move);
    sg_actor_start_(actor, mover_main, 0, NULL);
}

/* A file system's client that has a cache asks all storage targets at once. */
static void move_together(piece_move *move, int64_t pieces) {
    const sim_run *run = move->run;
    pass(move->store->seconds);
    for (int64_t i = 1; i < pieces; i++)
        start_mover(&move[i]);
    move_piece(move);
    for (int64_t i = 1; i < pieces; i++)
        sg_sem_acquire(run->moved[move->aggregator]);
}

static void move_in_turn(const piece_move *move, int64_t pieces) {
    const sim_run *run = move->run;
    sg_sem_t turn = run->client ? run->client[run->load->host[move->aggregator]] : NULL;
    for (int64_t i = 0; i < pieces; i++) {
        if (turn)
            sg_sem_acquire(turn);
        pass(move->store->seconds / (double)pieces);
        move_piece(&move[i]);
        if (turn)
            sg_sem_release(turn);
    }
}

static void move_window(const sim_run *run, int64_t a, int64_t round) {
    const sim_store *store = &sim_load_round(run->load, round)->store[a];
    int64_t pieces = sim_store_pieces(store, run->network->targets);
    piece_move move[SIM_PIECES_MAX];
    for (int64_t i = 0; i < pieces; i++)
        move[i] = (piece_move){run, a, i, store};
    if (run->network->targets == 0) /* the aggregator's own processor stores */
        work(run, store->seconds);
    else if (run->load->one_by_one)
        move_in_turn(move, pieces);
    else
        move_together(move, pieces);
}

static void storer_main(int argc, char **argv) {
    (void)argc, (void)argv;
    const role *self = sg_actor_self_get_data();
    sim_run *run = self->run;
    int64_t a = self->number;
    pass(run->load->ahead);
    for (int64_t r = 0; r < sim_load_replayed(run->load); r++) {
        sg_sem_acquire(run->load->write ? run->full[a] : run->empty[a]);
        double start = simgrid_get_clock();
        move_window(run, a, r);
        note(run, SIM_STORE, a, start);
        if (run->load->write) {
            sim_tally_end(run->tally, r, simgrid_get_clock());
            sg_sem_release(run->empty[a]);
            sg_sem_release(run->stored[a]);
        } else {
            sg_sem_release(run->full[a]);
        }
    }
}

/* ---- The platform ---- */

static void print_route(FILE *out, const char *ends, const int64_t *route, int64_t hops) {
    fprintf(out, "<route %s symmetrical=\"NO\">", ends);
    for (int64_t h = 0; h < hops; h++)
        fprintf(out, "<link_ctn id=\"l%lld\"/>", (long long)route[h]);
    if (hops == 0)
        fprintf(out, "<link_ctn id=\"free\"/>");
    fprintf(out, "</route>\n");
}

/* Routes of the flows of all rounds: each pair of nodes once. */
static void print_flow_routes(sim_run *run, FILE *out, bool *printed) {
    const sim_load *load = run->load;
    int64_t route[SIM_ROUTE_MAX];
    char ends[80];
    memset(printed, 0, (size_t)(load->nodes * load->nodes) * sizeof *printed);
    for (int64_t r = 0; r < sim_load_replayed(load); r++)
        for (int64_t n = 0; n < load->nodes; n++)
            for (int64_t a = 0; a < load->aggregators; a++) {
                int64_t host = load->host[a], from = load->write ? n : host, to = load->write ? host : n;
                if (!sim_load_crosses(load, r, n, a))
                    continue;
                int64_t hops = sim_network_route(run->network, load->place[from], load->place[to], route);
                sim_network_load(run->network, route, hops, sim_load_flow(load, r, n, a)->bytes, 0);
                if (printed[from * load->nodes + to])
                    continue;
                printed[from * load->nodes + to] = true;
                snprintf(ends, sizeof ends, "src=\"n%lld\" dst=\"n%lld\"", (long long)from, (long long)to);
                print_route(out, ends, route, hops);
            }
}

static void print_store_routes(sim_run *run, FILE *out, bool *printed) {
    const sim_load *load = run->load;
    int64_t route[SIM_ROUTE_MAX], targets = run->network->targets;
    char ends[80];
    memset(printed, 0, (size_t)(load->aggregators * targets) * sizeof *printed);
    for (int64_t r = 0; r < sim_load_replayed(load); r++)
        for (int64_t a = 0; a < load->aggregators; a++) {
            const sim_store *store = &sim_load_round(load, r)->store[a];
            int64_t pieces = sim_store_pieces(store, run->network->targets);
            for (int64_t i = 0; store->bytes > 0 && i < pieces; i++) {
                int64_t t = sim_store_target(store, run->network->targets, i);
                int64_t hops = sim_network_store_route(run->network, a, load->place[load->host[a]], t, route);
                sim_network_load(run->network, route, hops, sim_store_bytes(store, targets, i),
                                 sim_store_requests(store, targets));
                if (printed[a * targets + t])
                    continue;
                printed[a * targets + t] = true;
                snprintf(ends, sizeof ends, "%s=\"w%lld\" %s=\"t%lld\"", load->write ? "src" : "dst", (long long)a,
                         load->write ? "dst" : "src", (long long)t);
                print_route(out, ends, route, hops);
            }
        }
}

/* What keeps a storage target busy beside bytes goes over its link, and over no other. */
static void print_seek_routes(const sim_run *run, FILE *out) {
    const sim_network *network = run->network;
    char ends[80];
    for (int64_t i = 0; network->seek > 0 && i < network->links; i++) {
        long long target = (long long)network->link[i].from;
        if (network->link[i].kind != SIM_LINK_TARGET)
            continue;
        snprintf(ends, sizeof ends, "src=\"d%lld\" dst=\"t%lld\"", target, target);
        print_route(out, ends, &i, 1);
    }
}

static void print_hosts(FILE *out, char kind, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        fprintf(out, "<host id=\"%c%lld\" speed=\"1f\"/>\n", kind, (long long)i);
}

/* SimGrid wants links before routes, but links are made while routes are found: the routes go to a second file. */
static bool print_platform(sim_run *run, FILE *out, FILE *routes) {
    const sim_load *load = run->load;
    sim_network *network = run->network;
    int64_t pairs = load->nodes * load->nodes, stores = load->aggregators * network->targets;
    bool *printed = calloc((size_t)(pairs > stores ? pairs : stores), sizeof *printed);
    if (!printed)
        return false;
    print_flow_routes(run, routes, printed);
    print_store_routes(run, routes, printed);
    print_seek_routes(run, routes);
    free(printed);
    fprintf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                 "<platform version=\"4.1\"><zone id=\"machine\" routing=\"Full\">\n");
    print_hosts(out, 'n', load->nodes);
    print_hosts(out, 'w', load->aggregators);
    print_hosts(out, 't', network->targets);
    print_hosts(out, 'd', network->seek > 0 ? network->targets : 0);
    fprintf(out, "<host id=\"cores\" speed=\"%gf\" core=\"%lld\"/>\n", CORE_SPEED,
            (long long)(load->cores > 0 ? load->cores : 1));
    fprintf(out, "<link id=\"free\" bandwidth=\"1e15Bps\" latency=\"0s\"/>\n");
    for (int64_t i = 0; i < network->links; i++)
        fprintf(out, "<link id=\"l%lld\" bandwidth=\"%.17gBps\" latency=\"%.17gs\"/>\n", (long long)i,
                network->link[i].bandwidth, network->link[i].latency);
    rewind(routes);
    char block[1 << 14];
    for (size_t got; (got = fread(block, 1, sizeof block, routes)) > 0;)
        fwrite(block, 1, got, out);
    fprintf(out, "</zone></platform>\n");
    return !network->failed && !ferror(out) && !ferror(routes);
}

static bool load_platform(sim_run *run, char *why) {
    char path[] = "/tmp/sago-sim-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL, *routes = tmpfile();
    bool ok = out && routes && print_platform(run, out, routes);
    if (out)
        ok = fclose(out) == 0 && ok;
    if (routes)
        fclose(routes);
    if (ok)
        simgrid_load_platform(path);
    if (fd >= 0)
        unlink(path);
    return ok || bench_refuse(why, "cannot write a description of the network for SimGrid");
}

/* ---- Running ---- */

static void start_simgrid(void) {
    static char name[] = "sago-sim";
    static char options[][48] = {"--cfg=network/model:CM02",     "--cfg=network/crosstraffic:0",
                                 "--cfg=network/TCP-gamma:1e15", "--cfg=network/optim:Full",
                                 "--cfg=maxmin/precision:1e-3",  "--cfg=contexts/stack-size:64",
                                 "--log=root.thres:error"};
    enum { OPTIONS = sizeof options / sizeof options[0] };
    char *argv[OPTIONS + 2] = {name};
    int argc = 1;
    for (int i = 0; i < OPTIONS; i++)
        argv[argc++] = options[i];
    simgrid_init(&argc, argv);
}

static void start_actor(role *self, char kind, xbt_main_func_t code) {
    char name[32];
    snprintf(name, sizeof name, "%c%lld", kind, (long long)self->number);
    sg_actor_t actor = sg_actor_init(name, host_of(kind == 'n' ? 'n' : 'w', self->number));
    sg_actor_set_data(actor, self);
    sg_actor_start_(actor, code, 0, NULL);
}

/* Receivers sit on their nodes, so that flows end there; their clients have hosts of their own. */
static void start_aggregator(role *self) {
    sg_actor_t actor = sg_actor_init("aggregator", host_of('n', self->run->load->host[self->number]));
    sg_actor_set_data(actor, self);
    sg_actor_start_(actor, aggregator_main, 0, NULL);
}

static void start_actors(sim_run *run, role *roles) {
    const sim_load *load = run->load;
    for (int64_t n = 0; n < load->nodes; n++, roles++) {
        *roles = (role){run, n};
        start_actor(roles, 'n', node_main);
    }
    for (int64_t a = 0; a < load->aggregators; a++, roles++) {
        *roles = (role){run, a};
        run->empty[a] = sg_sem_init(load->overlapped ? 2 : 1);
        run->full[a] = sg_sem_init(0);
        run->stored[a] = sg_sem_init(0);
        run->moved[a] = sg_sem_init(0);
        start_aggregator(roles);
        start_actor(roles, 'w', storer_main);
    }
}

/* ---- Interface ---- */

bool sim_replay_flows(sim_tally *tally, char *why) {
    size_t aggregators = (size_t)tally->load->aggregators, nodes = (size_t)tally->load->nodes;
    sim_run run = {.load = tally->load, .network = tally->network, .tally = tally};
    run.empty = calloc(aggregators, sizeof *run.empty);
    run.full = calloc(aggregators, sizeof *run.full);
    run.stored = calloc(aggregators, sizeof *run.stored);
    run.moved = calloc(aggregators, sizeof *run.moved);
    bool turns = tally->load->at_once > 0;
    run.client = turns ? calloc(nodes, sizeof *run.client) : NULL;
    role *roles = calloc(nodes + aggregators, sizeof *roles);
    bool ok = (run.empty && run.full && run.stored && run.moved && roles && (run.client || !turns)) ||
              bench_refuse(why, "out of memory");
    if (ok) {
        start_simgrid();
        ok = load_platform(&run, why);
    }
    if (ok) {
        run.step = sg_barrier_init((unsigned)(nodes + aggregators));
        run.shared = tally->load->cores > 0 ? sg_host_by_name("cores") : NULL;
        for (size_t n = 0; run.client && n < nodes; n++)
            run.client[n] = sg_sem_init((int)tally->load->at_once);
        start_actors(&run, roles);
        simgrid_run();
    }
    free(roles);
    free(run.empty);
    free(run.full);
    free(run.stored);
    free(run.moved);
    free(run.client);
    return ok;
}
