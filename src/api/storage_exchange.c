/* Producers and consumers (003, section 3): a block that one rank leaves for another goes through local storage
 * that both ranks see, or else through a directory that all ranks see. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <sago/sago.h>

#include "api/handle.h"
#include "base/checked.h"
#include "move/calls.h"
#include "move/collect.h"
#include "move/leaders.h"
#include "neighbourhood/handover.h"
#include "trace/stats.h"

/* The pause between two looks for a block doubles each time, from the first number of microseconds to the
 * second. */
enum { NAP_LEAST_US = 100, NAP_MOST_US = 10000 };

struct sago_exchange {
    sagoi_live live;
    sagoi_team *team;
    MPI_Comm near; /* ranks that share the local directory with this one; MPI_COMM_NULL: no rank does */
    int near_rank;
    char global[SAGOI_HANDOVER_PATH], local[SAGOI_HANDOVER_PATH]; /* the folders */
    bool made_global, made_local; /* this rank has made the folder, and removes it */
};

static sago_status check_exchange(const sago_exchange *exchange) {
    if (!exchange || !sagoi_live_has(&exchange->live))
        return sagoi_fail(SAGO_ERR_HANDLE, "the exchange is %s", exchange ? "closed, or none of Sago's" : "NULL");
    return SAGO_OK;
}

/* ---- Opening and closing ---- */

/* Finds the ranks that share local storage with this one, if there is any. */
static sago_status find_near(sago_exchange *exchange, MPI_Comm comm, const char *named,
                             char dir[SAGOI_HANDOVER_PATH]) {
    sagoi_team *team = exchange->team;
    int64_t here = named != NULL, anywhere = 0;
    sagoi_agreement agreed = {.max = {here}};
    sago_status status = sagoi_agree(team, &agreed, NULL, NULL, NULL);
    anywhere = agreed.max[0];
    dir[0] = '\0';
    if (!status && anywhere)
        (void)snprintf(dir, SAGOI_HANDOVER_PATH, "%s", named ? named : "");
    else if (!status)
        status = sagoi_default_local_dir(team, dir, SAGOI_HANDOVER_PATH);
    if (status || (!anywhere && !dir[0]))
        return status;
    status = sago_comm_split_storage(comm, dir, SAGO_STORAGE_AUTO, 0, &exchange->near);
    if (!status && !SAGOI_DONE(MPI_Comm_rank(exchange->near, &exchange->near_rank)))
        status = sagoi_break(team, sagoi_fail(SAGO_ERR_MPI, "MPI_Comm_rank failed"));
    return status;
}

/* Makes the folders: rank 0 the global one, and the first rank of each neighbourhood its local one. */
static sago_status make_folders(sago_exchange *exchange, const char *global, const char *local) {
    uint64_t token[2] = {0, 0};
    sago_status status = SAGO_OK;
    if (exchange->team->rank == 0 && getrandom(token, sizeof token, 0) != (ssize_t)sizeof token)
        status = sagoi_fail(SAGO_ERR_IO, "no random numbers for the name of an exchange");
    status = sagoi_agree_status(exchange->team, status);
    if (!status)
        status = sagoi_bcast(exchange->team, exchange->team->own, token, sizeof token);
    if (!status)
        status = sagoi_handover_folder(global, token, exchange->global);
    if (!status && exchange->near != MPI_COMM_NULL)
        status = sagoi_handover_folder(local, token, exchange->local);
    if (!status && exchange->team->rank == 0) {
        status = sagoi_handover_make(exchange->global);
        exchange->made_global = !status;
    }
    if (!status && exchange->near != MPI_COMM_NULL && exchange->near_rank == 0) {
        status = sagoi_handover_make(exchange->local);
        exchange->made_local = !status && strcmp(exchange->local, exchange->global) != 0;
        if (status == SAGO_ERR_EXISTS) { /* the local directory is the global one, perhaps by another name */
            sagoi_message_clear();
            status = SAGO_OK;
        }
    }
    return sagoi_agree_status(exchange->team, status);
}

/* Frees an exchange; nothing but freeing a communicator is collective. */
static sago_status exchange_destroy(sago_exchange *exchange) {
    sago_status status = exchange->made_local ? sagoi_handover_remove(exchange->local) : SAGO_OK;
    if (exchange->made_global) {
        sago_status removed = sagoi_handover_remove(exchange->global);
        status = status ? status : removed;
    }
    sagoi_free_comm(exchange->team, &exchange->near);
    sagoi_team_release(exchange->team);
    sagoi_live_remove(&exchange->live);
    free(exchange);
    return status;
}

static sago_status open_exchange(MPI_Comm comm, const char *global, const char *local, sago_exchange **opened) {
    sagoi_team *team = NULL;
    void *handle = NULL;
    char dir[SAGOI_HANDOVER_PATH];
    sago_status status = sagoi_handle_create(comm, sizeof(sago_exchange), &team, &handle);
    if (status)
        return status;
    sago_exchange *exchange = handle;
    exchange->team = team;
    exchange->near = MPI_COMM_NULL;
    if (!global || !*global || !opened)
        status = sagoi_fail(SAGO_ERR_ARG, "there is no directory that all see, or nowhere to put the exchange");
    status = sagoi_agree_status(team, status);
    if (!status)
        status = sagoi_team_need_own(team);
    if (!status)
        status = find_near(exchange, comm, local, dir);
    if (!status)
        status = make_folders(exchange, global, dir);
    if (status) {
        char why[SAGOI_MESSAGE_MAX];
        sagoi_message_keep(why);
        (void)exchange_destroy(exchange);
        sagoi_message_set(why);
        return status;
    }
    sagoi_live_add(&exchange->live);
    *opened = exchange;
    return SAGO_OK;
}

