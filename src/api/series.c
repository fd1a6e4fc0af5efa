/* Declared variables (paper 000): all variables are announced before the first step, so that one movement fills
 * the windows across all of them.
 *
 * Declaring flattens every variable and plans once.  Registering a buffer is local.  Completing a step hands
 * the registered variables to the engine as the streams of one request.
 *
 * With sago_series_parts a step is several requests, each of neighbouring variables.  They are nonblocking
 * calls, which each rank starts in the order of the parts: a part starts as soon as this rank has a buffer for
 * each of its variables and the parts before have started.  So ranks may register their variables in any order,
 * and wait for each other only when a step is completed. */
#include <stdlib.h>
#include <string.h>

#include "api/array_blocks.h"
#include "api/handle.h"
#include "base/checked.h"
#include "engine/dispatch.h"
#include "extent/staging.h"

/* One declared variable. */
typedef struct variable {
    int64_t first, count; /* its streams in the declaration's request */
    int64_t bytes;
    sagoi_memory memory;    /* the registered buffer, relative to `anchor` */
    char *copy;             /* sago_series_copy: the variable's data, packed */
    sagoi_staging *staging; /* of a registered buffer on a device */
    bool registered;
    bool begun; /* the part with this variable has started */
} variable;

struct sago_series {
    sagoi_live live;
    sago_file *file;
    int64_t nvars;
    variable *vars;
    sagoi_view *views;       /* for each variable: the view that the request's extents point to */
    sagoi_composed declared; /* all variables, at displacement 0 */
    int64_t disp;
    int64_t registered;        /* variables that have a buffer in this step */
    sagoi_direction direction; /* of this step */
    int64_t bytes;             /* moved in the last step */
    int64_t nparts;            /* of a step */
    int64_t begun;             /* parts of this step that have started */
    sago_request *parts;       /* the requests of the parts; NULL: a step is one blocking call */
    struct sago_series *next;  /* of the file */
};

#define MOST_VARS (INT64_C(1) << 40) /* far below the count at which sizes in bytes overflow */

/* Stands for a buffer that is not known yet: memory is described relative to this address. */
static char anchor[1];

static sago_status check_series(const sago_series *series) {
    if (!series)
        return sagoi_fail(SAGO_ERR_HANDLE, "the series is NULL");
    if (!sagoi_live_has(&series->live))
        return sagoi_fail(SAGO_ERR_HANDLE, "the series was freed, or is no series of Sago's");
    return SAGO_OK;
}

static sago_status check_collective(const sago_series *series) {
    sago_status status = check_series(series);
    return status ? status : sagoi_check_collective(series->file);
}

static void drop_copies(sago_series *series) {
    for (int64_t i = 0; series->vars && i < series->nvars; i++) {
        sagoi_budget_free(&series->file->budget, series->vars[i].copy);
        sagoi_staging_destroy(series->vars[i].staging);
        series->vars[i].copy = NULL;
        series->vars[i].staging = NULL;
        series->vars[i].registered = series->vars[i].begun = false;
    }
    series->registered = series->begun = 0;
}

static void unlink_series(sago_series *series) {
    for (sago_series **at = &series->file->series; *at; at = &(*at)->next)
        if (*at == series) {
            *at = series->next;
            return;
        }
}

void sagoi_series_destroy(sago_series *series) {
    sagoi_budget *budget = &series->file->budget;
    unlink_series(series);
    drop_copies(series);
    sagoi_composed_cleanup(&series->declared);
    for (int64_t i = 0; series->views && i < series->nvars; i++)
        sagoi_view_cleanup(&series->views[i]);
    sagoi_budget_free(budget, series->views);
    sagoi_budget_free(budget, series->vars);
    sagoi_budget_free(budget, series->parts);
    sagoi_live_remove(&series->live);
    sagoi_budget_free(budget, series);
}

/* ---- Declaring ---- */

static sago_status check_var(const sago_var *var, int64_t i) {
    if (var->size != sizeof *var)
        return sagoi_fail(SAGO_ERR_ARG, "variable %lld: its size is wrong: start from SAGO_VAR_INIT",
                          (long long)i);
    if (var->offset < 0 || var->count < 0)
        return sagoi_fail(SAGO_ERR_ARG, "variable %lld has the negative %s %lld", (long long)i,
                          var->offset < 0 ? "offset" : "count",
                          (long long)(var->offset < 0 ? var->offset : var->count));
    return SAGO_OK;
}

/* The arguments of a call that declares either variables or arrays; the other pointer is NULL. */
typedef struct declaration {
    const sago_var *vars;
    const sago_array *arrays;
} declaration;

