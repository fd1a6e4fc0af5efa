/* Carries routes out (plan/route.h): every access to a file comes through here, blocking or nonblocking,
 * collective, declared or independent, by view or by extents.  Whoever calls has checked the arguments. */
#ifndef SAGOI_DISPATCH_H
#define SAGOI_DISPATCH_H

#include "engine/engine.h"
#include "engine/nonblocking.h"

/* The arguments of a call by extents. */
typedef struct sagoi_list {
    int64_t n;
    const sago_extent *extents;
    sagoi_scatter memory;
    const sagoi_block_place *block; /* A block of an array takes the place of all the fields above; NULL: none. */
} sagoi_list;

/* The arguments of a public function. */
typedef struct sagoi_access {
    const char *call; /* the public function's name */
    sagoi_call_type type;
    sagoi_direction direction;
    const sagoi_list *list; /* what a call by extents wants; NULL: the call is by view */
    int64_t offset;         /* etypes of the view before the first one accessed */
    sagoi_buffer buffer;
} sagoi_access;

/* Sets the inputs of the routes of a file that has just been opened. */
void sagoi_dispatch_init(sago_file *file);
/* Tells the file's routes that all ranks have a new view; `gaps`: some rank's view has gaps. */
void sagoi_dispatch_view(sago_file *file, bool gaps);

/* Serves a blocking call.  `wrong` is what the caller found wrong with the arguments, if anything: a collective
 * call tells that status to all ranks.  *bytes: what this rank moved. */
sago_status sagoi_dispatch(sago_file *file, const sagoi_access *access, sago_status wrong, int64_t *bytes)
    SAGOI_CHECKED;

/* Serves a step of declared variables, or a part of a step, whose request is composed already. */
sago_status sagoi_dispatch_step(sago_file *file, sagoi_composed *step, sago_status wrong, int64_t *bytes)
    SAGOI_CHECKED;

/* Composes the request of a nonblocking call and chooses the request's route; *wrong: what is wrong with the
 * arguments. */
sago_status sagoi_dispatch_prepare(sago_file *file, const sagoi_access *access, sago_status *wrong,
                                   sago_request **request) SAGOI_CHECKED;
/* Starts a prepared request, or serves the request at once where starting takes longer than serving. */
void sagoi_dispatch_start(sago_request *request, sago_status wrong);
/* Starts a part of a declared step, whose request is composed already. */
void sagoi_dispatch_start_step(sago_request *request, sago_status wrong);

/* Serves a nonblocking call; called by nonblocking.c when the calls that were started before are done. */
sago_status sagoi_dispatch_started(sago_file *file, sago_request *request) SAGOI_CHECKED;

#endif
