/* Chooses which thread makes a system call, one that can be left behind or the caller's, and whose memory the call
 * uses. */
#include "system/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that a call needs and gives; the memory belongs to the call. */
typedef struct file_call {
    sagoi_errand errand;
    sagoi_file_op op; /* the call; paths, and the answer to a look, are in the fields below */
    char path[SAGOI_CKPT_PATH], to[SAGOI_CKPT_PATH];
    sagoi_call_result result;
} file_call;

static sago_status run(sagoi_errand *errand) {
    file_call *call = (file_call *)errand;
    call->result.value = sagoi_syscall(&call->op);
    call->result.error = call->result.value < 0 ? errno : 0;
    call->result.names = call->op.names;
    return SAGO_OK;
}

/* Called when a call comes back for which no thread waits any more. */
static void forgotten(sagoi_errand *errand) {
    const file_call *call = (const file_call *)errand;
    bool opened = call->op.kind == SAGOI_OP_OPEN || call->op.kind == SAGOI_OP_CREATE;
    if (opened && !call->result.error)
        (void)sagoi_syscall(
            &(sagoi_file_op){.kind = SAGOI_OP_CLOSE, .path = call->path, .fd = (int)call->result.value});
    free(call->result.names);
}

static const char *const deeds[] = {
    [SAGOI_OP_OPEN] = "opening",
    [SAGOI_OP_CREATE] = "opening",
    [SAGOI_OP_WRITE] = "writing to",
    [SAGOI_OP_READ] = "reading from",
    [SAGOI_OP_SYNC] = "syncing",
    [SAGOI_OP_MKDIR] = "making the directory",
    [SAGOI_OP_SYNC_DIR] = "syncing the directory",
    [SAGOI_OP_RMDIR] = "removing the directory",
    [SAGOI_OP_RENAME] = "renaming",
    [SAGOI_OP_UNLINK] = "removing",
    [SAGOI_OP_LINK] = "linking",
    [SAGOI_OP_TRUNCATE] = "changing the size of",
    [SAGOI_OP_ALLOCATE] = "allocating space for",
    [SAGOI_OP_CLOSE] = "closing",
    [SAGOI_OP_FSTAT] = "asking for the size of",
    [SAGOI_OP_STAT] = "looking at",
    [SAGOI_OP_ACCESS] = "looking at",
    [SAGOI_OP_STATFS] = "asking for the free space of",
    [SAGOI_OP_LIST] = "listing the directory",
    [SAGOI_OP_RESOLVE] = "following the links of",
};

static void fill(file_call *call, const sagoi_file_op *op) {
    call->errand = (sagoi_errand){.run = run, .forgotten = forgotten, .what = deeds[op->kind]};
    (void)snprintf(call->path, sizeof call->path, "%s", op->path);
    (void)snprintf(call->to, sizeof call->to, "%s", op->to ? op->to : "");
    call->errand.path = call->path;
    call->op = *op;
    call->op.path = call->path;
    call->op.to = op->to ? call->to : NULL;
    call->op.info = &call->result.info;
    call->result = (sagoi_call_result){0};
}

/* A write may use memory that stays where it is; every other call uses memory of the runner. */
static sago_status lend_memory(file_call *call, const sagoi_call_wish *wish, sagoi_runner *runner) {
    const sagoi_file_op *op = &wish->op;
    if (op->data && wish->stays) {
        call->errand.lent = op->data;
        call->errand.lent_bytes = op->len;
        return SAGO_OK;
    }
    char *memory = sagoi_runner_buffer(runner, op->len);
    if (!memory)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %s %s", deeds[op->kind], op->path);
    if (op->data)
        call->op.data = memcpy(memory, op->data, (size_t)op->len);
    else
        call->op.into = memory;
    return SAGO_OK;
}

static sago_status call_by(sagoi_runner *runner, const sagoi_call_wish *wish, sagoi_call_result *result) {
    file_call *call = sagoi_runner_room(runner);
    const sagoi_file_op *op = &wish->op;
    bool gone = false;
    fill(call, op);
    sago_status status = op->data || op->into ? lend_memory(call, wish, runner) : SAGO_OK;
    if (!status)
        status = sagoi_runner_go(runner, &gone);
    result->gone = gone;
    if (gone)
        return status;
    *result = call->result;
    if (!status && op->into && result->value > 0)
        memcpy(op->into, call->op.into, (size_t)result->value);
    sagoi_runner_give(runner);
    return status;
}

sago_status sagoi_call(const sagoi_call_wish *wish, sagoi_call_result *result) {
    _Static_assert(sizeof(file_call) <= SAGOI_ERRAND_ROOM, "a call fits into the room of an errand");
    sagoi_runner *runner = NULL;
    *result = (sagoi_call_result){0};
    sago_status status = sagoi_runner_take(wish->watched ? wish->watched : wish->op.path, &runner);
    if (status || runner)
        return status ? status : call_by(runner, wish, result);
    file_call call;
    fill(&call, &wish->op);
    status = run(&call.errand);
    *result = call.result;
    return status;
}