static sago_status compose_var(sago_series *series, int64_t i, const sago_var *var) {
    sago_status status = check_var(var, i);
    if (status)
        return status;
    MPI_Datatype filetype = var->filetype == MPI_DATATYPE_NULL ? MPI_BYTE : var->filetype;
    status = sagoi_view_make(var->offset, MPI_BYTE, filetype, &series->file->budget, &series->views[i]);
    if (status)
        return status;
    sagoi_view_place place = {.view = &series->views[i], .disp = var->offset};
    sagoi_buffer buffer = {anchor, var->count, var->type};
    return sagoi_compose_view(&series->declared, &place, &buffer);
}

static sago_status compose_array(sago_series *series, int64_t i, const sago_array *array) {
    if (array->size != sizeof *array)
        return sagoi_fail(SAGO_ERR_ARG, "array %lld: its size is wrong: start from SAGO_ARRAY_INIT", (long long)i);
    return sagoi_compose_array(&series->declared, array, anchor);
}

static sago_status declare_var(sago_series *series, int64_t i, const declaration *given) {
    sagoi_composed *declared = &series->declared;
    variable *mine = &series->vars[i];
    int64_t before = declared->bytes;
    mine->first = declared->request.nstreams;
    sago_status status =
        given->vars ? compose_var(series, i, &given->vars[i]) : compose_array(series, i, &given->arrays[i]);
    if (status)
        return status;
    mine->count = declared->request.nstreams - mine->first;
    mine->bytes = declared->bytes - before;
    if (mine->count > 0)
        mine->memory = declared->request.streams[mine->first].memory;
    return SAGO_OK;
}

static sago_status no_memory(int64_t nvars) {
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld variables", (long long)nvars);
}

static sago_status declare_all(sago_series *series, const declaration *given) {
    sagoi_budget *budget = &series->file->budget;
    series->vars = sagoi_budget_alloc(budget, series->nvars * (int64_t)sizeof *series->vars);
    series->views = sagoi_budget_alloc(budget, series->nvars * (int64_t)sizeof *series->views);
    if (series->nparts > 1)
        series->parts = sagoi_budget_alloc(budget, series->nparts * (int64_t)sizeof *series->parts);
    if (!series->vars || !series->views || (series->nparts > 1 && !series->parts))
        return no_memory(series->nvars);
    sago_status status = SAGO_OK;
    for (int64_t i = 0; i < series->nvars && !status; i++)
        status = declare_var(series, i, given);
    return status;
}

static sago_status declare(sago_file *file, int64_t nvars, const declaration *given, sago_series **declared) {
    sago_status status = SAGO_OK;
    sago_series *series = sagoi_budget_alloc(&file->budget, sizeof *series);
    if (series) {
        series->file = file;
        series->next = file->series;
        file->series = series;
        sagoi_composed_init(&series->declared, file->amode & MPI_MODE_RDONLY ? SAGOI_FROM_FILE : SAGOI_TO_FILE,
                            &file->budget);
    } else {
        status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a series");
    }
    if (!status && !declared)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the series: the last argument is NULL");
    if (!status && (nvars < 0 || (nvars > 0 && !given->vars && !given->arrays)))
        status = sagoi_fail(SAGO_ERR_ARG, "%lld variables%s", (long long)nvars,
                            nvars > 0 ? ", but the list is NULL" : "");
    if (!status && nvars > MOST_VARS)
        status = no_memory(nvars);
    if (!status) {
        series->nvars = nvars;
        series->nparts = sagoi_route_step_parts(&file->common, &file->hints, nvars);
        status = declare_all(series, given);
    }
    status = sagoi_engine_agree(file, status, SAGOI_MEETING_DECLARE, nvars);
    /* This computes rounds, aggregators and windows, once for all steps. */
    if (!status && !series->parts)
        status = sagoi_engine_prepare(file, &series->declared);
    if (status) {
        if (series)
            sagoi_series_destroy(series);
        return status;
    }
    sagoi_live_add(&series->live);
    *declared = series;
    return SAGO_OK;
}

sago_status sago_declare(sago_file *file, int64_t nvars, const sago_var vars[], sago_series **series) {
    sago_status status = sagoi_check_collective(file);
    if (status)
        return sagoi_done("sago_declare", NULL, status);
    return sagoi_done("sago_declare", file->path, declare(file, nvars, &(declaration){.vars = vars}, series));
}

sago_status sago_declare_arrays(sago_file *file, int64_t narrays, const sago_array arrays[],
                                sago_series **series) {
    sago_status status = sagoi_check_collective(file);
    if (status)
        return sagoi_done("sago_declare_arrays", NULL, status);
    status = declare(file, narrays, &(declaration){.arrays = arrays}, series);
    return sagoi_done("sago_declare_arrays", file->path, status);
}

/* ---- Registering ---- */