sago_status sago_exchange_open(MPI_Comm comm, const char *global, const char *local, sago_exchange **exchange) {
    sago_status status = sagoi_check_library();
    if (!status)
        status = sagoi_check_comm(comm);
    if (!status)
        status = open_exchange(comm, global, local, exchange);
    return sagoi_done("sago_exchange_open", global, status);
}

sago_status sago_exchange_close(sago_exchange **exchange) {
    sago_status status =
        exchange ? check_exchange(*exchange) : sagoi_fail(SAGO_ERR_HANDLE, "the pointer to the exchange is NULL");
    if (status)
        return sagoi_done("sago_exchange_close", NULL, status);
    sago_exchange *closing = *exchange;
    *exchange = NULL;
    sago_status met = sagoi_agree_status(closing->team, SAGO_OK); /* after this meeting no rank fetches any more */
    status = exchange_destroy(closing);
    return sagoi_done("sago_exchange_close", NULL, met ? met : status);
}

/* ---- Blocks ---- */

static sago_status check_ranks(const sago_exchange *exchange, int one, int other) {
    sago_status status = check_exchange(exchange);
    if (!status && (one < 0 || other < 0 || one >= exchange->team->size || other >= exchange->team->size))
        status = sagoi_fail(SAGO_ERR_ARG, "there are ranks 0 to %d only", exchange->team->size - 1);
    return status;
}

static sago_status ask_local(const sago_exchange *exchange, int one, int other, int *local) {
    *local = 0;
    return exchange->near == MPI_COMM_NULL ? SAGO_OK : sago_storage_shared(exchange->near, one, other, local);
}

sago_status sago_exchange_is_local(const sago_exchange *exchange, int one_rank, int other_rank, int *local) {
    sago_status status = check_ranks(exchange, one_rank, other_rank);
    if (!status && !local)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the answer");
    if (!status)
        status = ask_local(exchange, one_rank, other_rank, local);
    return sagoi_done("sago_exchange_is_local", NULL, status);
}

static sago_status check_block(const sago_exchange *exchange, const sagoi_parcel *parcel, const void *data,
                               int64_t bytes) {
    sago_status status = check_ranks(exchange, parcel->from, parcel->to);
    if (!status)
        status = sagoi_parcel_check(parcel);
    if (!status && (bytes < 0 || (bytes > 0 && !data)))
        status = sagoi_fail(SAGO_ERR_ARG, "%lld bytes at %s", (long long)bytes, data ? "some place" : "NULL");
    if (!status && bytes > 0 && sago_is_device_memory(data))
        status = sagoi_fail(SAGO_ERR_UNSUPPORTED, "the block is in a device's memory");
    return status;
}

sago_status sago_exchange_put(sago_exchange *exchange, int consumer, const char *name, const void *data,
                              int64_t bytes) {
    sagoi_parcel parcel = {.to = consumer, .name = name};
    int local = 0;
    if (exchange && sagoi_live_has(&exchange->live))
        parcel.from = exchange->team->rank;
    sago_status status = check_block(exchange, &parcel, data, bytes);
    if (!status)
        status = ask_local(exchange, parcel.from, consumer, &local);
    if (!status)
        status = sagoi_parcel_put(local ? exchange->local : exchange->global, &parcel, data, bytes);
    /* The local storage is full, and the consumer looks in both places. */
    if (status == SAGO_ERR_NO_SPACE && local) {
        sagoi_message_clear();
        status = sagoi_parcel_put(exchange->global, &parcel, data, bytes);
    }
    return sagoi_done("sago_exchange_put", NULL, status);
}

static sago_status look(const sago_exchange *exchange, const sagoi_parcel *parcel, bool local, void *data,
                        int64_t capacity, int64_t *bytes) {
    sago_status status = SAGO_ERR_NO_FILE;
    if (local)
        status = sagoi_parcel_get(exchange->local, parcel, data, capacity, bytes);
    if (status == SAGO_ERR_NO_FILE)
        status = sagoi_parcel_get(exchange->global, parcel, data, capacity, bytes);
    return status;
}

/* Looks for the block again and again, ever less often; between two looks MPI makes progress on what the program
 * has under way. */
static sago_status fetch(sago_exchange *exchange, const sagoi_parcel *parcel, void *data, int64_t capacity,
                         double seconds, int64_t *bytes) {
    int local = 0;
    double begin = sagoi_now();
    sago_status status = ask_local(exchange, parcel->from, parcel->to, &local);
    for (long nap = NAP_LEAST_US; !status; nap = sagoi_min(2 * nap, NAP_MOST_US)) {
        status = look(exchange, parcel, local, data, capacity, bytes);
        if (status != SAGO_ERR_NO_FILE || (seconds >= 0 && sagoi_now() - begin >= seconds))
            return status;
        sagoi_message_clear();
        status = SAGO_OK;
        sagoi_poke(exchange->team);
        (void)nanosleep(&(struct timespec){.tv_nsec = nap * 1000}, NULL);
    }
    return status;
}

sago_status sago_exchange_get(sago_exchange *exchange, int producer, const char *name, void *data,
                              int64_t capacity, double seconds, int64_t *bytes) {
    sagoi_parcel parcel = {.from = producer, .name = name};
    int64_t got = 0;
    if (exchange && sagoi_live_has(&exchange->live))
        parcel.to = exchange->team->rank;
    sago_status status = check_block(exchange, &parcel, data, capacity);
    if (!status)
        status = fetch(exchange, &parcel, data, capacity, seconds, &got);
    if (bytes)
        *bytes = got;
    return sagoi_done("sago_exchange_get", NULL, status);
}
