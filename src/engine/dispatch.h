/* Carries routes out (plan/route.h): every access to a file comes through here, blocking or nonblocking,
 * collective, declared or independent, by view or by extents.  Whoever calls has checked the arguments. */
#ifndef SAGOI_DISPATCH_H
#define SAGOI_DISPATCH_H

#include "engine/engine.h"
#include "engine/nonblocking.h"

typedef struct sagoi_list {
    int64_t n;
    const sago_extent *extents;
    sagoi_scatter memory;
    const sagoi_block_place *block; /* of an array, instead of all these; NULL: none */
} sagoi_list;

/* What the caller wants, as it was given. */
typedef struct sagoi_access {
    const char *call; /* the public function's name */
    sagoi_call_type type;
    sagoi_direction direction;
    const sagoi_list *list; /* by extents; NULL: by view, */
    int64_t offset;         /* in etypes of the view */
    sagoi_buffer buffer;
} sagoi_access;

/* Of a file that has just been opened: the inputs of its routes. */
void sagoi_dispatch_init(sago_file *file);
/* All ranks have a new view; `gaps`: some rank's view has gaps. */
void sagoi_dispatch_view(sago_file *file, bool gaps);

/* A blocking call.  `wrong` is what the caller found wrong with the arguments, if anything: collective calls tell
 * it to all ranks.  *bytes: what this rank moved. */
sago_status sagoi_dispatch(sago_file *file, const sagoi_access *access, sago_status wrong, int64_t *bytes)
    SAGOI_CHECKED;

/* A step of declared variables, or a part of one, that is composed already. */
sago_status sagoi_dispatch_step(sago_file *file, sagoi_composed *step, sago_status wrong, int64_t *bytes)
    SAGOI_CHECKED;

/* A nonblocking call: composes the request and chooses its route; *wrong: what is wrong with its arguments.  Then
 * it is started, or done at once where starting takes longer than doing it. */
sago_status sagoi_dispatch_prepare(sago_file *file, const sagoi_access *access, sago_status *wrong,
                                   sago_request **request) SAGOI_CHECKED;
void sagoi_dispatch_start(sago_request *request, sago_status wrong);
/* The same of a part of a declared step, which is composed already. */
void sagoi_dispatch_start_step(sago_request *request, sago_status wrong);

/* When the turn of a nonblocking call has come: by nonblocking.c. */
sago_status sagoi_dispatch_started(sago_file *file, sago_request *request) SAGOI_CHECKED;

#endif