/* Packs a variable's data into a copy, so that the caller may change the buffer at once. */
static sago_status keep_copy(sago_series *series, variable *var, sagoi_memory *memory) {
    sagoi_budget *budget = &series->file->budget;
    if (!var->copy && !sagoi_budget_fits(budget, var->bytes))
        return sagoi_fail(SAGO_ERR_MEMORY,
                          "sago_series_copy: %lld bytes do not fit the memory budget (%lld of %lld used)",
                          (long long)var->bytes, (long long)budget->used, (long long)budget->limit);
    if (!var->copy)
        var->copy = sagoi_budget_alloc(budget, var->bytes);
    if (!var->copy)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to copy %lld bytes", (long long)var->bytes);
    sagoi_copy_stream(var->copy, 0, var->bytes, memory, SAGOI_TO_FILE);
    sago_status status = memory->staging ? sagoi_staging_finish(memory->staging) : SAGO_OK;
    *memory = (sagoi_memory){.base = var->copy};
    return status;
}

static sago_status register_checked(sago_series *series, int64_t index, char *buf, sagoi_direction direction) {
    if (index < 0 || index >= series->nvars)
        return sagoi_fail(SAGO_ERR_ARG, "variable %lld of %lld", (long long)index, (long long)series->nvars);
    sago_status status = sagoi_check_access(series->file, direction);
    if (status)
        return status;
    if (series->registered > 0 && series->direction != direction)
        return sagoi_fail(SAGO_ERR_STATE, "a step either writes or reads: complete it first");
    variable *var = &series->vars[index];
    if (var->begun)
        return sagoi_fail(SAGO_ERR_STATE, "variable %lld is on its way already: complete the step first",
                          (long long)index);
    if (!buf && var->bytes > 0)
        return sagoi_fail(SAGO_ERR_ARG, "the buffer of variable %lld is NULL", (long long)index);
    sagoi_memory memory = var->memory;
    if (var->bytes > 0) {
        memory.base = buf + (var->memory.base - anchor);
        sagoi_staging_destroy(var->staging); /* of the buffer that was registered before */
        status = sagoi_staging_add(&memory, var->bytes, &series->file->budget);
        var->staging = memory.staging;
    }
    if (!status && var->bytes > 0 && direction == SAGOI_TO_FILE && series->file->hints.series_copy)
        status = keep_copy(series, var, &memory);
    if (status)
        return status;
    for (int64_t i = 0; i < var->count; i++)
        series->declared.request.streams[var->first + i].memory = memory;
    series->direction = direction;
    series->registered += !var->registered;
    var->registered = true;
    return SAGO_OK;
}

/* ---- Parts of a step ---- */

/* Composes the request of this step, or of a part: the registered variables of [first, end), moved by the
 * displacement. */
static sago_status compose_step(const sago_series *series, int64_t first, int64_t end, sagoi_composed *step) {
    const sagoi_request *all = &series->declared.request;
    int64_t capacity = sagoi_max(1, all->nstreams);
    step->streams = sagoi_budget_alloc(step->budget, capacity * (int64_t)sizeof *step->streams);
    if (!step->streams)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a step of %lld streams", (long long)all->nstreams);
    step->streams_capacity = capacity;
    step->request.streams = step->streams;
    for (int64_t v = first; v < end; v++) {
        const variable *var = &series->vars[v];
        if (!var->registered)
            continue;
        step->bytes += var->bytes;
        for (int64_t i = var->first; i < var->first + var->count; i++) {
            sagoi_stream *stream = &step->streams[step->request.nstreams++];
            *stream = all->streams[i];
            stream->file.base += series->disp;
            step->runs += sagoi_extents_runs(&stream->file);
        }
    }
    sagoi_compose_bounds(step);
    return SAGO_OK;
}

static int64_t part_begin(const sago_series *series, int64_t part) {
    return series->nvars * part / series->nparts;
}

static bool is_given(const sago_series *series, int64_t part) {
    for (int64_t v = part_begin(series, part); v < part_begin(series, part + 1); v++)
        if (!series->vars[v].registered)
            return false;
    return true;
}

/* Starts the next part with those of its variables that have a buffer. */
static void start_part(sago_series *series) {
    int64_t part = series->begun++, first = part_begin(series, part), end = part_begin(series, part + 1);
    sago_request *request = &series->parts[part];
    bool held;
    sagoi_nonblocking_hold(series->file, &held);
    sagoi_nonblocking_init(request, series->file, "sago_series_complete",
                           series->registered ? series->direction : SAGOI_TO_FILE);
    request->composed.follows = series->registered == 0;
    sago_status status = compose_step(series, first, end, &request->composed);
    for (int64_t v = first; v < end; v++)
        series->vars[v].begun = true;
    sagoi_nonblocking_release(held);
    sagoi_dispatch_start_step(request, status);
}

static void start_given(sago_series *series) {
    while (series->parts && series->begun < series->nparts && is_given(series, series->begun))
        start_part(series);
    if (series->begun > 0)
        (void)sagoi_fibers_advance();
}

static sago_status register_buffer(sago_series *series, int64_t index, char *buf, sagoi_direction direction) {
    bool held;
    sagoi_nonblocking_hold(series->file, &held);
    sago_status status = register_checked(series, index, buf, direction);
    sagoi_nonblocking_release(held);
    if (!status)
        start_given(series);
    return status;
}

sago_status sago_series_write(sago_series *series, int64_t var, const void *buf) {
    sago_status status = check_series(series);
    if (!status)
        status = register_buffer(series, var, (char *)(uintptr_t)buf, SAGOI_TO_FILE);
    return sagoi_done("sago_series_write", NULL, status);
}

sago_status sago_series_read(sago_series *series, int64_t var, void *buf) {
    sago_status status = check_series(series);
    if (!status)
        status = register_buffer(series, var, buf, SAGOI_FROM_FILE);
    return sagoi_done("sago_series_read", NULL, status);
}

/* ---- Completing ---- */

/* All ranks have the same number of parts; a part may have no variables on some ranks. */
static sago_status complete_parts(sago_series *series) {
    sago_status status = SAGO_OK;
    while (series->begun < series->nparts)
        start_part(series);
    sagoi_nonblocking_finish(series->file);
    series->bytes = 0;
    for (int64_t p = 0; p < series->nparts; p++) {
        series->bytes += series->parts[p].bytes;
        if (status || !series->parts[p].status)
            continue;
        status = series->parts[p].status;
        sagoi_message_set(series->parts[p].message);
    }
    drop_copies(series);
    return status;
}

static sago_status complete(sago_series *series) {
    sagoi_composed step;
    sago_file *file = series->file;
    sagoi_composed_init(&step, series->registered ? series->direction : SAGOI_TO_FILE, &file->budget);
    step.follows = series->registered == 0;
    sago_status status = compose_step(series, 0, series->nvars, &step);
    status = sagoi_dispatch_step(file, &step, status, &series->bytes);
    sagoi_composed_cleanup(&step);
    drop_copies(series); /* the step is over, even if it failed */
    return status;
}

sago_status sago_series_complete(sago_series *series) {
    sago_status status = check_series(series);
    if (!status && series->parts)
        return sagoi_done("sago_series_complete", NULL, complete_parts(series));
    if (status)
        return sagoi_done("sago_series_complete", NULL, status);
    return sagoi_done("sago_series_complete", series->file->path, complete(series));
}

sago_status sago_series_bytes(sago_series *series, MPI_Count *bytes) {
    sago_status status = check_series(series);
    if (!status && !bytes)
        status = sagoi_fail(SAGO_ERR_ARG, "there is nowhere to put the bytes");
    if (!status)
        *bytes = series->bytes;
    return sagoi_done("sago_series_bytes", NULL, status);
}

sago_status sago_series_next(sago_series *series, MPI_Offset disp) {
    sago_status status = check_collective(series);
    if (status)
        return sagoi_done("sago_series_next", NULL, status);
    int64_t end;
    const sagoi_request *all = &series->declared.request;
    if (series->registered > 0)
        status = sagoi_fail(SAGO_ERR_STATE, "the step before has not been completed");
    else if (all->nstreams > 0 && sagoi_add(all->high, disp, &end))
        status = sagoi_fail(SAGO_ERR_OVERFLOW, "displacement %lld", (long long)disp);
    else if (all->nstreams > 0 && all->low + disp < 0)
        status = sagoi_fail(SAGO_ERR_ARG, "displacement %lld leads before the start of the file", (long long)disp);
    status = sagoi_engine_agree(series->file, status, SAGOI_MEETING_NEXT, disp);
    if (!status)
        series->disp = disp;
    return sagoi_done("sago_series_next", series->file->path, status);
}

sago_status sago_series_free(sago_series **series) {
    sago_status status = series ? check_collective(*series) : sagoi_fail(SAGO_ERR_HANDLE, "the pointer is NULL");
    if (status)
        return sagoi_done("sago_series_free", NULL, status);
    sago_file *file = (*series)->file;
    status = sagoi_engine_agree(file, SAGO_OK, SAGOI_MEETING_FREE, 0);
    /* Else other ranks are in another call, and the series stays. */
    if (!status || sagoi_beyond_agreeing(status)) {
        sagoi_series_destroy(*series);
        *series = NULL;
    }
    return sagoi_done("sago_series_free", file->path, status);
}
